"""The Kolmogorov-Smirnov test against known values, and the experiment, small, run for real."""

import json
from pathlib import Path

import numpy as np
import pytest
from ccgym.cli.main import main
from ccgym.experiments.cross_validation.tunnel_transparency import LEVEL, holm, kolmogorov_smirnov, least_runs


@pytest.mark.parametrize(
    ("first", "second", "distance", "p_value"),
    [
        ([1, 2, 3], [1, 2, 3], 0, 1),
        # Of the 20 orders of three and three, two part them wholly.
        ([1, 2, 3], [4, 5, 6], 1, 0.1),
        ([4, 5, 6], [1, 2, 3], 1, 0.1),
        # Of the 10 orders of two and three two as well.
        ([1, 2], [3, 4, 5], 1, 0.2),
        # 1 of 3 apart at most: no order is nearer.
        ([1, 3, 5], [2, 4, 6], 1 / 3, 1),
    ],
)
def test_exact_values_of_small_samples(
    first: list[float], second: list[float], distance: float, p_value: float
) -> None:
    assert kolmogorov_smirnov(first, second) == pytest.approx((distance, p_value))


def test_critical_value_of_twenty_and_twenty() -> None:
    # Tables (Smirnov 1948): for n = m = 20 the distance that p = 0.05 allows is 8/20; 9/20 is beyond it.
    samples = list(range(20))
    assert kolmogorov_smirnov(samples, [value + 8.5 - 0.5 for value in samples])[1] > 0.05
    assert kolmogorov_smirnov(samples, [value + 8.5 for value in samples])[1] < 0.05


def test_several_tests_are_held_to_account_together() -> None:
    # Holm (1979): the least of three counts three times, the next twice, and none less than one before it.
    assert holm([0.04, 0.01, 0.03]) == pytest.approx([0.06, 0.03, 0.06])
    assert holm([0.5, 0.9]) == [1, 1]
    assert holm([]) == []


def test_a_tunnel_that_changes_nothing_is_found_to_differ_no_more_often_than_stated() -> None:
    generator = np.random.default_rng(1)
    missed = 0
    for _ in range(200):
        pairs = generator.normal(size=(4, 2, 20))
        missed += min(holm([kolmogorov_smirnov(*pair)[1] for pair in pairs])) < LEVEL
    assert missed <= 54  # of 200 at 0.2: 40 at most are expected, 54 or more in one of a hundred


def test_too_few_runs_to_tell_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # Four and four wholly apart: 2 of 70 orders; four times that is below 0.2. Three and three: 2 of 20.
    assert [least_runs(tests) for tests in (1, 2, 4)] == [3, 4, 4]
    argv = ["reproduce", "tunnel-transparency", "--schemes", "kernel-cubic", "--runs", "3"]
    assert main([*argv, "--out", str(tmp_path / "out")]) == 2
    assert "--runs 3: too few to show a difference in 2 tests: 4 can" in capsys.readouterr().err


def test_experiment_runs_both_sides_and_prints_p_values(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    argv = ["reproduce", "tunnel-transparency", "--schemes", "kernel-cubic", "--runs", "5", "--seconds", "1"]
    code = main([*argv, "--out", str(out), "--json"])
    captured = capsys.readouterr()
    rows = {row["metric"]: row for row in json.loads(captured.out)}
    assert [line.split("]")[0] for line in captured.err.splitlines()] == [f"[{n}/10" for n in range(1, 11)]
    assert set(rows) == {"throughput_mbps", "p95_delay_ms"}
    for row in rows.values():
        assert (row["runs_inside"], row["runs_outside"]) == (5, 5)
        assert row["p_value"] <= row["adjusted_p"] <= 1
    throughput = rows["throughput_mbps"]
    assert throughput["inside"] == pytest.approx(throughput["outside"], rel=0.25)
    assert code == any(row["adjusted_p"] < LEVEL for row in rows.values())
