"""Garbage, copies, foreign and reordered datagrams thrown at both ends."""

import json
import random
import signal
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ccgym.tests.processes import wait_until

from . import wire_format as wire
from .endpoint_programs import SENDER, free_port, receiver, run_sender, running

FLOW = 0x1122334455667788
UDP_SEGMENT = 103
"""Of linux/udp.h: what is sent at once is cut into datagrams of so many bytes."""


@contextmanager
def peer(address: tuple[str, int] | None = None) -> Iterator[socket.socket]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.settimeout(5)
        if address is not None:
            sock.connect(address)
        yield sock


def garbage(seed: int) -> list[bytes]:
    """Every length around those of the datagrams, right heads before wrong bodies, and noise."""
    rng = random.Random(seed)
    whole = [wire.hello(FLOW), wire.ack(FLOW, 1, 2, 3), wire.data(FLOW, 1)]
    cut = [datagram[:size] for datagram in whole for size in range(0, len(datagram), 7)]
    longer = [datagram + b"x" for datagram in whole]
    other_version = [datagram[:4] + b"\x01" + datagram[5:] for datagram in whole]
    noise = [rng.randbytes(rng.randrange(1, 3000)) for _ in range(200)]
    short_cut = [datagram for datagram in cut if len(datagram) not in (30, 38, wire.DATA_BYTES)]
    return [*short_cut, *longer, *other_version, *noise]


def cookie_for(sock: socket.socket, flow: int) -> int:
    sock.send(wire.hello(flow))
    return wire.cookie_of(sock.recv(100))


def begin_flow(sock: socket.socket, flow: int) -> None:
    sock.send(wire.hello(flow, cookie_for(sock, flow)))
    assert wire.kind_and_flow(sock.recv(100)) == (wire.HELLO_REPLY, flow)


def waiting_bytes(port: int) -> int:
    """Of the datagrams that the socket at the port holds."""
    lines = [
        line.split()
        for table in ("udp", "udp6")
        for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:]
    ]
    return sum(int(line[4].split(":")[1], 16) for line in lines if line[1].endswith(f":{port:04X}"))


def test_the_receiver_acknowledges_each_packet_once_and_nothing_else() -> None:
    port = free_port()
    with (
        receiver(port) as listening,
        peer(("127.0.0.1", port)) as sender,
        peer(("127.0.0.1", port)) as stranger,
    ):
        begin_flow(sender, FLOW)
        sender.send(wire.data(FLOW, 7))  # a flow with data keeps its place
        assert wire.parse_ack(sender.recv(100)).seq == 7
        stranger.send(wire.hello(FLOW + 1, cookie_for(stranger, FLOW + 1)))
        stranger.send(wire.control(wire.BYE, FLOW + 1))
        stranger.send(wire.control(wire.BYE, FLOW))
        stranger.send(wire.data(FLOW + 1, 0))
        for junk in garbage(seed=1):
            sender.send(junk)
            stranger.send(junk)
        seqs = [3, 0, 2, 0, 3, 1, 1000, 1]
        for seq in seqs:
            sender.send(wire.data(FLOW, seq))
        acks = [wire.parse_ack(sender.recv(100)) for _ in range(5)]
        assert [ack.seq for ack in acks] == [3, 0, 2, 1, 1000]
        assert [ack.received_packets for ack in acks] == [2, 3, 4, 5, 6]
        assert all(ack.flow == FLOW for ack in acks)
        times = [ack.received_at_ns for ack in acks]
        assert times == sorted(times)
        sender.send(wire.control(wire.BYE, FLOW))
        assert wire.kind_and_flow(sender.recv(100)) == (wire.BYE_REPLY, FLOW)
        stranger.settimeout(0.2)
        assert silent(stranger)
        assert listening.poll() is None


def silent(sock: socket.socket) -> bool:
    try:
        sock.recv(100)
    except (TimeoutError, ConnectionRefusedError):
        return True
    return False


def test_the_receiver_answers_from_the_address_it_was_called_at() -> None:
    port = free_port()
    with receiver(port), peer(("127.0.0.2", port)) as sender:  # connected: hears 127.0.0.2 only
        begin_flow(sender, FLOW)


def test_a_stranger_neither_ends_nor_delays_a_run_of_the_sender() -> None:
    port = free_port()
    with receiver(port, "--once") as listening, peer(("127.0.0.1", port)) as stranger:
        begin_flow(stranger, FLOW + 1)
        stranger.send(wire.control(wire.BYE, FLOW + 1))
        assert wire.kind_and_flow(stranger.recv(100)) == (wire.BYE_REPLY, FLOW + 1)
        assert listening.poll() is None
        begin_flow(stranger, FLOW + 2)  # and says no more
        assert run_sender("127.0.0.1", str(port), "--scheme", "fixed:4", "--seconds", "0.3").returncode == 0
        assert listening.wait(timeout=10) == 0


def test_with_a_secret_only_who_knows_it_is_served(tmp_path: Path) -> None:
    port = free_port()
    secret, other = tmp_path / "secret", tmp_path / "other"
    for file, text in ((secret, "s" * 40), (other, "t" * 40)):
        file.write_text(text)
        file.chmod(0o600)
    record = ["127.0.0.1", str(port), "--scheme", "fixed:4", "--seconds", "0.3"]
    with receiver(port, "--once", "--secret", str(secret)) as listening:
        refused = run_sender(*record, "--secret", str(other))
        assert refused.returncode == 1
        assert "takes no flow of ours: it has another, or a --secret that is not ours" in refused.stderr
        assert run_sender(*record, "--secret", str(secret)).returncode == 0
        assert listening.wait(timeout=10) == 0
    secret.chmod(0o644)
    shown = run_sender(*record, "--secret", str(secret))
    assert shown.returncode == 2
    assert "others may use it; mend it: chmod 600" in shown.stderr


def test_a_bound_receiver_listens_at_its_address_only() -> None:
    port = free_port()
    with receiver(port, "--bind", "127.0.0.3"), peer(("127.0.0.3", port)) as right:
        begin_flow(right, FLOW)
        with peer(("127.0.0.1", port)) as wrong:
            wrong.send(wire.hello(FLOW))
            wrong.settimeout(0.3)
            assert silent(wrong)


def test_the_receivers_clock_shows_when_packets_came_not_when_they_were_read() -> None:
    port = free_port()
    with receiver(port) as listening, peer(("127.0.0.1", port)) as sender:
        begin_flow(sender, FLOW)
        listening.send_signal(signal.SIGSTOP)
        sent_at = []
        for seq in range(5):
            sent_at.append(time.monotonic_ns())
            sender.send(wire.data(FLOW, seq))
            time.sleep(0.02)
        continued_at = time.monotonic_ns()
        listening.send_signal(signal.SIGCONT)
        received_at = [wire.parse_ack(sender.recv(100)).received_at_ns for _ in range(5)]
    assert all(sent <= received for sent, received in zip(sent_at, received_at, strict=True))  # one clock
    assert received_at[-1] < continued_at


def test_datagram_trains_longer_than_ours_are_treated_as_a_flood() -> None:
    """Linux takes 128 datagrams at once since 6.9, and hands them over so on the same machine."""
    port = free_port()
    hellos = wire.hello(FLOW - 1) * 128
    with receiver(port) as listening, peer(("127.0.0.1", port)) as stranger:
        stranger.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, len(wire.hello(FLOW)))
        for flow in range(FLOW, FLOW + 3):
            listening.send_signal(signal.SIGSTOP)
            with suppress(OSError):  # an older kernel refuses more than 64
                for _ in range(16):
                    stranger.send(hellos)
            listening.send_signal(signal.SIGCONT)
            wait_until(lambda: waiting_bytes(port) == 0, "reading")  # what comes behind a full queue is lost
            with peer(("127.0.0.1", port)) as sender:
                begin_flow(sender, flow)
                sender.send(wire.control(wire.BYE, flow))
                assert wire.kind_and_flow(sender.recv(100)) == (wire.BYE_REPLY, flow)
        assert listening.poll() is None


def test_the_sender_believes_only_acks_of_its_flow(tmp_path: Path) -> None:
    stats_file = tmp_path / "s.json"
    with peer() as sock:
        sock.bind(("127.0.0.1", 0))
        port = sock.getsockname()[1]
        argv = [
            SENDER,
            "127.0.0.1",
            str(port),
            "--scheme",
            "fixed:4",
            "--seconds",
            "2",
            "--stats",
            str(stats_file),
        ]
        with running(argv) as sending:
            acked, ignored = play_a_hostile_receiver(sock)
            assert sending.wait(timeout=20) == 0
            assert sending.communicate(timeout=60)[1] == ""
    stats = json.loads(stats_file.read_text())
    assert stats["ignored_datagrams"] == ignored
    assert stats["acked_packets"] == acked
    assert stats["received_packets"] == acked


def play_a_hostile_receiver(sock: socket.socket) -> tuple[int, int]:
    """Answers the handshake and the first 200 packets, each amid junk; then the bye. Counts ACKs and junk."""
    hello, sender = sock.recvfrom(2000)
    kind, flow = wire.kind_and_flow(hello)
    assert kind == wire.HELLO
    for junk in garbage(seed=2):
        sock.sendto(junk, sender)
    sock.sendto(wire.control(wire.HELLO_REPLY, flow), sender)
    acked = ignored = 0
    while True:
        datagram, sender = sock.recvfrom(2000)
        if wire.kind_and_flow(datagram)[0] == wire.BYE:
            sock.sendto(wire.control(wire.BYE_REPLY, flow), sender)
            return acked, ignored
        if wire.kind_and_flow(datagram)[0] == wire.HELLO or acked == 200:
            continue
        seq = wire.seq_of(datagram)
        acked += 1
        now_ns = time.monotonic_ns()
        right = wire.ack(flow, seq, now_ns, acked)
        wrong = [wire.ack(flow + 1, seq, now_ns, 10**9), wire.ack(flow, seq, 2**63, 10**9), right[:-1]]
        wrong += [
            wire.control(wire.HELLO_REPLY, flow),
            wire.control(wire.BYE_REPLY, flow),
            random.randbytes(100),
        ]
        never_sent = wire.ack(flow, seq + 10**6, now_ns, 10**9)
        for bytes_ in (*wrong, never_sent, right, right, wire.ack(flow, seq, 0, 10**9)):
            sock.sendto(bytes_, sender)
        ignored += len(wrong)
