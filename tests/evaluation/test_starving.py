"""A flow that starves is a result: throughput near 0, delays of what came through, else none."""

import csv
import json
import math
from pathlib import Path

import pytest
from ccgym.cli.main import main
from ccgym.envs.logs.flow_metrics import STARVED_DELAY_MS, STARVED_MBPS
from ccgym.evaluation.metrics.results import load_evaluation

pytestmark = pytest.mark.slow
LINKS = """emulators:
  - {name: silent, delay_ms: 10, uplink: {rate_mbps: 0.00021}}
  - {name: deaf, delay_ms: 10, uplink: {rate_mbps: 5}, downlink: {rate_mbps: 5, loss: 0.999}}
  - {name: good, delay_ms: 10, uplink: {rate_mbps: 5}}
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An evaluation with logs, and the same with figures only."""
    place = tmp_path_factory.mktemp("evaluation")
    (place / "links.yaml").write_text(LINKS)
    words = ["eval", "--schemes", "copa,copa+reno", "--emulators", f"file:{place}/links.yaml"]
    words += ["--seconds", "5", "--runs", "2", "--out"]
    assert main([*words, str(place / "logs")]) == 0
    assert main([*words, str(place / "figures"), "--no-logs"]) == 0
    return place


def test_a_flow_that_delivers_nothing_has_throughput_0_and_no_delay(place: Path) -> None:
    summary = json.loads((place / "logs" / "summary.json").read_text())
    assert not summary["failures"]
    silent = [row for row in summary["scenarios"][0]["schemes"] if row["scheme"] == "copa"]
    assert [(row["throughput_mbps"], row["p95_delay_ms"]) for row in silent] == [(0, None), (0, None)]


def test_a_flow_that_falls_silent_is_measured_over_the_whole_run(place: Path) -> None:
    (scenario,) = [each for each in load_evaluation(place / "logs").scenarios if each.label == "links/deaf"]
    runs = [run for run in scenario.runs if run.scheme == "copa"]
    assert len(runs) == 2
    for run in runs:
        assert run.total.duration_ms == 5000
        assert run.total.throughput_mbps < 0.1
        assert run.total.capacity_mbps == pytest.approx(5, rel=0.01)


def test_summaries_are_the_same_with_and_without_logs(place: Path) -> None:
    summaries = [json.loads((place / name / "summary.json").read_text()) for name in ("logs", "figures")]
    assert summaries[0]["scenarios"] == summaries[1]["scenarios"]
    assert summaries[0]["table"] == summaries[1]["table"]


def test_a_scheme_that_starves_is_compared_by_the_figures_of_a_starved_flow(place: Path) -> None:
    summary = json.loads((place / "logs" / "summary.json").read_text())
    row = next(row for row in summary["table"] if row["scheme"] == "copa")
    assert row["frontier_share"] < 1, "no scheme is on the frontier of a link that it got nothing through"
    powers = [
        run.total.power
        for scenario in load_evaluation(place / "logs").scenarios
        for run in scenario.runs
        if run.scheme == "copa"
    ]
    assert powers[:2] == [STARVED_MBPS / STARVED_DELAY_MS] * 2
    assert all(math.isfinite(math.log(power)) for power in powers)


@pytest.mark.parametrize("name", ["logs", "figures"])
def test_every_format_of_the_report_shows_a_starved_flow(place: Path, name: str) -> None:
    words = ["report", str(place / name), "--format", "html,pdf,csv,txt,json", "--figures", "svg"]
    assert main(words) == 0
    with (place / name / "report.csv").open() as stream:
        rows = [row for row in csv.DictReader(stream) if row["emulator"] == "links/silent"]
    assert {(row["throughput_mbps"], row["p95_delay_ms"]) for row in rows} == {("0.0", "")}
    text = (place / name / "data" / "links" / "silent" / "report.txt").read_text()
    assert "nan" not in text
    assert "Average throughput: 0.00 Mbit/s" in text


def test_directories_with_starving_flows_are_compared(
    place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", str(place / "logs"), str(place / "figures"), "--json"]) == 0
    assert "NaN" not in capsys.readouterr().out
