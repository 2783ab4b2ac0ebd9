"""The preference's curve: when it is monotone, when it lies on another, and what the experiment prints."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from ccgym.cli.main import main
from ccgym.experiments.acceptance.preference_curve import Curve


def curve(mbps: list[list[float]], delay_ms: list[list[float]]) -> Curve:
    return Curve(np.array(mbps), np.array(delay_ms), np.ones_like(mbps))


@pytest.mark.parametrize(
    ("mbps", "delay_ms", "monotone"),
    [
        ([[10], [11], [11]], [[40], [40], [50]], True),
        ([[10], [9.95]], [[40], [41]], True),  # within 1 %
        ([[10], [9.8]], [[40], [41]], False),
        ([[10], [10]], [[40], [39.1]], True),  # within 1 ms
        ([[10], [10]], [[40], [38]], False),
        ([[10], [10]], [[400], [397]], True),  # within 1 %
        ([[10, 12], [9.8, 11.8]], [[40, 40], [40, 40]], False),  # less for every seed alike
        ([[10, 12], [9.0, 12.6]], [[40, 40], [40, 40]], True),  # less for one seed, more for another
    ],
)
def test_a_curve_is_monotone_but_for_noise(
    mbps: list[list[float]], delay_ms: list[list[float]], monotone: bool
) -> None:
    assert curve(mbps, delay_ms).is_monotone is monotone


def test_a_curve_is_compared_at_the_same_delay() -> None:
    rival = curve([[5], [10], [9]], [[20], [40], [60]])
    assert rival.mbps_within(np.array([20.0, 30, 40, 50, 100])) == pytest.approx([5, 7.5, 10, 10, 10])
    ours = curve([[0.1], [7.45], [7.0], [9.0]], [[19], [31], [31], [100]])
    assert ours.above(rival).tolist() == [True, True, False, False]
    assert ours.shortfall(rival)[1:] == pytest.approx([1 - 7.45 / 7.5, 1 - 7.0 / 7.5, 0.1])


def test_the_experiment_runs_all_three_and_checks_them(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["reproduce", "preference-curve", "--random", "1", "--seeds", "1", "--json"])
    measured = json.loads(capsys.readouterr().out)
    (row,) = measured["rows"]
    assert [len(row[name]["p95_delay_ms"]) for name in ("preference", "copa", "fixed")] == [6, 8, 9]
    # One emulator may refute a promise; it cannot hold one.
    assert [check["met"] for check in measured["checks"]] == [
        None if held else False for held in (row["monotone"], all(row["above_copa"]), all(row["above_fixed"]))
    ]
    assert code == 1


def test_a_policy_without_a_preference_is_refused(
    write_policy: Callable[..., Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    policy = write_policy(tmp_path / "still.safetensors")
    assert main(["reproduce", "preference-curve", "--scheme", f"policy:{policy}"]) == 2
    assert "this policy has no preference" in capsys.readouterr().err
    assert main(["reproduce", "preference-curve", "--scheme", "copa"]) == 2
    assert "not a policy" in capsys.readouterr().err
