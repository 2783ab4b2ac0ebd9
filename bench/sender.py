"""Cost and throughput of the endpoint: over a bare wire between two hosts, and through real mahimahi."""

import json
import os
import statistics
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from ccgym.deploy.export import PROGRAM_FOLDER
from ccgym.envs.errors import OutsideError
from ccgym.envs.host.process_group import ProcessGroup
from ccgym.envs.host.two_hosts import TwoHosts
from ccgym.envs.mahimahi.shells import MahimahiShell, free_port, require_mahimahi
from ccgym.envs.specs.emulator_spec import EmulatorSpec, LinkSpec
from ccgym.evaluation.schemes import select_schemes

from .case import Case, Yardstick, medians_in_turns
from .programs import OVERRUN_S, iperf3_server, run_to_end

WIRE_SCHEMES = ("copa", "cubic", "indigo2")
WIRE_S = 2.0
PACKET_BYTES = 1436
LINK_RATES_MBPS = (12.0, 46.0, 100.0)
LINK_DELAY_MS = 20
LINK_S = 10.0
BDP_SHARE = 1.2
CROWD = 100
CROWD_RATE_MBPS = 10.0
_PORT = 5000

Run = dict[str, float]
"""Figures of one run: `mbps` and others."""


def cases(rounds: int) -> Iterator[Case]:
    """The cases of the wire, then those of mahimahi's links."""
    yield from _wire_cases(rounds)
    require_mahimahi()
    yield from _link_cases(rounds)
    yield from _crowd_cases(rounds)


def _wire_cases(rounds: int) -> Iterator[Case]:
    """The cases over the wire, with each end on a core of its own."""
    runs: dict[str, list[Run]] = {scheme: [] for scheme in WIRE_SCHEMES}
    with TwoHosts() as hosts:
        measurements = {
            scheme: partial(_noted, runs[scheme], partial(_run_wire, hosts, scheme))
            for scheme in WIRE_SCHEMES
        }
        rates_mbps = medians_in_turns({"iperf3": partial(_iperf_mbps, hosts), **measurements}, rounds)
    yardstick = Yardstick("iperf3 UDP, same wire", rates_mbps["iperf3"])
    for scheme in WIRE_SCHEMES:
        own = runs[scheme]
        yield Case(f"{scheme} over a wire", rates_mbps[scheme], "Mbit/s", 2, yardstick)
        yield Case(f"{scheme}, sender", _median(own, "sender_us"), "us/packet")
        yield Case(f"{scheme}, receiver", _median(own, "receiver_us"), "us/packet")
        if "decision_us" in own[0]:
            yield Case(f"{scheme}, decision at p99", _median(own, "decision_us"), "us")


def _noted(runs: list[Run], run: Callable[[], Run]) -> float:
    runs.append(run())
    return runs[-1]["mbps"]


def _median(runs: list[Run], key: str) -> float:
    return statistics.median(run[key] for run in runs)


def _run_wire(hosts: TwoHosts, scheme: str) -> Run:
    first, last = min(os.sched_getaffinity(0)), max(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory(prefix="ccgym-bench-") as name:
        folder = Path(name)
        listen = _pinned(last, [*hosts.receiver, str(PROGRAM_FOLDER / "ccgym-receiver"), str(_PORT)])
        send = _pinned(first, [*hosts.sender, *_sender(scheme, hosts.RECEIVER_IP)])
        with ProcessGroup(listen, folder, "receiver") as receiver:
            stats = _finish(ProcessGroup(send, folder, "sender"), WIRE_S)
            receiver_s = _cpu_seconds(receiver.pid)
    run = {
        "mbps": stats["throughput_mbps"],
        "sender_us": 1e6 * stats["cpu_seconds"] / stats["acked_packets"],
        "receiver_us": 1e6 * receiver_s / stats["received_packets"],
    }
    return run | ({"decision_us": stats["decision_us"]["p99"]} if "decision_us" in stats else {})


def _iperf_mbps(hosts: TwoHosts) -> float:
    """Mbit/s of UDP datagrams of our size that arrive if iperf3 sends as fast as it can."""
    with tempfile.TemporaryDirectory(prefix="ccgym-bench-") as name:
        folder = Path(name)
        with iperf3_server(hosts.receiver, folder):
            send = ["iperf3", "--client", hosts.RECEIVER_IP, "--udp", "--bitrate", "0", "--json"]
            send += ["--length", str(PACKET_BYTES), "--time", f"{WIRE_S:g}"]
            run_to_end([*hosts.sender, *send], folder, WIRE_S)
        summary = json.loads((folder / "client.out").read_text())["end"]["sum"]
    return float(summary["bits_per_second"]) / 1e6 * (1 - float(summary["lost_percent"]) / 100)


def _link_cases(rounds: int) -> Iterator[Case]:
    measurements = {
        f"fixed window of {BDP_SHARE} BDP through mahimahi at {rate_mbps:g} Mbit/s": (
            partial(_fill_link, rate_mbps)
        )
        for rate_mbps in LINK_RATES_MBPS
    }
    medians = medians_in_turns(measurements, rounds)
    for (name, median), rate_mbps in zip(medians.items(), LINK_RATES_MBPS, strict=True):
        yield Case(name, median, "Mbit/s", 2, Yardstick("the link", rate_mbps))


def _fill_link(rate_mbps: float) -> float:
    window = round(BDP_SHARE * rate_mbps * 1e3 * 2 * LINK_DELAY_MS / 12_000)
    link = LinkSpec(rate_mbps=rate_mbps)
    with MahimahiShell(EmulatorSpec(name="fill", delay_ms=LINK_DELAY_MS, uplink=link)) as shell:
        _run_shell(shell, f"fixed:{window}", 1, LINK_S)
        return float(json.loads((shell.folder / "stats-0").read_text())["throughput_mbps"])


def _crowd_cases(rounds: int) -> Iterator[Case]:
    """Many learned flows at once: their load on one core, and whether they fill the link."""
    runs: list[Run] = []
    mbps = medians_in_turns({"crowd": partial(_noted, runs, _run_crowd)}, rounds)["crowd"]
    name = f"{CROWD} indigo2 flows at {CROWD_RATE_MBPS:g} Mbit/s in all"
    yield Case(name, mbps, "Mbit/s", 2, Yardstick("the link", CROWD_RATE_MBPS))
    yield Case(f"{name}, all senders", _median(runs, "cores"), "cores")


def _run_crowd() -> Run:
    link = LinkSpec(rate_mbps=CROWD_RATE_MBPS, queue="droptail", packets=10 * CROWD)
    with MahimahiShell(EmulatorSpec(name="crowd", delay_ms=LINK_DELAY_MS, uplink=link)) as shell:
        _run_shell(shell, "indigo2", CROWD, LINK_S)
        stats = [json.loads((shell.folder / f"stats-{number}").read_text()) for number in range(CROWD)]
    return {
        "mbps": sum(flow["throughput_mbps"] for flow in stats),
        "cores": sum(flow["cpu_seconds"] for flow in stats) / LINK_S,
    }


def _run_shell(shell: MahimahiShell, scheme: str, flows: int, seconds: float) -> None:
    """Runs `flows` flows at once through the shells; the sender of flow n writes the file `stats-n`."""
    receiver = str(shell.stage(PROGRAM_FOLDER / "ccgym-receiver"))
    controller = select_schemes(scheme)[0]
    if controller.policy_file is not None:
        scheme = f"policy:{shell.stage(controller.policy_file)}"
    sender = shell.stage(PROGRAM_FOLDER / "ccgym-sender")
    lines = []
    for number in range(flows):
        port = free_port("udp")
        shell.serve([receiver, str(port)], "udp", port)
        options = f'--scheme "{scheme}" --seconds {seconds} --stats stats-{number}'
        lines.append(f"{sender} $MAHIMAHI_BASE {port} {options} &")
    client = shell.start(" ".join([*lines, "wait"]))
    if client.wait(seconds + OVERRUN_S) != 0:
        raise OutsideError(f"ccgym-sender failed: {client.complaint()}")


def _sender(scheme: str, address: str) -> list[str]:
    controller = select_schemes(scheme)[0].controller
    options = ["--scheme", controller, "--seconds", str(WIRE_S), "--stats", "stats"]
    return [str(PROGRAM_FOLDER / "ccgym-sender"), address, str(_PORT), *options]


def _pinned(core: int, argv: list[str]) -> list[str]:
    return ["taskset", "-c", str(core), *argv]


def _finish(sender: ProcessGroup, seconds: float) -> Any:
    with sender:
        if sender.wait(seconds + OVERRUN_S) != 0:
            raise OutsideError(f"ccgym-sender failed: {sender.complaint()}")
    return json.loads((sender.folder / "stats").read_text())


def _cpu_seconds(pid: int) -> float:
    """Processor time of a process so far."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9
