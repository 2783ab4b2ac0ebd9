"""Intervals on samples whose spread is known, and what they say of a bar."""

import numpy as np
import pytest
from ccgym.evaluation.metrics.intervals import (
    Interval,
    bootstrap_interval,
    probability_above_zero,
    share_interval,
)


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
