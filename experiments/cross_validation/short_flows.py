"""`ccgym reproduce short-flows`: completion times of our Cubic beside those of kernel Cubic in mahimahi.

Ours runs in the twin, the kernel's in real shells, one flow after the other with a pause in between. A flow's
time begins when it is connected and may send, and ends when the sender knows that all has arrived.
"""

import argparse
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory

import numpy as np
from ccgym.configs.arguments import count
from ccgym.envs import _core
from ccgym.envs.host.host_checks import check_kernel_tcp
from ccgym.envs.mahimahi.shells import MahimahiError, MahimahiShell, free_port, require, require_mahimahi
from ccgym.envs.specs.emulator_spec import EmulatorSpec
from ccgym.experiments.json_text import json_text

SIZES_KB = (15, 150, 1500)
RATES_MBPS = (5, 12, 30, 80)
DELAYS_MS = (5, 20, 50, 100, 150)
BOUND = 0.05
MOST_SECONDS = 60.0
PYTHON = "/usr/bin/python3"
"""The system's Python: the user of the shells may have no access to ours."""

_SERVER = """import socket, sys
with socket.create_server(("0.0.0.0", int(sys.argv[1]))) as server:
    while True:
        connection, _ = server.accept()
        with connection:
            while connection.recv(1 << 20):
                pass
"""
_CLIENT = """import socket, sys, time
address, port, flows, *sizes = sys.argv[1:]
for _ in range(int(flows)):
    for size in map(int, sizes):
        with socket.socket() as flow:
            flow.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")
            flow.connect((address, int(port)))
            time.sleep(0.2)
            began = time.monotonic()
            flow.sendall(bytes(size))
            flow.shutdown(socket.SHUT_WR)
            flow.recv(1)
            print(size, time.monotonic() - began, flush=True)
        time.sleep(0.3)
"""


@dataclass(frozen=True)
class ShortFlows:
    """Mean completion times of one size on one emulator."""

    emulator: str
    size_kb: int
    flows: int
    """Number of the kernel's flows; ours takes the same time each time."""
    ours_ms: float
    kernel_ms: float

    @property
    def error(self) -> float:
        """Our mean time minus the kernel's, as a share of the kernel's."""
        return self.ours_ms / self.kernel_ms - 1


def emulators() -> list[EmulatorSpec]:
    """Twenty links of constant rate with a droptail queue of 1 BDP."""
    return [_emulator(rate_mbps, delay_ms) for rate_mbps in RATES_MBPS for delay_ms in DELAYS_MS]


def _emulator(rate_mbps: int, delay_ms: int) -> EmulatorSpec:
    packets = max(10, round(rate_mbps * 2 * delay_ms / 12))
    uplink = {"rate_mbps": rate_mbps, "queue": "droptail", "packets": packets}
    return EmulatorSpec.model_validate(
        {"name": f"{rate_mbps}mbps-{delay_ms}ms", "delay_ms": delay_ms, "uplink": uplink}
    )


def our_completion_ms(spec: EmulatorSpec, size_kb: int) -> float:
    """Completion time in ms of one flow of our Cubic in the twin."""
    flow = _core.Flow("cubic", bytes=1000 * size_kb)
    (measured,) = _core.simulate(spec.to_path(), [flow], seconds=MOST_SECONDS, seed=1, log=False)
    return float(measured.completion_ms[0])


def kernel_completion_ms(spec: EmulatorSpec, flows: int) -> dict[int, list[float]]:
    """Completion times in ms of the kernel's Cubic in real shells, by size; `flows` of each size.

    Raises:
        MahimahiError: a shell or a program in it failed.
    """
    with TemporaryDirectory() as folder, MahimahiShell(spec) as shell:
        scripts = {name: Path(folder, f"{name}.py") for name in ("server", "client")}
        scripts["server"].write_text(_SERVER)
        scripts["client"].write_text(_CLIENT)
        staged = {name: str(shell.stage(file)) for name, file in scripts.items()}
        port = free_port("tcp")
        shell.serve([PYTHON, staged["server"], str(port)], "tcp", port)
        sizes = " ".join(str(1000 * size) for size in SIZES_KB)
        shells = shell.start(f"exec {PYTHON} {staged['client']} $MAHIMAHI_BASE {port} {flows} {sizes}")
        if shells.wait(flows * len(SIZES_KB) * MOST_SECONDS) != 0:
            raise MahimahiError(f"{spec.name}: {shells.complaint()}")
        times: dict[int, list[float]] = {size: [] for size in SIZES_KB}
        for line in (shell.folder / "mahimahi.out").read_text().splitlines():
            size, seconds = line.split()
            times[int(size) // 1000].append(1e3 * float(seconds))
        return times


def compare_short_flows(spec: EmulatorSpec, flows: int) -> list[ShortFlows]:
    """Compares each size on one emulator."""
    return [
        ShortFlows(spec.name, size_kb, len(times), our_completion_ms(spec, size_kb), fmean(times))
        for size_kb, times in kernel_completion_ms(spec, flows).items()
    ]


def mean_error(rows: list[ShortFlows]) -> float:
    """Error of our mean completion time over these emulators, as a share of the kernel's."""
    return fmean(row.ours_ms for row in rows) / fmean(row.kernel_ms for row in rows) - 1


DESCRIPTION = (
    "Runs flows of 15, 150 and 1,500 kB of our Cubic in the twin and of the kernel's in real mahimahi over "
    "20 links, 5 to 80 Mbit/s and 5 to 150 ms one way, with a queue of a bandwidth-delay product. Exit code "
    "1: over all links the mean completion time of a size differs by more than 5 %."
)


def evenly_chosen(specs: list[EmulatorSpec], number: int) -> list[EmulatorSpec]:
    """`number` of the specs, evenly spaced; with the first and the last if there are at least two."""
    return [specs[index] for index in np.linspace(0, len(specs) - 1, number).round().astype(int)]


def _links(text: str) -> int:
    most = len(RATES_MBPS) * len(DELAYS_MS)
    if count(text) > most:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1 to {most}")
    return count(text)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments: how many flows, and on how many links."""
    parser.add_argument(
        "--flows", type=count, default=17, metavar="N", help="flows of each size on each link (default: 17)"
    )
    parser.add_argument(
        "--links", type=_links, default=20, metavar="N", help="1 to 20, evenly chosen (default: 20)"
    )


def run(args: argparse.Namespace) -> int:
    """Runs link after link, and prints each."""
    require_mahimahi()
    require(check_kernel_tcp())
    chosen = evenly_chosen(emulators(), args.links)
    rows: list[ShortFlows] = []
    for spec in chosen:
        rows += compare_short_flows(spec, args.flows)
        for row in rows[-len(SIZES_KB) :]:
            print(_line(row), file=sys.stderr if args.json else sys.stdout, flush=True)
    errors = {size: mean_error([row for row in rows if row.size_kb == size]) for size in SIZES_KB}
    if args.json:
        print(json_text({"flows": [vars(row) for row in rows], "mean_errors": errors}))
    else:
        for size, error in errors.items():
            print(f"{size:5} kB over {len(chosen)} links: {error:+.1%}")
        print(f"load of this host in the last 15 minutes: {os.getloadavg()[2]:.1f} on {os.cpu_count()} cores")
    return 0 if all(abs(error) <= BOUND for error in errors.values()) else 1


def _line(row: ShortFlows) -> str:
    return (
        f"{row.emulator:16} {row.size_kb:5} kB  ours {row.ours_ms:8.1f} ms, "
        f"kernel {row.kernel_ms:8.1f} ms of {row.flows}, {row.error:+.1%}"
    )
