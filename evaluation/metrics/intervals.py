"""Intervals of 95 %: what a figure could as well have been, by resampling what it was made of."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
    low, high = np.quantile(_resampled(values, statistic), [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return Interval(float(low), float(high))


def share_interval(count: int, of: int) -> Interval:
    """Of a share, after `count` successes (Wilson)."""
    z, share = NormalDist().inv_cdf((1 + CONFIDENCE) / 2), count / of
    middle = (share + z * z / (2 * of)) / (1 + z * z / of)
    half = z * sqrt(share * (1 - share) / of + z * z / (4 * of * of)) / (1 + z * z / of)
    return Interval(0.0 if count == 0 else middle - half, 1.0 if count == of else middle + half)


def probability_above_zero(differences: Sequence[float]) -> float | None:
    """That the mean of such paired differences is above 0; None: there is one only, or none."""
    if len(differences) < 2:
        return None
    if np.ptp(differences) == 0:
        return 0.5 if differences[0] == 0 else float(differences[0] > 0)
    return float(np.mean(_resampled(differences, np.mean) > 0))


def _resampled(values: Sequence[float], statistic: Callable[..., Any]) -> NDArray[np.float64]:
    """The statistic of each resample; as scipy.stats, whose import takes longer than most evaluations."""
    sample = np.asarray(values, np.float64)
    drawn = np.random.default_rng(_SEED).integers(0, len(sample), (RESAMPLES, len(sample)))
    resampled: NDArray[np.float64] = statistic(sample[drawn], axis=-1)
    return resampled
