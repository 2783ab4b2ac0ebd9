"""Several draws of each link, for figures that vary between runs over one link, and their intervals."""

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import numpy as np
from ccgym.envs.logs.flow_metrics import FlowMetrics
from ccgym.envs.specs.emulators import EmulatorSpec
from ccgym.evaluation.metrics.intervals import Interval, mean_interval
from ccgym.training.rollouts import run_as_drawn

SECONDS = 30.0
DRAWS = 16
"""Draws of each link. Each begins at another place of the link's schedule, with other losses and stalls.

With five draws, the intervals of the delay on recorded cellular links reach half of the delay to either side,
which is too wide to decide anything.
"""

Link = TypeVar("Link")
Measured = TypeVar("Measured")
Run = Callable[[str], FlowMetrics]
"""Runs a scheme over one draw of a link and returns its metrics."""


@dataclass(frozen=True)
class Draws:
    """The draws that follow from a seed."""

    seed: int
    executor: Executor

    def seed_of(self, draw: int) -> int:
        """The seed of one draw."""
        return self.seed + draw

    def by_draw(
        self, measure: Callable[[int, Link], Measured], links: Sequence[Link]
    ) -> list[list[Measured]]:
        """The figures by draw, each a list with the figure of each link."""
        pairs = [(draw, link) for draw in range(DRAWS) for link in links]
        figures = list(self.executor.map(lambda pair: measure(*pair), pairs))
        return [figures[draw * len(links) : (draw + 1) * len(links)] for draw in range(DRAWS)]

    def run(self, spec: EmulatorSpec, draw: int, *, jitter: bool = False) -> Run:
        """A function that runs a scheme over one draw of a link, with the same losses and stalls for all."""
        seed = self.seed_of(draw)
        return partial(run_as_drawn, spec.drawn(seed), seconds=SECONDS, jitter=jitter, seed=seed)


def beside(right: str, scheme: str, run: Run) -> tuple[float, float]:
    """Throughput and p95 delay of a scheme, as shares of those of `right`; see `compared`."""
    (ours_mbps, ours_ms), (rights_mbps, rights_ms) = run(scheme).compared, run(right).compared
    return ours_mbps / rights_mbps, ours_ms / rights_ms


def worst(ratios: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The least throughput and the longest delay of all ratios."""
    return min(share for share, _ in ratios), max(times for _, times in ratios)


def fixed_of_utilisation(run: Run, utilisation: float) -> FlowMetrics:
    """The metrics of the smallest fixed window that reaches this utilisation."""
    low, high = 2, 4
    while run(f"fixed:{high}").utilisation < utilisation and high < 10_000:
        low, high = high, 2 * high
    while high - low > max(1, low // 50):
        middle = (low + high) // 2
        low, high = (low, middle) if run(f"fixed:{middle}").utilisation >= utilisation else (middle, high)
    return run(f"fixed:{high}")


def interval_of(by_draw: Sequence[float]) -> Interval:
    """Interval of the mean over the draws."""
    interval = mean_interval(by_draw)
    assert interval is not None, "DRAWS is more than one"
    return interval


def text_of(by_draw: Sequence[float], form: str = ".1f") -> str:
    """The mean over the draws with its interval, as text."""
    interval = interval_of(by_draw)
    return f"{np.mean(by_draw):{form}} ({interval.low:{form}} to {interval.high:{form}})"
