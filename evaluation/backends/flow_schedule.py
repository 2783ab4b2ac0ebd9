"""Starting the flows of a run in their turns, in real time, and seeing them through."""

import time
from collections.abc import Callable

from ccgym.envs.errors import OutsideError
from ccgym.envs.host.process_group import ProcessGroup

from .backend import Flow
from .programs import FlowPrograms

SETTLING_S = 2.0
"""What is cut off flies so much longer than asked: handshakes do not shorten the flow that is measured."""
OVERRUN_S = 15.0
"""How much later than asked a flow that ends by itself may end."""
_POLL_S = 0.05


def run_flows(flows: list[Flow], programs: list[FlowPrograms], start: Callable[[int], ProcessGroup]) -> None:
    """Starts each flow when its time has come; returns when all have had theirs, the last ones cut off.

    Args:
        flows: in the order in which they begin.
        programs: of each flow.
        start: starts the caller of the flow of this index.

    Raises:
        OutsideError: a caller failed, ended early or does not end; says which flow and why.
    """
    callers: list[ProcessGroup] = []
    began = time.monotonic()
    for index, flow in enumerate(flows):
        _wait(began + flow.start_s, flows, programs, callers)
        callers.append(start(index))
    _wait(began + max(flow.start_s + flow.seconds for flow in flows) + SETTLING_S, flows, programs, callers)
    for flow, each, caller in zip(flows, programs, callers, strict=True):
        if not each.ends_itself:
            caller.stop()
        elif caller.wait(OVERRUN_S) != 0:
            raise OutsideError(f"{flow.scheme.label} failed: {caller.complaint()}")


def _wait(until: float, flows: list[Flow], programs: list[FlowPrograms], callers: list[ProcessGroup]) -> None:
    while (left_s := until - time.monotonic()) > 0:
        for number, (flow, each, caller) in enumerate(zip(flows, programs, callers, strict=False), 1):
            code = caller.returncode
            if code is not None and not (each.ends_itself and code == 0):
                raise OutsideError(f"flow {number}, {flow.scheme.label}, ended early: {caller.complaint()}")
        time.sleep(min(left_s, _POLL_S))
