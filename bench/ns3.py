"""ns-3 as a yardstick and a reference: programs of ours against its headers, compiled on demand."""

import json
import os
import shutil
import subprocess
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Self

import numpy as np
from ccgym.envs.errors import InputError, OutsideError
from ccgym.envs.host.process_group import running_in_group
from ccgym.envs.logs.event_log import Array
from ccgym.envs.logs.link_log import TUN_HEADER_BYTES
from ccgym.envs.specs.emulator_spec import EmulatorSpec
from numpy.typing import NDArray

_LIBRARIES = ("applications", "core", "internet", "network", "point-to-point", "traffic-control")
_COMPILE_S = 180.0
_RUN_S = 600.0
_LEAST_DATA_BYTES = 100
"""Shorter packets open the connection and do not count."""
_HEADER = Path("/usr/include/ns3/core-module.h")


@dataclass(frozen=True)
class Dumbbell:
    """One flow over a slow link between two fast ones; its ACKs meet no queue.

    With `marking`, the parameters of the slow link's queue in the terms of `LinkSpec`, the flow uses ECN.
    """

    rate_mbps: float
    delay_ms: int
    """One-way propagation delay."""
    queue_packets: int
    marking: Mapping[str, str | float] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """The name in tables."""
        kind = f" {self.marking['queue']}" if self.marking else ""
        return f"{self.rate_mbps:g} Mbit/s, {self.delay_ms} ms, {self.queue_packets} packets{kind}"

    @property
    def discipline(self) -> list[str]:
        """The program's last argument; empty if there is none."""
        return [":".join(str(value) for value in self.marking.values())] if self.marking else []


@dataclass(frozen=True)
class Ns3Figures:
    """Figures of the slow link after the warm-up."""

    throughput_mbps: float
    """Rate of IP bytes."""
    mean_queueing_ms: float
    """From a packet's arrival until its last byte has left."""
    packets_per_cpu_s: float
    """Packets per second of the simulator's processor time, warm-up included."""


@dataclass(frozen=True)
class Ns3Run:
    """The record of a flow of ns-3, packet by packet, under the names of the twin's `FlowRecord`."""

    sent_ms: Array
    arrival_bytes: Array
    """Size of each packet sent, as the link counts it."""
    departed_sent_ms: Array
    departure_bytes: Array
    received_ms: Array
    """This and the two above are those of each packet that left the link; NaN: lost behind it."""
    cwnd_ms: Array
    cwnd_packets: Array
    lost_packets: int
    """Number of packets that were retransmitted."""
    timeouts: int


def compile_program(name: str, folder: Path) -> Path:
    """The program of that name under `yardsticks`, built into `folder`.

    Raises:
        InputError: ns-3 or a compiler is missing; says the command that installs it.
        OutsideError: the compiler refused it.
    """
    compiler = shutil.which("g++")
    if compiler is None or not _HEADER.is_file():
        raise InputError("ns-3 is not installed: run `apt-get install g++ libns3-dev`")
    source = Path(str(files("ccgym.bench") / "yardsticks" / f"{name}.cc"))
    program = folder / name
    command = [compiler, "-std=c++17", "-O2", "-o", str(program), str(source)]
    libraries = [f"-lns3-{library}" for library in _LIBRARIES]
    in_folder = {**os.environ, "TMPDIR": str(folder)}  # a killed compiler leaves its files there
    _run([*command, *libraries], _COMPILE_S, "g++", environment=in_folder)
    return program


class _Program:
    """A compiled program that exists as long as the context lasts."""

    name: str

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            folder = Path(stack.enter_context(TemporaryDirectory(prefix="ccgym-ns3-")))
            self._program = compile_program(self.name, folder)
            self._open = stack.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def _answer(self, arguments: list[str], given: str = "") -> Any:
        return json.loads(_run([str(self._program), *arguments], _RUN_S, self.name, given))


class Ns3(_Program):
    """Flows over a dumbbell."""

    name = "ns3_dumbbell"

    def run(self, tcp: str, dumbbell: Dumbbell, seconds: float, warm_up_s: float, run: int = 1) -> Ns3Figures:
        """Runs one flow of ns-3's `tcp`, such as `TcpCubic`; `run` seeds the random marks of the queue."""
        link = [str(dumbbell.rate_mbps), str(dumbbell.delay_ms), str(dumbbell.queue_packets)]
        arguments = [tcp, *link, str(seconds), str(warm_up_s), str(run), *dumbbell.discipline]
        return Ns3Figures(**self._answer(arguments))


class Ns3Replay(_Program):
    """Flows over a link that follows a trace, as mahimahi's does."""

    name = "ns3_replay"

    def run(
        self, tcp: str, spec: EmulatorSpec, opportunities_ms: NDArray[np.int64], seconds: float, run: int
    ) -> Ns3Run:
        """Runs one flow of ns-3's `tcp` with the queue, delay and loss of `spec`; `run` seeds the loss."""
        link = [str(spec.delay_ms), str(spec.uplink.packets), str(spec.uplink.loss)]
        times = "\n".join(map(str, opportunities_ms.tolist()))
        answer = self._answer([tcp, *link, str(seconds), str(run)], times)
        packets = np.array(answer["packets"], dtype=float)  # null becomes NaN
        sent_ms, sizes, departure_ms, received_ms = packets[packets[:, 1] >= _LEAST_DATA_BYTES].T
        left = ~np.isnan(departure_ms)
        window_ms, window = np.array(answer["windows"], dtype=float).T
        return Ns3Run(
            sent_ms,
            sizes + TUN_HEADER_BYTES,
            sent_ms[left],
            sizes[left] + TUN_HEADER_BYTES,
            received_ms[left],
            window_ms,
            window,
            answer["retransmissions"],
            answer["timeouts"],
        )


def _run(
    command: list[str],
    timeout_s: float,
    name: str,
    given: str = "",
    environment: Mapping[str, str] | None = None,
) -> str:
    pipe = subprocess.PIPE
    # In a process group, so that the compiler proper is killed together with g++.
    with running_in_group(command, stdin=pipe, stdout=pipe, stderr=pipe, env=environment) as process:
        try:
            output, complaints = process.communicate(given, timeout_s)
        except subprocess.TimeoutExpired:
            raise OutsideError(f"{name} took longer than {timeout_s:g} s") from None
    if process.returncode != 0:
        complaint = (complaints.strip().splitlines() or ["said nothing"])[0]
        raise OutsideError(f"{name} failed: {complaint}")
    return output
