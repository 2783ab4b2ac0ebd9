"""Cost and throughput of the tunnel: kernel TCP, floods and pings over a wire between two hosts."""

import json
import os
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from ccgym.envs.errors import OutsideError
from ccgym.envs.host.process_group import POLL_S, ProcessGroup
from ccgym.envs.host.scheduling_priority import NICENESS
from ccgym.envs.host.two_hosts import TwoHosts
from ccgym.tunnel.session import LocalTunnel, TunnelEnd

from .case import Case, Yardstick, medians_in_turns
from .programs import OVERRUN_S, await_output, iperf3_server, run_to_end

PROTOCOLS = ("compatible", "authenticated")
OFFLOADED = "compatible, offloaded"
TCP_S = 3
FLOOD_S = 2
FLOOD_BYTES = 1400
OFFERED_MBPS = (200, 400, 800)
PINGS = 200
FULL_PACKET = b" - 1500\n"
"""The end of the log line of a packet of 1464 bytes."""
FLOOD_PACKET = b" - 1464\n"
"""The same for a datagram of the flood: 36 bytes of the path's headers, 28 of its own."""

# Recorded earlier on a similar, quiet machine with logs on, because no package of it exists.
RECORDED_TCP_MBPS = 623.0
RECORDED_ADDED_US = 75.0
_RECORDED = "pantheon-tunnel, recorded"
_BARE = "a bare UDP send by Python"
_BARE_SEND = """
import socket, sys, time
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
    sock.connect((sys.argv[1], 5002))
    packet, begin = bytes(1464), time.process_time()
    for _ in range(50_000):
        sock.send(packet)
print(1e6 * (time.process_time() - begin) / 50_000)
"""
"""Time that the network stack takes for one packet, in microseconds: about 2.1 on a quiet machine."""
_BARE_TAKE = """
import socket, sys, time
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
    sock.bind((sys.argv[1], 5002))
    print(flush=True)
    time.sleep(60)
"""
_PORT = "5001"

Figures = dict[str, float]


def cases(rounds: int) -> Iterator[Case]:
    """Both protocols beside the bare wire, each with both logs on."""
    with TwoHosts() as hosts:
        yield from _tcp_cases(hosts, rounds)
        yield from _flood_cases(hosts, rounds)
        yield from _ping_cases(hosts, rounds)


def _tcp_cases(hosts: TwoHosts, rounds: int) -> Iterator[Case]:
    ways = (*PROTOCOLS, OFFLOADED)
    runs: dict[str, list[Figures]] = {way: [] for way in ways}
    measurements = {way: partial(_noted, runs[way], partial(_tcp, hosts, way)) for way in ways}
    wire = {"wire": partial(_bare_tcp_mbps, hosts), "send": partial(_bare_send_us, hosts)}
    medians = medians_in_turns({**wire, **measurements}, rounds)
    yield Case("TCP over the bare wire", medians["wire"], "Mbit/s", 2)
    base: dict[str, float] = {}
    for protocol in ways:
        figures = {key: statistics.median(each[key] for each in runs[protocol]) for key in runs[protocol][0]}
        yield Case(f"{protocol}, TCP", figures["mbps"], "Mbit/s", 2, Yardstick(_RECORDED, RECORDED_TCP_MBPS))
        for end in ("sending", "receiving"):
            yardstick = Yardstick("compatible", base[end]) if base else Yardstick(_BARE, medians["send"])
            yield Case(f"{protocol}, TCP, {end} end", figures[end], "us/packet", 1, yardstick)
        base = base or figures


def _flood_cases(hosts: TwoHosts, rounds: int) -> Iterator[Case]:
    """The cases of a flood: whether more offered traffic means less delivered."""
    for protocol in PROTOCOLS:
        offered = {f"{mbps}": partial(_flood_mbps, hosts, protocol, mbps) for mbps in (*OFFERED_MBPS, 0)}
        delivered = medians_in_turns(offered, rounds)
        endless = delivered.pop("0")
        most = Yardstick("the most delivered of less offered", max(delivered.values()))
        yield Case(f"{protocol}, UDP delivered of a flood", endless, "Mbit/s", 2, most)


def _ping_cases(hosts: TwoHosts, rounds: int) -> Iterator[Case]:
    measurements = {protocol: partial(_ping_us, hosts, protocol) for protocol in PROTOCOLS}
    rtts_us = medians_in_turns({"wire": partial(_bare_ping_us, hosts), **measurements}, rounds)
    for protocol in PROTOCOLS:
        added_us = (rtts_us[protocol] - rtts_us["wire"]) / 2
        yield Case(f"{protocol}, added one way", added_us, "us", 2, Yardstick(_RECORDED, RECORDED_ADDED_US))


def _first(host: list[str]) -> list[str]:
    """The beginning of a command line on that host, with priority over other programs if allowed."""
    return [*host, "nice", "-n", str(NICENESS)] if os.geteuid() == 0 else host


def _noted(runs: list[Figures], run: Callable[[], Figures]) -> float:
    runs.append(run())
    return runs[-1]["mbps"]


@contextmanager
def _tunnel(hosts: TwoHosts, protocol: str, client: str) -> Iterator[LocalTunnel]:
    """A tunnel over the wire whose client runs the sh script `client`, which prints `done` at its end."""
    with (
        tempfile.TemporaryDirectory(prefix="ccgym-bench-") as folder,
        LocalTunnel(
            Path(folder),
            ["iperf3", "--server", "--port", _PORT],
            ["sh", "-c", f"sleep 0.3; {client}; echo done; exec sleep 60"],
            authenticated=protocol == "authenticated",
            options=["--offload"] if protocol == OFFLOADED else [],
            server=hosts.RECEIVER_IP,
            server_prefix=_first(hosts.receiver),
            client_prefix=_first(hosts.sender),
        ) as tunnel,
    ):
        _await_done(tunnel.client)
        yield tunnel


def _await_done(client: TunnelEnd) -> None:
    deadline = time.monotonic() + TCP_S + OVERRUN_S
    while "done" not in client.stdout_lines():
        if client.process.returncode is not None or time.monotonic() > deadline:
            raise OutsideError(f"the tunnel's client failed: {client.process.complaint()}")
        time.sleep(POLL_S)


def _tcp(hosts: TwoHosts, protocol: str) -> Figures:
    iperf = f"iperf3 --client $CCGYM_TUNNEL_PEER --port {_PORT} --time {TCP_S} --congestion cubic --json"
    with _tunnel(hosts, protocol, f"{iperf} >tcp.json") as tunnel:
        cpu_us = {
            "sending": 1e6 * _cpu_seconds(tunnel.client.process.pid),
            "receiving": 1e6 * _cpu_seconds(tunnel.server.process.pid),
        }
        mbps = _received_mbps(tunnel.folder / "tcp.json")
        tunnel.client.process.stop()  # then its log is complete
        packets = tunnel.client.logs.egress.read_bytes().count(FULL_PACKET)
    return {"mbps": mbps, **{end: us / packets for end, us in cpu_us.items()}}


def _flood_mbps(hosts: TwoHosts, protocol: str, offered_mbps: int) -> float:
    """Mbit/s that the far end gave to its device, whether or not the program there read it in time."""
    rate = f"--udp --bitrate {offered_mbps}M --length {FLOOD_BYTES} --time {FLOOD_S}"
    with _tunnel(hosts, protocol, f"iperf3 --client $CCGYM_TUNNEL_PEER --port {_PORT} {rate}") as tunnel:
        tunnel.client.process.stop()
        tunnel.server.process.wait(OVERRUN_S)  # then its log is complete
        log = tunnel.server.logs.ingress.read_bytes().splitlines(keepends=True)
    times_ms = [float(line.split(b" ", 1)[0]) for line in log if line.endswith(FLOOD_PACKET)]
    return 8 * FLOOD_BYTES * len(times_ms) / (times_ms[-1] - times_ms[0]) / 1000


def _ping_us(hosts: TwoHosts, protocol: str) -> float:
    with _tunnel(hosts, protocol, f"ping -q -i 0.005 -c {PINGS} $CCGYM_TUNNEL_PEER") as tunnel:
        return _mean_rtt_us("\n".join(tunnel.client.stdout_lines()))


def _bare_tcp_mbps(hosts: TwoHosts) -> float:
    with tempfile.TemporaryDirectory(prefix="ccgym-bench-") as name:
        folder = Path(name)
        with iperf3_server(_first(hosts.receiver), folder):
            argv = ["iperf3", "--client", hosts.RECEIVER_IP, "--time", str(TCP_S), "--congestion", "cubic"]
            run_to_end([*_first(hosts.sender), *argv, "--json"], folder, TCP_S)
        return _received_mbps(folder / "client.out")


def _bare_send_us(hosts: TwoHosts) -> float:
    with tempfile.TemporaryDirectory(prefix="ccgym-bench-") as name:
        folder = Path(name)
        take = [sys.executable, "-c", _BARE_TAKE, hosts.RECEIVER_IP]
        with ProcessGroup([*_first(hosts.receiver), *take], folder, "server"):
            await_output(folder / "server.out")
            send = [sys.executable, "-c", _BARE_SEND, hosts.RECEIVER_IP]
            run_to_end([*_first(hosts.sender), *send], folder, TCP_S)
        return float((folder / "client.out").read_text())


def _bare_ping_us(hosts: TwoHosts) -> float:
    with tempfile.TemporaryDirectory(prefix="ccgym-bench-") as name:
        folder = Path(name)
        ping = ["ping", "-q", "-i", "0.005", "-c", str(PINGS), hosts.RECEIVER_IP]
        run_to_end([*_first(hosts.sender), *ping], folder, TCP_S)
        return _mean_rtt_us((folder / "client.out").read_text())


def _received_mbps(file: Path) -> float:
    return float(json.loads(file.read_text())["end"]["sum_received"]["bits_per_second"]) / 1e6


def _mean_rtt_us(report: str) -> float:
    match = re.search(r"= [\d.]+/([\d.]+)/", report)
    if match is None:
        raise OutsideError(f"ping has no answer: {report}")
    return 1000 * float(match[1])


def _cpu_seconds(pid: int) -> float:
    """Processor time of all threads of a process so far."""
    threads = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(thread.read_text().split()[0]) for thread in threads) / 1e9
