"""What is known of the parameters, from figures that follow them by a formula."""

import numpy as np
import pytest
from ccgym.calibration.posterior import Measurements, Posterior, Region, posterior_of
from ccgym.calibration.target import Measured
from ccgym.envs.logs.event_log import Array

SCHEMES = 6
TRUTH = np.array([0.55, 0.4])
RUN_SPREAD = 0.05


def figures_at(places: Array, draws: int, generator: np.random.Generator) -> Array:
    """Throughput follows one parameter, delay both and more of it, the loss none."""
    throughput_mbps = 5 * np.exp(places[:, :1] + 0.2 * places[:, 1:] * np.arange(SCHEMES))
    delay_ms = 40 * np.exp(places[:, 1:] - 0.1 * places[:, :1] * np.arange(SCHEMES))
    figures = np.stack([throughput_mbps, delay_ms, np.full_like(delay_ms, 0.01)], axis=-1)
    chance = generator.normal(0, RUN_SPREAD, (len(places), draws, SCHEMES, 3)) * [1, 1, 0]
    found: Array = figures[:, None] * np.exp(chance)
    return found


def measured(odd: float = 1.0) -> list[Measured]:
    """At the truth, but that every other scheme has `odd` times the throughput and so much less delay."""
    figures = figures_at(TRUTH[None], 3, np.random.default_rng(1)).mean(axis=1)[0]
    return [
        Measured(
            f"scheme {n}", "cubic", float(mbps) * (odd if n % 2 else 1.0), float(ms), 0.01, None, None, 3
        )
        for n, (mbps, ms, _) in enumerate(figures)
    ]


def known_of(rows: list[Measured]) -> Posterior:
    """From a hundred candidates about the truth."""
    generator = np.random.default_rng(2)
    places = np.clip(TRUTH + generator.uniform(-0.3, 0.3, (100, 2)), 0, 1)
    figures = figures_at(places, 2, generator)
    region = Region(TRUTH + 0.05, np.array([0.15, 0.15]))
    return posterior_of(("rate_mbps", "delay_ms"), places, figures, region, Measurements(rows), generator)


def test_the_truth_is_found_and_lies_within_the_interval() -> None:
    posterior = known_of(measured())
    assert posterior.centre == pytest.approx(TRUTH, abs=0.05)
    for name, truth in zip(posterior.names, TRUTH, strict=True):
        low, high = posterior.interval(name, 0.9)
        assert low < truth < high < low + 0.25
    assert posterior.discrepancy <= 0.02


def test_what_no_emulator_replicates_is_said_and_widens_the_intervals() -> None:
    fitting, odd = known_of(measured()), known_of(measured(odd=2.0))
    assert odd.discrepancy > 0.1
    assert np.all(odd.deviations > fitting.deviations)


def test_without_a_scheme_the_others_decide() -> None:
    rows = measured()
    wrong = [*rows[:-1], Measured("wrong", "cubic", 50.0, 10.0, 0.01, None, None, 3)]
    places = known_of(wrong).centre_without(SCHEMES - 1)
    assert list(places.values()) == pytest.approx(TRUTH, abs=0.05)


def test_an_unknown_loss_is_not_held_against_an_emulator() -> None:
    rows = [
        Measured(row.scheme, "cubic", row.throughput_mbps, row.p95_delay_ms, None, None, None, 3)
        for row in measured()
    ]
    assert known_of(rows).centre == pytest.approx(TRUTH, abs=0.05)


def test_what_chance_moves_together_is_told_together() -> None:
    """A factor of each run multiplies throughput and delay: their ratio is known better than either."""
    generator = np.random.default_rng(3)
    places = np.clip(TRUTH + generator.uniform(-0.3, 0.3, (200, 2)), 0, 1)

    def with_a_factor(at: Array, draws: int) -> Array:
        factor = generator.normal(0, 0.3, (len(at), draws, SCHEMES))
        figures = [5 * np.exp(at[:, None, :1] + factor), 40 * np.exp(at[:, None, 1:] + factor)]
        return np.stack([*figures, np.full_like(factor, 0.01)], axis=-1)

    rows = [
        Measured(f"scheme {n}", "cubic", float(mbps), float(ms), 0.01, None, None, 3)
        for n, (mbps, ms, _) in enumerate(with_a_factor(TRUTH[None], 3).mean(axis=1)[0])
    ]
    region, names = Region(TRUTH, np.array([0.15, 0.15])), ("rate_mbps", "delay_ms")
    posterior = posterior_of(names, places, with_a_factor(places, 2), region, Measurements(rows), generator)
    ratios = posterior.points @ [1, -1]
    middle = posterior.probabilities @ ratios
    assert middle == pytest.approx(TRUTH @ [1, -1], abs=0.01)
    assert np.sqrt(posterior.probabilities @ (ratios - middle) ** 2) < posterior.deviations.min() / 2
