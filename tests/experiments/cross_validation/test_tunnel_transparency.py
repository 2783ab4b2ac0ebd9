"""The Kolmogorov-Smirnov test against known values, and the experiment, small, run for real."""

import json
from pathlib import Path

import pytest
from ccgym.cli.main import main
from ccgym.experiments.cross_validation.tunnel_transparency import kolmogorov_smirnov


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


def test_experiment_runs_both_sides_and_prints_p_values(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    argv = ["reproduce", "tunnel-transparency", "--schemes", "kernel-cubic", "--runs", "1", "--seconds", "2"]
    code = main([*argv, "--out", str(out), "--json"])
    captured = capsys.readouterr()
    rows = {row["metric"]: row for row in json.loads(captured.out)}
    assert [line.split("]")[0] for line in captured.err.splitlines()] == ["[1/2", "[2/2"]
    assert set(rows) == {"throughput_mbps", "p95_delay_ms"}
    for row in rows.values():
        assert (row["runs_inside"], row["runs_outside"]) == (1, 1)
        assert row["p_value"] == 1  # of one and one both orders are as far apart
    throughput = rows["throughput_mbps"]
    assert throughput["inside"] == pytest.approx(throughput["outside"], rel=0.25)
    assert code == 0
