"""Flows that share a bottleneck in training: when they begin and end, and their fair shares."""

from dataclasses import dataclass

import numpy as np
from ccgym.envs import _core
from ccgym.envs.specs.emulators import EmulatorSpec
from ccgym.oracle.ideal import STEP_MS, shared_windows
from numpy.typing import NDArray

MOST_FLOWS = 10
LATEST_START = 0.5
EARLIEST_STOP = 0.6
"""Shares of the rollout's length: a flow begins before the one and ends after the other, if at all."""
MOST_EXTRA_DELAY = 1.0
"""Of the path's own delay, one way, that some flows have on top."""
EXTRA_DELAY_SHARE = 0.3
"""Paths whose flows differ in delay."""
RIVAL = "cubic"
RIVAL_SHARE = 0.3
"""Paths on which one more flow fills the queue, where that is no longer than MOST_CONTESTED_PACKETS."""
MOST_CONTESTED_PACKETS = 2000
STAYING_SHARE = 0.5
"""Flows that are there from the beginning to the end."""


@dataclass(frozen=True)
class Sharing:
    """The learners of one path."""

    start_s: NDArray[np.float64]
    stop_s: NDArray[np.float64]
    extra_delay_ms: NDArray[np.float64]
    rival: str | None
    """Scheme of one more flow that fills every queue, from the beginning to the end; None: no such flow."""

    def __len__(self) -> int:
        return len(self.start_s)

    def flows(self) -> list[_core.Flow]:
        """As a path of the twin takes them."""
        learners = [
            _core.Flow(start_s=start, stop_s=stop, extra_delay_ms=extra)
            for start, stop, extra in zip(self.start_s, self.stop_s, self.extra_delay_ms, strict=True)
        ]
        return learners + ([] if self.rival is None else [_core.Flow(self.rival)])

    def ideal_windows(self, spec: EmulatorSpec, preference: float, steps: int) -> NDArray[np.float64]:
        """Fair shares in packets, (flows, steps), by the path's time."""
        now_s = (np.arange(steps) + 0.5) * STEP_MS / 1e3
        present = (self.start_s[:, None] <= now_s) & (now_s < self.stop_s[:, None])
        others = 0 if self.rival is None else 1
        flows = present.sum(axis=0).clip(min=1) + others
        return shared_windows(spec, preference, flows, self.extra_delay_ms, contested=others > 0)


def draw_sharing(count: int, spec: EmulatorSpec, seconds: float, generator: np.random.Generator) -> Sharing:
    """`count` flows over `spec`, at least one of them from the beginning to the end."""
    staying = generator.random(count) < STAYING_SHARE
    staying[0] = True
    starts = np.where(staying, 0.0, generator.uniform(0, LATEST_START * seconds, count))
    stops = np.where(staying, np.inf, generator.uniform(EARLIEST_STOP * seconds, 1.5 * seconds, count))
    differ = generator.random() < EXTRA_DELAY_SHARE
    extra_ms = np.floor(generator.uniform(0, MOST_EXTRA_DELAY * spec.delay_ms * differ, count))
    contested = generator.random() < RIVAL_SHARE and spec.uplink.queue_packets <= MOST_CONTESTED_PACKETS
    return Sharing(starts, stops, extra_ms, RIVAL if contested else None)
