"""Checks that a flow in real shells received ACKs until its end.

If the receiver, or the path to it or back, is gone, the flow only sends a packet now and then, at ever longer
intervals. Its share of the link is then no figure of its scheme.
"""

import numpy as np
from ccgym.envs.logs.link_log import LinkLog
from ccgym.envs.specs.emulator_spec import EmulatorSpec

_ROUNDING_MS = 2.0
"""Both logs show whole ms."""
_STALL_MS = 500.0
"""A crowded machine is late by less."""
_CHANCE = 1e-9
"""Below this probability the spec's random loss does not explain so many unanswered packets in a row."""


def broken_off(data: LinkLog, answers: LinkLog, spec: EmulatorSpec) -> str | None:
    """Says from when on no packet was answered, though packets left the link; None: all is well.

    Args:
        data: mm-link's log of the direction of the data.
        answers: mm-link's log of the other direction.
        spec: the emulator; with on-off loss nothing can be said, and the answer is None.
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
    """When the last answer arrived, in ms on the clock of the data log; 0: there was none."""
    assert data.header is not None
    assert answers.header is not None
    apart_ms = answers.header.init_timestamp_ms - data.header.init_timestamp_ms
    return float((answers.arrival_ms + apart_ms).max(initial=0.0))
