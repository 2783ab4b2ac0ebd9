"""Whether a flow in real shells was answered to its end.

Where its receiver, or the way to it or back, is gone, a flow sends a packet now and then, after ever longer
times. What it has of the link is then no figure of its scheme.
"""

import numpy as np
from ccgym.envs.logs.link_log import LinkLog
from ccgym.envs.specs.emulator_spec import EmulatorSpec

_ROUNDING_MS = 2.0
"""Both logs show whole ms."""
_STALL_MS = 500.0
"""A crowded machine is late by less."""
_CHANCE = 1e-9
"""That the losses which the spec asks for take so many packets, or their answers, in a row."""


def broken_off(data: LinkLog, answers: LinkLog, spec: EmulatorSpec) -> str | None:
    """Says from when on nothing was answered, though packets left the link; None: all is well.

    Args:
        data: mm-link's log of the direction of the data.
        answers: its log of the other one.
        spec: what the shells are; where loss comes in spells nothing can be said.
    """
    if spec.uplink.onoff or spec.downlink.onoff:
        return None
    answered_ms = _last_answer_ms(data, answers)
    end_ms = float(data.opportunity_ms.max(initial=0.0)) - _STALL_MS
    due_ms = data.departure_ms + 2 * spec.delay_ms
    unanswered = int(np.count_nonzero((due_ms > answered_ms + _ROUNDING_MS) & (due_ms < end_ms)))
    loss = 1 - (1 - spec.uplink.loss) * (1 - spec.downlink.loss)
    if end_ms - answered_ms < _STALL_MS or unanswered == 0 or loss**unanswered > _CHANCE:
        return None
    since_s = answered_ms / 1000
    return f"nothing was answered from {since_s:.1f} s on, though {unanswered} packets left the link"


def _last_answer_ms(data: LinkLog, answers: LinkLog) -> float:
    """On the clock of the data; 0: there is none."""
    assert data.header is not None
    assert answers.header is not None
    apart_ms = answers.header.init_timestamp_ms - data.header.init_timestamp_ms
    return float((answers.arrival_ms + apart_ms).max(initial=0.0))
