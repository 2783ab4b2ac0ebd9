"""What the error of an emulator is made of."""

import math

import numpy as np
import pytest
from ccgym.calibration.replication import chance_errors, measured_figures, scheme_errors
from ccgym.calibration.target import Run, means


def test_a_perfect_emulator_has_the_error_of_chance() -> None:
    generator = np.random.default_rng(1)
    found, expected = [], []
    for _ in range(300):
        figures = generator.normal([10, 100], [2, 10], (8, 2))
        measured = means(
            [Run("copa", float(rate), float(delay), None) for rate, delay in figures], {"copa": "copa"}
        )
        truth = np.array([[[10.0, 100.0, 0.0]]])
        found.append(float(scheme_errors(truth, measured_figures(measured))[0]))
        expected.append(float(chance_errors(measured)[0]))
    assert np.mean(found) == pytest.approx(np.mean(expected), rel=0.15)
    assert np.mean(expected) == pytest.approx(
        math.sqrt(2 / math.pi) * (0.2 + 0.1) / 2 / math.sqrt(8), rel=0.1
    )


def test_of_a_single_run_nobody_knows_how_much_is_chance() -> None:
    (row,) = means([Run("copa", 1.0, 20.0, None)], {"copa": "copa"})
    assert chance_errors([row])[0] == 0
