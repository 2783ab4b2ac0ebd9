"""ns-3 as a yardstick and a reference: a program of ours against its headers, compiled on demand."""

import json
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory

from ccgym.envs.errors import InputError, OutsideError

_LIBRARIES = ("applications", "core", "internet", "network", "point-to-point", "traffic-control")
_COMPILE_S = 180.0
_RUN_S = 600.0
_HEADER = Path("/usr/include/ns3/core-module.h")


@dataclass(frozen=True)
class Dumbbell:
    """One flow's slow link between two fast ones; its ACKs meet no queue.

    With `marking`, what the slow link's queue takes to mark as `LinkSpec` calls it, ns-3's flow speaks ECN.
    """

    rate_mbps: float
    delay_ms: int
    """One way."""
    queue_packets: int
    marking: Mapping[str, str | float] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """What tables call it."""
        kind = f" {self.marking['queue']}" if self.marking else ""
        return f"{self.rate_mbps:g} Mbit/s, {self.delay_ms} ms, {self.queue_packets} packets{kind}"

    @property
    def discipline(self) -> list[str]:
        """The program's last argument, where there is one."""
        return [":".join(str(value) for value in self.marking.values())] if self.marking else []


@dataclass(frozen=True)
class Ns3Figures:
    """What the slow link saw after the warm-up."""

    throughput_mbps: float
    """Of IP bytes."""
    mean_queueing_ms: float
    """From a packet's arrival until its last byte has left."""
    packets_per_cpu_s: float
    """What the simulator itself costs, warm-up included."""


def compile_dumbbell(folder: Path) -> Path:
    """The program, built into `folder`.

    Raises:
        InputError: ns-3 or a compiler is missing; says the command that installs it.
        OutsideError: the compiler refused it.
    """
    compiler = shutil.which("g++")
    if compiler is None or not _HEADER.is_file():
        raise InputError("ns-3 is not installed: run `apt-get install g++ libns3-dev`")
    source = Path(str(files("ccgym.bench") / "yardsticks" / "ns3_dumbbell.cc"))
    program = folder / "ns3_dumbbell"
    command = [compiler, "-std=c++17", "-O2", "-o", str(program), str(source)]
    _run([*command, *(f"-lns3-{library}" for library in _LIBRARIES)], _COMPILE_S, "g++")
    return program


class Ns3:
    """The compiled program, for as long as the context lasts."""

    def __enter__(self) -> "Ns3":
        self._folder = TemporaryDirectory(prefix="ccgym-ns3-")
        try:
            self._program = compile_dumbbell(Path(self._folder.name))
        except BaseException:
            self._folder.cleanup()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()

    def fly(self, tcp: str, dumbbell: Dumbbell, seconds: float, warm_up_s: float) -> Ns3Figures:
        """One flow of ns-3's `tcp`, as `TcpCubic`."""
        link = [str(dumbbell.rate_mbps), str(dumbbell.delay_ms), str(dumbbell.queue_packets)]
        arguments = [tcp, *link, str(seconds), str(warm_up_s), *dumbbell.discipline]
        printed = _run([str(self._program), *arguments], _RUN_S, "ns3_dumbbell")
        return Ns3Figures(**json.loads(printed))


def _run(command: list[str], timeout_s: float, name: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout_s, check=False)
    except subprocess.TimeoutExpired:
        raise OutsideError(f"{name} took longer than {timeout_s:g} s") from None
    if done.returncode != 0:
        complaint = (done.stderr.strip().splitlines() or ["said nothing"])[0]
        raise OutsideError(f"{name} failed: {complaint}")
    return done.stdout
