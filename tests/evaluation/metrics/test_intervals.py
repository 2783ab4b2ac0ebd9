"""Intervals on samples whose spread is known, and what they say of a bar."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from ccgym.evaluation.metrics.intervals import (
    Interval,
    bootstrap_interval,
    probability_above_zero,
    share_interval,
)
from scipy.stats import binomtest, bootstrap


def test_the_interval_of_a_mean_is_about_two_standard_errors() -> None:
    values = np.random.default_rng(1).normal(10, 3, 400)
    interval = bootstrap_interval(values.tolist())
    assert interval is not None
    assert interval.high - interval.low == pytest.approx(4 * 3 / 20, rel=0.15)
    assert interval.low < values.mean() < interval.high
    assert bootstrap_interval(values.tolist()) == interval, "the same values, the same interval"


def test_one_value_has_no_interval_and_equal_ones_have_no_width() -> None:
    assert bootstrap_interval([3.0]) is None
    assert bootstrap_interval([3.0, 3.0, 3.0]) == Interval(3.0, 3.0)


def test_an_interval_covers_what_it_is_of_19_times_in_20() -> None:
    generator = np.random.default_rng(2)
    samples = [bootstrap_interval(generator.exponential(1.0, 60).tolist()) for _ in range(200)]
    covered = sum(each is not None and each.low <= 1 <= each.high for each in samples)
    assert 175 <= covered <= 199


@pytest.mark.parametrize("statistic", [np.mean, np.median])
@pytest.mark.parametrize("count", [2, 3, 20, 500])
def test_resampling_gives_what_scipy_gives(count: int, statistic: Callable[..., Any]) -> None:
    values = np.random.default_rng(count).lognormal(0, 1, count)
    theirs = bootstrap(
        (values,), statistic, n_resamples=2000, method="percentile", rng=np.random.default_rng(0)
    )
    ours = bootstrap_interval(values.tolist(), statistic)
    assert ours is not None
    assert (ours.low, ours.high) == pytest.approx(tuple(theirs.confidence_interval), rel=1e-12)
    above = np.mean(bootstrap((values - 1,), np.mean, n_resamples=2000, rng=np.random.default_rng(0),
                              method="percentile").bootstrap_distribution > 0)  # fmt: skip
    assert probability_above_zero((values - 1).tolist()) == above


@pytest.mark.parametrize(("count", "of"), [(0, 1), (1, 1), (1, 2), (192, 200), (200, 200), (0, 7)])
def test_a_share_has_the_interval_of_scipy(count: int, of: int) -> None:
    theirs = binomtest(count, of).proportion_ci(0.95, method="wilson")
    ours = share_interval(count, of)
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), rel=1e-12, abs=1e-12)


def test_a_bar_is_held_missed_or_not_sure() -> None:
    assert share_interval(200, 200).at_least(0.95) is True
    assert share_interval(192, 200).at_least(0.95) is None
    assert share_interval(150, 200).at_least(0.95) is False
    assert Interval(-3, -1).at_most(0) is True
    assert Interval(0.3, 0.8).within(0.25, 0.75) is None


def test_paired_differences_tell_how_sure_an_order_is() -> None:
    noise = np.random.default_rng(3).normal(0, 1, 50)
    assert probability_above_zero((noise + 2).tolist()) == 1.0
    unsure = probability_above_zero((noise - noise.mean()).tolist())
    assert unsure is not None
    assert 0.4 < unsure < 0.6
    assert probability_above_zero([0.1]) is None
