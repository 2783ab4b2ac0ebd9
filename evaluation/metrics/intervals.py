"""Intervals of 95 %: what a figure could as well have been, by resampling what it was made of."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

CONFIDENCE = 0.95
RESAMPLES = 2000
_SEED = 0


@dataclass(frozen=True)
class Interval:
    """From `low` to `high`."""

    low: float
    high: float

    def within(self, lowest: float, highest: float) -> bool | None:
        """Whether the figure lies between these; None: the interval does not say."""
        if self.low >= lowest and self.high <= highest:
            return True
        return False if self.high < lowest or self.low > highest else None

    def at_least(self, wanted: float) -> bool | None:
        """See `within`."""
        return self.within(wanted, np.inf)

    def at_most(self, wanted: float) -> bool | None:
        """See `within`."""
        return self.within(-np.inf, wanted)


def bootstrap_interval(values: Sequence[float], statistic: Callable[..., Any] = np.mean) -> Interval | None:
    """Of a statistic of independent values; None: there is one only, or none."""
    if len(values) < 2:
        return None
    if np.ptp(values) == 0:
        return Interval(float(values[0]), float(values[0]))
    found = _bootstrap(values, statistic).confidence_interval
    return Interval(float(found.low), float(found.high))


def share_interval(count: int, of: int) -> Interval:
    """Of a share, after `count` successes (Wilson)."""
    from scipy.stats import binomtest  # late: it takes a second

    found = binomtest(count, of).proportion_ci(CONFIDENCE, method="wilson")
    return Interval(float(found.low), float(found.high))


def probability_above_zero(differences: Sequence[float]) -> float | None:
    """That the mean of such paired differences is above 0; None: there is one only, or none."""
    if len(differences) < 2:
        return None
    if np.ptp(differences) == 0:
        return 0.5 if differences[0] == 0 else float(differences[0] > 0)
    return float(np.mean(_bootstrap(differences, np.mean).bootstrap_distribution > 0))


def _bootstrap(values: Sequence[float], statistic: Callable[..., Any]) -> Any:
    from scipy.stats import bootstrap  # late: it takes a second

    return bootstrap(
        (np.asarray(values, np.float64),),
        statistic,
        n_resamples=RESAMPLES,
        confidence_level=CONFIDENCE,
        method="percentile",
        rng=np.random.default_rng(_SEED),
    )
