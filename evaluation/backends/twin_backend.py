"""Runs in the twin, in virtual time."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from ccgym.envs import _core
from ccgym.envs.errors import InputError, OutsideError
from ccgym.envs.import_strings import place
from ccgym.envs.logs.link_log import LinkLog
from ccgym.envs.specs.emulator_spec import EmulatorSpec
from ccgym.evaluation.backends.tunnelled.remote_path import Network
from ccgym.evaluation.run_files import RunFiles
from ccgym.evaluation.schemes import IN_TWIN, Scheme

from .backend import EmulatorsOrPaths, PlannedFlow


class TwinBackend:
    """mahimahi in virtual time, inside this process."""

    name = "twin"
    in_real_time = False

    def check(self, _: EmulatorsOrPaths, line_ups: list[list[Scheme]]) -> None:
        """Checks nothing: the twin needs nothing of the machine."""

    def refusal(self, spec: Network, line_up: list[Scheme]) -> str | None:
        """Refuses foreign programs, which run in real time only, and queues that the twin does not have."""
        for scheme in line_up:
            if scheme.kind not in IN_TWIN:
                return f"scheme {scheme.label!r} is not in the twin, but with --backend mahimahi"
        assert isinstance(spec, EmulatorSpec)
        try:
            spec.to_path()
        except InputError as error:
            return str(error)
        return None

    def run(self, spec: Network, flows: list[PlannedFlow], seed: int, _: RunFiles) -> list[LinkLog]:
        """Runs the flows in virtual time; each begins `start_s` after the links' schedules begin."""
        assert isinstance(spec, EmulatorSpec)
        path = spec.to_path()
        first = flows[0]
        end_s = first.start_s + first.seconds
        if len(flows) == 1 and first.start_s == 0:
            with _told_of_outside():
                record = _core.simulate(path, first.scheme.controller, seconds=first.seconds, seed=seed)
            return [_log(record, spec, end_s)]
        sharing = [
            _core.Flow(flow.scheme.controller, start_s=flow.start_s, stop_s=flow.start_s + flow.seconds)
            for flow in flows
        ]
        with _told_of_outside():
            records = _core.simulate(path, sharing, seconds=end_s, seed=seed)
        logs = [_log(record, spec, end_s) for record in records]
        longest = max((log.opportunity_ms for log in logs), key=len)
        return [replace(log, opportunity_ms=longest) for log in logs]


@contextmanager
def _told_of_outside() -> Iterator[None]:
    """Turns the failure of an outside controller into an OutsideError that says where, if it is known."""
    try:
        yield
    except RuntimeError as error:
        if not str(error).startswith(("python:", "so:")):
            raise
        raise OutsideError(f"{error}{place(error.__cause__)}" if error.__cause__ else str(error)) from error


def _log(record: _core.FlowRecord, spec: EmulatorSpec, end_s: float) -> LinkLog:
    """The log of a flow. If the propagation delay varies, any excess over its first value is the link's."""
    schedule = spec.uplink.schedule()
    if spec.delay_varies:
        return LinkLog.between_ends(record, schedule, 1000 * end_s).shifted(-spec.delay_ms)
    return LinkLog.from_record(record, schedule, 1000 * end_s)
