"""Log power as a reward: ln(throughput) - w ln(delay) of an episode, relative to a reference on its path.

The logarithm of a single step is useless: at 1 Mbit/s a step delivers one packet or none. So the logarithms
are taken to first order around the reference. With a rate n and a mean delay d in a step, and N and D those
of the reference, ln(throughput) - w ln(delay) of the episode grows by

    n / N (1 + w - w d / D),

which is about 1 per step for the reference itself, on every path. A packet that is far too late reduces it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from ccgym.envs.gym.rewards import Floats, Info

LEAST_MBPS = 1e-3
LEAST_DELAY_MS = 1.0
"""Least values that stand for a silent episode and for a step without ACKs."""


@dataclass(frozen=True)
class Reference:
    """The results of a policy on one path."""

    throughput_mbps: float
    delay_ms: float
    """Mean over the packets of the RTT minus the propagation delay of the ACK path."""


class LogPower:
    """The reward of flows whose references are known."""

    def __init__(self, delay_weight: float, references: Sequence[Reference]) -> None:
        self._delay_weight = delay_weight
        self.compare_with(references)

    def compare_with(self, references: Sequence[Reference]) -> None:
        """Sets the reference of each flow."""
        self._throughput_mbps = np.array([reference.throughput_mbps for reference in references])
        self._delay_ms = np.array([reference.delay_ms for reference in references])

    def __call__(self, info: Info, _capacity_mbps: Floats, propagation_rtt_ms: Floats) -> Floats:
        """The rewards of a step, shape (flows,); 0 in a silent step."""
        lateness = _delay_ms(info, propagation_rtt_ms) / self._delay_ms - 1
        worth: Floats = info["throughput_mbps"] / self._throughput_mbps * (1 - self._delay_weight * lateness)
        return worth


class ReferenceRecorder:
    """A reward of 0 that records the results of the flows, to be references for others."""

    def __init__(self) -> None:
        self._throughputs_mbps: list[Floats] = []
        self._delays_ms: list[Floats] = []

    def __call__(self, info: Info, _capacity_mbps: Floats, propagation_rtt_ms: Floats) -> Floats:
        """Records the step; returns rewards of 0."""
        self._throughputs_mbps.append(info["throughput_mbps"])
        self._delays_ms.append(_delay_ms(info, propagation_rtt_ms))
        return np.zeros_like(propagation_rtt_ms)

    def references(self) -> list[Reference]:
        """The reference of each flow, from the steps so far."""
        throughputs_mbps, delays_ms = np.array(self._throughputs_mbps), np.array(self._delays_ms)
        means_mbps = throughputs_mbps.mean(axis=0).clip(min=LEAST_MBPS)
        means_ms = (throughputs_mbps * delays_ms).mean(axis=0) / means_mbps
        return [Reference(*figures) for figures in zip(means_mbps.tolist(), means_ms.tolist(), strict=True)]


def _delay_ms(info: Info, propagation_rtt_ms: Floats) -> Floats:
    return np.maximum(info["delay_ms"] - propagation_rtt_ms / 2, LEAST_DELAY_MS)
