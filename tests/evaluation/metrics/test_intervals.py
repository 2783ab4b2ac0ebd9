"""Intervals on samples whose spread is known, how often they hold the truth, and what they say of a bar."""

from collections.abc import Callable

import numpy as np
import pytest
from ccgym.evaluation.metrics.intervals import (
    CONFIDENCE,
    FEWEST_PAIRS,
    Interval,
    mean_interval,
    median_interval,
    probability_above_zero,
    share_interval,
)
from numpy.typing import NDArray

SAMPLES = 400
"""Of each coverage: its standard error is 1.1 points at 95 %."""


def test_the_interval_of_a_mean_is_about_two_standard_errors() -> None:
    values = np.random.default_rng(1).normal(10, 3, 400)
    interval = mean_interval(values.tolist())
    assert interval is not None
    assert interval.high - interval.low == pytest.approx(4 * 3 / 20, rel=0.15)
    assert interval.low < values.mean() < interval.high


def test_one_value_has_no_interval_and_equal_ones_have_no_width() -> None:
    assert mean_interval([3.0]) is None
    assert mean_interval([3.0, 3.0, 3.0]) == Interval(3.0, 3.0)


def coverage(
    interval_of: Callable[[list[float]], Interval | None], samples: NDArray[np.float64], truth: float
) -> float:
    found = [interval_of(sample) for sample in samples.tolist()]
    return float(np.mean([each is not None and each.low <= truth <= each.high for each in found]))


@pytest.mark.parametrize("values", [2, 3, 5, 8, 30])
def test_an_interval_of_few_values_holds_the_mean_19_times_in_20(values: int) -> None:
    samples = np.random.default_rng(values).normal(1, 2, (SAMPLES, values))
    assert coverage(mean_interval, samples, 1) == pytest.approx(0.95, abs=0.03)


@pytest.mark.parametrize("values", [6, 9, 20])
@pytest.mark.parametrize("draw", ["normal", "exponential"])
def test_an_interval_of_a_median_holds_it_19_times_in_20_at_least(values: int, draw: str) -> None:
    generator = np.random.default_rng(values)
    samples = getattr(generator, draw)(size=(SAMPLES, values))
    truth = 0 if draw == "normal" else np.log(2)
    assert coverage(median_interval, samples, truth) >= 0.93


def test_a_median_of_fewer_than_six_values_has_no_interval() -> None:
    assert median_interval([1.0, 2.0, 3.0, 4.0, 5.0]) is None
    assert median_interval([]) is None
    assert median_interval([6.0, 1.0, 2.0, 3.0, 4.0, 5.0]) == Interval(1, 6)


def test_intervals_of_a_skewed_mean_hold_it_93_times_in_100() -> None:
    samples = np.random.default_rng(2).exponential(1.0, (SAMPLES, 60))
    assert coverage(mean_interval, samples, 1) == pytest.approx(0.93, abs=0.03)


def test_a_bound_is_met_missed_or_unsure_by_the_whole_interval() -> None:
    assert share_interval(200, 200).at_least(0.95) is True
    assert share_interval(192, 200).at_least(0.95) is None
    assert share_interval(150, 200).at_least(0.95) is False
    assert Interval(-3, -1).at_most(0) is True
    assert Interval(0.3, 0.8).within(0.25, 0.75) is None
    assert Interval(-0.1, 1.2).clipped(0, 1) == Interval(0, 1)


def test_the_interval_of_a_share_is_that_of_scipy() -> None:
    from scipy.stats import binomtest  # late: it takes a second, for which the product does without

    for of in (*range(1, 31), 100, 1000, 100_000):
        for count in {0, 1, of // 3, of // 2, of - 1, of}:
            theirs = binomtest(count, of).proportion_ci(CONFIDENCE, method="wilson")
            ours = share_interval(count, of)
            assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=1e-12), (count, of)
            assert 0 <= ours.low <= count / of <= ours.high <= 1


def test_paired_differences_tell_how_sure_an_order_is() -> None:
    noise = np.random.default_rng(3).normal(0, 1, 50)
    assert probability_above_zero((noise + 2).tolist()) == pytest.approx(1)
    assert probability_above_zero((noise - noise.mean()).tolist()) == pytest.approx(0.5)
    # t = mean / (s / sqrt(n)) = 1 / (sqrt(2.5) / sqrt(5)) = sqrt(2), 4 degrees of freedom.
    assert probability_above_zero([-1.0, 0.0, 1.0, 2.0, 3.0]) == pytest.approx(0.885, abs=1e-3)


def test_few_pairs_give_no_probability_of_an_order() -> None:
    few = [0.1, 0.2, 0.3, 0.4]
    assert len(few) < FEWEST_PAIRS
    assert probability_above_zero(few) is None
