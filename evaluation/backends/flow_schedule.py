"""Starts the flows of a run one after the other, in real time, and waits for their end."""

import time
from collections.abc import Callable

from ccgym.envs.errors import OutsideError
from ccgym.envs.host.process_group import ProcessGroup

from .backend import PlannedFlow
from .programs import FlowPrograms

SETTLING_S = 2.0
"""How much longer than asked a flow runs before it is cut off, so that handshakes do not shorten it."""
OVERRUN_S = 15.0
"""How much later than asked a flow may end if it ends by itself."""
_POLL_S = 0.05


def run_flows(
    flows: list[PlannedFlow], programs: list[FlowPrograms], start: Callable[[int], ProcessGroup]
) -> None:
    """Starts each flow at its time; returns when all are over, the last ones cut off.

    Args:
        flows: in the order in which they begin.
        programs: those of each flow.
        start: starts the caller of the flow with this index.

    Raises:
        OutsideError: a caller failed, ended early or does not end; says which flow and why.
    """
    _Schedule(flows, programs).run(start)


class _Schedule:
    def __init__(self, flows: list[PlannedFlow], programs: list[FlowPrograms]) -> None:
        self._flows = flows
        self._programs = programs
        self._callers: list[ProcessGroup] = []
        self._cut_off: set[int] = set()
        self._began_s = time.monotonic()
        self._end_s = max(map(_end_s, flows))

    def run(self, start: Callable[[int], ProcessGroup]) -> None:
        for index, flow in enumerate(self._flows):
            self._wait(flow.start_s)
            self._callers.append(start(index))
        self._wait(self._end_s + SETTLING_S)
        for flow, each, caller in zip(self._flows, self._programs, self._callers, strict=True):
            if each.ends_itself:
                _await_end(flow, caller)
            else:
                caller.stop()

    def _wait(self, until_s: float) -> None:
        while (left_s := self._began_s + until_s - time.monotonic()) > 0:
            for index in set(range(len(self._callers))) - self._cut_off:
                self._check(index)
            time.sleep(min(left_s, _POLL_S))

    def _check(self, index: int) -> None:
        """Raises OutsideError if a flow ended early; cuts it off if its time is over."""
        flow, each, caller = self._flows[index], self._programs[index], self._callers[index]
        code = caller.returncode
        if code is not None and not (each.ends_itself and code == 0):
            raise OutsideError(f"flow {index + 1}, {flow.scheme.label}, ended early: {caller.complaint()}")
        over = time.monotonic() >= self._began_s + _end_s(flow)
        if over and _end_s(flow) < self._end_s and not each.ends_itself:
            caller.stop()
            self._cut_off.add(index)


def _await_end(flow: PlannedFlow, caller: ProcessGroup) -> None:
    try:
        code = caller.wait(OVERRUN_S)
    except OutsideError as error:
        raise OutsideError(f"{flow.scheme.label}: {error}") from None
    if code != 0:
        raise OutsideError(f"{flow.scheme.label} failed: {caller.complaint()}")


def _end_s(flow: PlannedFlow) -> float:
    return flow.start_s + flow.seconds
