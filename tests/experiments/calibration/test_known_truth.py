"""An emulator that is known is found again from what it measured alone."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from ccgym.calibration.candidate import Candidate, Restriction, space_of
from ccgym.calibration.replication import Replicator, measured_figures, scores, sureness
from ccgym.experiments.calibration.known_truth import SCHEMES, draws_of, measured_over, random_truth, recover

TRUTH = Candidate(3.0, 25, 40, 0.0, "constant")


@pytest.mark.slow
def test_a_known_emulator_is_found_again(tmp_path: Path) -> None:
    recovery = recover(TRUTH, tmp_path / "search", minutes=30, seed=0)  # it ends by itself, long before
    assert recovery.rate_met, recovery.answer.candidate
    assert recovery.delay_met, recovery.answer.candidate
    assert recovery.queue_met, recovery.answer.candidate
    assert recovery.loss_met, recovery.answer.candidate
    assert recovery.answer.candidate.arrivals == TRUTH.arrivals
    assert all(each.error < 0.05 for each in recovery.held_out)


def test_each_truth_is_measured_and_validated_with_draws_of_its_own() -> None:
    ranges = [draws for seed in (*range(20), 10**18 - 1) for draws in draws_of(seed)]
    assert len(set().union(*ranges)) == sum(map(len, ranges))
    assert draws_of(7) == draws_of(7)
    assert all(draws.stop <= 2**63 for draws in ranges)


def test_the_true_emulator_has_a_low_score() -> None:
    with ThreadPoolExecutor(2) as executor:
        target = measured_over(TRUTH, SCHEMES, range(50, 53), executor)
        replicated = Replicator(target, executor).replicate(TRUTH, range(3))
    measured = measured_figures(target.measured)
    assert scores(replicated, measured, sureness(target.measured)).mean() < 0.03


def test_the_bounds_of_the_search_hold_the_true_emulator() -> None:
    with ThreadPoolExecutor(2) as executor:
        for seed in range(6):
            truth = random_truth(seed)
            space = space_of(measured_over(truth, SCHEMES, range(50, 53), executor), Restriction())
            for name in truth.parameters:
                bounds = space.bounds[name]
                assert bounds.low <= getattr(truth, name) <= bounds.high, (truth, name)
