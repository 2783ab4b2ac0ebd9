"""Real kernel traffic through both ends, real namespaces, real devices; and what the logs say of it."""

import os
import random
import sys
import time
from pathlib import Path

import pytest
from ccgym.envs.host.two_hosts import TwoHosts
from ccgym.tests.deploy.endpoint_programs import RECEIVER, SENDER
from ccgym.tests.processes import descendants, wait_until
from ccgym.tunnel.session import LocalTunnel, parse_device

from .tunnel_ends import namespace_of, needs_tunnels, processes_in, read_log

pytestmark = needs_tunnels
ENDS_S = 30.0
TALK = Path(__file__).with_name("talk.py")
TAKE, GIVE = f"{sys.executable} {TALK} take", f"{sys.executable} {TALK} give"


@pytest.mark.parametrize(
    ("authenticated", "options"), [(True, []), (False, []), (True, ["--offload"]), (False, ["--offload"])]
)
def test_kernel_tcp_flows_and_every_packet_is_logged(
    authenticated: bool, options: list[str], tmp_path: Path
) -> None:
    tried = "iperf3 -c $CCGYM_TUNNEL_PEER -t 1 -J > tcp.json; grep -q sum_received tcp.json"
    client = ["sh", "-c", f"until {tried}; do sleep 0.1; done"]  # with -J a refusal is no failure
    begin_ms = 1e3 * time.time()
    with (
        TwoHosts() as hosts,
        LocalTunnel(
            tmp_path,
            ["iperf3", "-s"],
            client,
            authenticated=authenticated,
            server=hosts.RECEIVER_IP,
            server_prefix=hosts.receiver,
            client_prefix=hosts.sender,
            options=options,
        ) as tunnel,
    ):
        assert tunnel.client.process.wait(ENDS_S) == 0
        tunnel.server.process.stop()
    end_ms = 1e3 * time.time()
    assert "sum_received" in (tmp_path / "tcp.json").read_text()
    for sender, receiver in ((tunnel.client, tunnel.server), (tunnel.server, tunnel.client)):
        sent_at_0_ms, sent = read_log(sender.logs.egress)
        received_at_0_ms, received = read_log(receiver.logs.ingress)
        assert all(begin_ms <= at_0_ms <= end_ms for at_0_ms in (sent_at_0_ms, received_at_0_ms))
        sizes = {line.uid: line.size for line in sent}
        arrived = {line.uid for line in received}
        assert len(sent) > 100
        assert len(sizes) == len(sent)
        assert len(received) > 0.9 * len(sent)
        assert all(sizes[line.uid] == line.size for line in received)
        assert max(sizes.values()) <= 1500
        assert [line.uid for line in received] == [line.uid for line in sent if line.uid in arrived]
        for log in (sent, received):
            assert [line.time_ms for line in log] == sorted(line.time_ms for line in log)
    assert max(line.size for line in read_log(tunnel.client.logs.egress)[1]) == 1500  # 1464 inside


def test_either_end_may_be_the_sender_and_full_datagrams_fit(tmp_path: Path) -> None:
    sender = f"sleep 0.2; {SENDER} $CCGYM_TUNNEL_PEER 5001 --scheme fixed:20 --seconds 0.5 --stats stats.json"
    with LocalTunnel(tmp_path, ["sh", "-c", sender], [RECEIVER, "5001"]) as tunnel:
        assert tunnel.server.process.wait(ENDS_S) == 0
    sizes = [line.size for line in read_log(tunnel.client.logs.ingress)[1]]
    assert sizes.count(1500) > 100  # 1436 bytes of payload, as in the compatible protocol
    assert '"acked_packets"' in (tmp_path / "stats.json").read_text()


def test_offloaded_tcp_and_udp_arrive_unharmed(tmp_path: Path) -> None:
    sent = random.Random(1).randbytes(3_000_000)
    (tmp_path / "sent").write_bytes(sent)
    receive = ["sh", "-c", f"{TAKE} tcp >by-tcp & {TAKE} udp >by-udp; wait"]
    send = ["sh", "-c", f"sleep 0.5; until {GIVE} tcp <sent; do sleep 0.1; done; {GIVE} udp <sent"]
    with LocalTunnel(tmp_path, receive, send, options=["--offload"]) as tunnel:
        assert tunnel.client.process.wait(ENDS_S) == 0, tunnel.client.stderr_lines()
        assert tunnel.server.process.wait(ENDS_S) == 0
    assert (tmp_path / "by-tcp").read_bytes() == sent
    assert (tmp_path / "by-udp").read_bytes() == sent[:1000]
    assert " 0 malformed, 0 oversized, 0 undeliverable" in tunnel.server.stderr_lines()[-1]


RAISE_MTU = """
import os, socket, subprocess
subprocess.run(["ip", "link", "set", "tunnel", "mtu", "9000"], check=True)
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for size in [8972] * 20 + [500]:
    udp.sendto(bytes(size), (os.environ["CCGYM_TUNNEL_PEER"], 5001))
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may change a device's MTU")
@pytest.mark.parametrize("options", [[], ["--offload"]])
def test_packets_beyond_the_mtu_are_dropped_and_counted(options: list[str], tmp_path: Path) -> None:
    command = ["sh", "-c", f"{sys.executable} -c '{RAISE_MTU}'; sleep 0.5"]
    with LocalTunnel(tmp_path, ["sleep", "60"], command, options=options) as tunnel:
        assert tunnel.client.process.wait(ENDS_S) == 0, tunnel.client.stderr_lines()
        assert tunnel.server.process.wait(ENDS_S) == 0
    assert " 20 oversized," in tunnel.client.stderr_lines()[-1]
    sizes = [line.size for line in read_log(tunnel.server.logs.ingress)[1]]
    assert max(sizes) < 1000


@pytest.mark.parametrize(("options", "kinds"), [([], {"io_uring", "plain"}), (["--offload"], {"offload"})])
def test_each_end_says_how_it_moves_packets(options: list[str], kinds: set[str], tmp_path: Path) -> None:
    with LocalTunnel(tmp_path, ["sleep", "60"], ["true"], options=options) as tunnel:
        kind = parse_device(tunnel.client.await_line(0))
        assert kind in kinds
        assert parse_device(tunnel.server.await_line(1)) == kind
        assert tunnel.client.process.wait(ENDS_S) == 0
    assert tunnel.client.stderr_lines()[-1].endswith(f"; device {kind}")


def test_the_exit_code_is_the_commands(tmp_path: Path) -> None:
    with LocalTunnel(tmp_path, ["sleep", "60"], ["sh", "-c", "exit 7"]) as tunnel:
        assert tunnel.client.process.wait(ENDS_S) == 7
        assert tunnel.server.process.wait(ENDS_S) == 0
    assert "ended by the other end: 0 packets sent, 0 received" in tunnel.server.stderr_lines()[-1]
    assert "the command ended with code 7" in tunnel.client.stderr_lines()[-1]


def test_what_is_made_is_gone_afterwards(tmp_path: Path) -> None:
    with LocalTunnel(tmp_path, ["sleep", "60"], ["sh", "-c", "sleep 60 & exec sleep 60"]) as tunnel:
        ends = (tunnel.server.process.pid, tunnel.client.process.pid)
        wait_until(lambda: len(descendants(ends[1])) == 3, "starting the command")
        namespaces = [namespace_of(end) for end in ends]
        assert len({namespace_of(os.getpid()), *namespaces}) == 3
        assert all(namespace_of(child) == namespaces[1] for child in descendants(ends[1]))
    assert [processes_in(namespace) for namespace in namespaces] == [[], []]


def test_the_packets_path_keeps_no_rights(tmp_path: Path) -> None:
    with LocalTunnel(tmp_path, ["sleep", "60"], ["sleep", "60"]) as tunnel:
        status = Path(f"/proc/{tunnel.server.process.pid}/status").read_text()
    fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    assert fields["CapEff"] == fields["CapPrm"] == fields["CapInh"] == fields["CapAmb"] == "0" * 16
    assert fields["NoNewPrivs"] == "1"
    assert "0" not in fields["Uid"].split()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become somebody else")
def test_a_user_without_rights_has_tunnels_too(open_folder: Path) -> None:
    os.chown(open_folder, 65534, 65534)
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    command = ["sh", "-c", "id -u; until iperf3 -c $CCGYM_TUNNEL_PEER -n 1M; do sleep 0.1; done"]
    with LocalTunnel(
        open_folder,
        ["iperf3", "-s"],
        command,
        authenticated=False,
        server_prefix=nobody,
        client_prefix=nobody,
    ) as tunnel:
        assert tunnel.client.process.wait(ENDS_S) == 0, tunnel.client.stderr_lines()
    assert "65534" in tunnel.client.stdout_lines()
    assert tunnel.client.logs.egress.stat().st_uid == 65534


def test_it_stands_in_for_the_other_implementation(tmp_path: Path) -> None:
    with LocalTunnel(
        tmp_path, ["sleep", "60"], ["sh", "-c", "echo $MAHIMAHI_BASE"], authenticated=False
    ) as tunnel:
        tunnel.client.process.wait(ENDS_S)
        port, server = tunnel.listening.port, tunnel.listening.server_address
        client = tunnel.listening.client_address
        assert tunnel.server.stdout_lines() == [
            f"mm-tunnelclient localhost {port} {client} {server}",
            "Tunnelserver got connection from tunnelclient",
        ]
    assert tunnel.client.stdout_lines() == [
        "Tunnelclient got connection from tunnelserver at 127.0.0.1",
        server,
    ]
