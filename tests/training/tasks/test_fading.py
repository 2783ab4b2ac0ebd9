"""Fading links: drawn from a seed, as unsteady as recordings of cellular links."""

import numpy as np
import pytest
from ccgym.envs.specs.emulators import LinkSpec
from ccgym.envs.specs.splits import Split
from ccgym.training.tasks.fading import fading_emulators
from numpy.typing import NDArray

WINDOW_MS = 40


def deliveries(link: LinkSpec) -> NDArray[np.float64]:
    """Opportunities in each 40 ms."""
    times_ms = link.schedule().opportunities_ms().astype(np.int64)
    return np.bincount(times_ms // WINDOW_MS, minlength=round(1e3 * link.period_s) // WINDOW_MS).astype(float)


def test_same_seed_draws_alike_and_a_longer_list_begins_with_the_shorter() -> None:
    assert fading_emulators(3, 5, Split.TRAIN) == fading_emulators(6, 5, Split.TRAIN)[:3]
    assert fading_emulators(3, 5, Split.TRAIN) != fading_emulators(3, 6, Split.TRAIN)


def test_links_vary_and_some_have_short_queues_and_fading_acks() -> None:
    specs = fading_emulators(40, 1, Split.TRAIN)
    assert all(spec.uplink.varies for spec in specs)
    limited = [spec.uplink.queue_packets for spec in specs if np.isfinite(spec.uplink.queue_packets)]
    assert 2 <= len(limited) <= 16
    assert min(limited) >= 4
    assert 8 <= sum(spec.downlink.varies for spec in specs) <= 26


def test_mean_rates_span_their_range() -> None:
    """Of a fading link, 0.5 to 60 Mbit/s, log-uniform; a link's own mean is a little off by chance."""
    means_mbps = [spec.uplink.schedule().mean_rate_mbps for spec in fading_emulators(60, 2, Split.TRAIN)]
    assert 0.4 <= min(means_mbps) < 1
    assert 30 < max(means_mbps) <= 70
    assert np.median(np.log(means_mbps)) == pytest.approx(np.log(0.5 * 60) / 2, abs=0.6)


def test_rates_are_as_unsteady_as_recorded_ones() -> None:
    """Facts of six recordings: from one 40 ms to the next a factor of 1.2 to 1.6 at the median; 1 to 23 %
    of them deliver nothing."""
    fast = [
        counts
        for counts in (deliveries(spec.uplink) for spec in fading_emulators(60, 3, Split.TRAIN))
        if counts.mean() > 10  # below that chance alone makes the difference
    ]
    steps = [np.median(np.abs(np.diff(np.log(counts + 0.5)))) for counts in fast]
    assert np.exp(np.percentile(steps, 10)) < 1.25
    assert np.exp(np.percentile(steps, 90)) > 1.4
    idle = [float(np.mean(counts == 0)) for counts in fast]
    assert np.percentile(idle, 20) < 0.02
    assert 0.1 < np.percentile(idle, 90) < 0.5
