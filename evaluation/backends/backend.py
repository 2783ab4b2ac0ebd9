"""The interface of every backend: it runs flows over an emulator and returns the link's log of each."""

from dataclasses import dataclass
from typing import Protocol

from ccgym.envs.logs.link_log import LinkLog
from ccgym.envs.specs.emulator_spec import EmulatorSpec
from ccgym.envs.specs.emulators import NamedEmulator
from ccgym.evaluation.backends.tunnelled.remote_path import NamedPath, Network, RemotePathSpec
from ccgym.evaluation.run_files import RunFiles
from ccgym.evaluation.schemes import Scheme

EmulatorsOrPaths = list[NamedEmulator] | list[NamedPath]
"""What an evaluation runs over, under the names that reports use."""


@dataclass(frozen=True)
class PlannedFlow:
    """One flow of a run."""

    scheme: Scheme
    start_s: float
    """After the first flow begins; for a lone flow in the twin, after the link's schedule begins."""
    seconds: float


class Backend(Protocol):
    """Runs the flows of a run over an emulator."""

    name: str
    in_real_time: bool
    """Whether two runs at once would disturb each other."""

    def check(self, emulators: EmulatorsOrPaths, line_ups: list[list[Scheme]]) -> None:
        """Raises InputError or OutsideError if the machine lacks something that these runs need."""

    def refusal(self, spec: Network, line_up: list[Scheme]) -> str | None:
        """Why these schemes cannot run over this emulator here, in one line; None: they can."""

    def run(self, spec: Network, flows: list[PlannedFlow], seed: int, files: RunFiles) -> list[LinkLog]:
        """Returns the log of the link that carried the data, one for each flow.

        Delays are within the link. Whatever else the backend records goes into `files`.
        """


def measured_end_to_end(backend: str, flows: int, tunnel: bool) -> bool:
    """Whether packets are recorded at both ends of the path; otherwise only the link's log has them."""
    return tunnel or (backend == "mahimahi" and flows > 1)


def run_seconds(spec: Network | None, backend: str, seconds: float | None) -> float | None:
    """How long the first flow of a run tried to send, in s; None: a program, which may end by itself."""
    if backend != "twin" or seconds is None or not isinstance(spec, EmulatorSpec):
        return None
    return spec.own_flow_seconds(seconds)


def unseen_loss(spec: Network, backend: str, flows: int, tunnel: bool) -> float:
    """The loss probability of a loss stage behind the link, where no log sees it; otherwise 0."""
    if isinstance(spec, RemotePathSpec) or measured_end_to_end(backend, flows, tunnel):
        return 0.0
    if spec.delay_varies and not spec.before_link("loss"):  # the twin then tells what was received
        return 0.0
    return spec.uplink.loss
