"""Log power as a reward: ln(throughput) - w ln(delay) of an episode, beside a reference on the same path.

A step alone has no logarithm worth the name: at 1 Mbit/s it delivers one packet or none. So the logarithms
are taken to first order around the reference. With a rate n and a mean delay d in a step, N and D those of
the reference, ln(throughput) - w ln(delay) of the episode grows by

    n / N (1 + w - w d / D),

by about 1 per step for the reference itself, on every path. A packet far too late does harm.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from ccgym.envs.gym.rewards import Floats, Info

LEAST_MBPS = 1e-3
LEAST_DELAY_MS = 1.0
"""What a silent episode counts as, and a step without ACKs."""


@dataclass(frozen=True)
class Reference:
    """What a policy reaches on one path."""

    throughput_mbps: float
    delay_ms: float
    """Mean over the packets, from the sender to the ACK, less the propagation of the way back."""


class LogPower:
    """The reward of flows whose references are known."""

    def __init__(self, delay_weight: float, references: Sequence[Reference]) -> None:
        self._delay_weight = delay_weight
        self.compare_with(references)

    def compare_with(self, references: Sequence[Reference]) -> None:
        """The reference of each flow from now on."""
        self._throughput_mbps = np.array([reference.throughput_mbps for reference in references])
        self._delay_ms = np.array([reference.delay_ms for reference in references])

    def __call__(self, info: Info, _capacity_mbps: Floats, propagation_rtt_ms: Floats) -> Floats:
        """What a step is worth; nothing in a silent one."""
        lateness = _delay_ms(info, propagation_rtt_ms) / self._delay_ms - 1
        worth: Floats = info["throughput_mbps"] / self._throughput_mbps * (1 - self._delay_weight * lateness)
        return worth


class ReferenceRecorder:
    """A reward of nothing, which records what flows reach: the references of others."""

    def __init__(self) -> None:
        self._throughputs_mbps: list[Floats] = []
        self._delays_ms: list[Floats] = []

    def __call__(self, info: Info, _capacity_mbps: Floats, propagation_rtt_ms: Floats) -> Floats:
        """Nothing."""
        self._throughputs_mbps.append(info["throughput_mbps"])
        self._delays_ms.append(_delay_ms(info, propagation_rtt_ms))
        return np.zeros_like(propagation_rtt_ms)

    def references(self) -> list[Reference]:
        """Of each flow, what has been seen so far."""
        throughputs_mbps, delays_ms = np.array(self._throughputs_mbps), np.array(self._delays_ms)
        means_mbps = throughputs_mbps.mean(axis=0).clip(min=LEAST_MBPS)
        means_ms = (throughputs_mbps * delays_ms).mean(axis=0) / means_mbps
        return [Reference(*figures) for figures in zip(means_mbps.tolist(), means_ms.tolist(), strict=True)]


def _delay_ms(info: Info, propagation_rtt_ms: Floats) -> Floats:
    return np.maximum(info["delay_ms"] - propagation_rtt_ms / 2, LEAST_DELAY_MS)
