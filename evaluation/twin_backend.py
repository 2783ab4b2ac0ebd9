"""Flights in the twin, in virtual time."""

from ccgym.envs import _core
from ccgym.envs.emulator_spec import EmulatorSpec
from ccgym.envs.emulators import NamedEmulator
from ccgym.envs.errors import InputError
from ccgym.envs.link_log import LinkLog

from .backend import Flow
from .run_files import RunFiles
from .schemes import Kind, Scheme


class TwinBackend:
    """mahimahi in virtual time, inside this process."""

    name = "twin"

    def check(self, emulators: list[NamedEmulator], line_ups: list[list[Scheme]]) -> None:
        """Kernel TCP lives in real time only."""
        for scheme in (scheme for line_up in line_ups for scheme in line_up):
            if (reason := why_not_in_twin(scheme)) is not None:
                raise InputError(f"{reason}: leave it out or say --backend mahimahi")
        for emulator in emulators:
            emulator.spec.to_path()

    def fly(self, spec: EmulatorSpec, flows: list[Flow], seed: int, _: RunFiles) -> list[LinkLog]:
        """The first flow begins at time 0."""
        if len(flows) > 1:
            raise InputError("several flows are not in the twin yet: say --backend mahimahi")
        (flow,) = flows
        flight = _core.fly(spec.to_path(), flow.scheme.controller, seconds=flow.seconds, seed=seed)
        return [LinkLog.from_flight(flight, spec.uplink.schedule())]


def why_not_in_twin(scheme: Scheme) -> str | None:
    """The reason why this scheme flies in real time only, if it does."""
    if scheme.kind in (Kind.NATIVE, Kind.POLICY):
        return None
    return f"scheme {scheme.label!r} is not in the twin"
