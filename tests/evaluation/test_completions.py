"""How long what an application had to send took is a figure of its flow, with logs and without."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from ccgym.cli.main import main
from ccgym.envs.errors import InputError
from ccgym.envs.logs.link_log import LinkLog
from ccgym.evaluation.completions import read_completions, write_completions
from ccgym.evaluation.run_files import RunFiles

ANSWERS = """
emulators:
  - name: answers
    delay_ms: 20
    uplink: {rate_mbps: 12, queue: droptail, packets: 100}
    flows: [{bytes: 150000, mean_think_s: 0.5}]
  - name: endless
    delay_ms: 20
    uplink: {rate_mbps: 12, queue: droptail, packets: 100}
"""
LEAST_MS = 150_000 * 8 / 12e3 + 2 * 20
"""What an answer takes at the rate of the link, with a round trip."""


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The same evaluation twice: with logs, and with figures only."""
    folder = tmp_path_factory.mktemp("answers")
    (folder / "web.yaml").write_text(ANSWERS)
    words = ["eval", "--schemes", "cubic", "--emulators", f"file:{folder / 'web.yaml'}", "--seconds", "20"]
    assert main([*words, "--out", str(folder / "logs")]) == 0
    assert main([*words, "--no-logs", "--out", str(folder / "figures")]) == 0
    return [folder / "logs", folder / "figures"]


def test_completion_times_are_reported_only_for_flows_that_end(evaluated: list[Path]) -> None:
    for out in evaluated:
        answers, endless = json.loads((out / "summary.json").read_text())["scenarios"]
        flow = answers["schemes"][0]
        assert flow["completions"] > 10
        assert LEAST_MS < flow["mean_completion_ms"] < flow["p95_completion_ms"] < 20_000
        assert "completions" not in endless["schemes"][0]
        sections = (out / "report.html").read_text().split("<table")
        assert sum("p95 completion" in section for section in sections) == 1
        assert main(["report", str(out), "--format", "csv"]) == 0
        rows = list(csv.DictReader((out / "report.csv").open()))
        assert [row["completions"] for row in rows] == [str(flow["completions"]), "0.0"]
        assert [bool(row["p95_completion_ms"]) for row in rows] == [True, False]


def test_completion_times_are_the_same_with_and_without_logs(evaluated: list[Path]) -> None:
    logs, figures = (
        json.loads((out / "summary.json").read_text())["scenarios"][0]["schemes"][0] for out in evaluated
    )
    assert logs["completions"] == figures["completions"]
    for name in ("mean_completion_ms", "p95_completion_ms"):
        assert logs[name] == pytest.approx(figures[name], abs=1e-3)  # kept to the microsecond


def log_of(times_ms: list[float]) -> LinkLog:
    nothing = np.zeros(0)
    return LinkLog(nothing, nothing, nothing, nothing, nothing, nothing, completion_ms=np.array(times_ms))


def test_completion_times_are_stored_for_each_flow(tmp_path: Path) -> None:
    file = RunFiles(tmp_path, "copa", 1).completions
    write_completions(file, [log_of([12.3456, 7]), log_of([])])
    kept = read_completions(file)
    assert {number: times.tolist() for number, times in kept.items()} == {1: [12.346, 7.0], 2: []}


def test_endless_flows_leave_no_file(tmp_path: Path) -> None:
    file = RunFiles(tmp_path, "copa", 1).completions
    write_completions(file, [log_of([]), log_of([])])
    assert not file.exists()
    assert read_completions(file) == {}


@pytest.mark.parametrize(
    "content",
    [
        "3",
        "{}",
        '""',
        "[3]",
        '[["x"]]',
        "[[[1]]]",
        "[[0]]",
        "[[-1]]",
        "[[NaN]]",
        "[[1e13]]",
        f"[[1{'0' * 400}]]",
        "{",
        "[1",
    ],
)
def test_a_file_without_completion_times_is_refused(tmp_path: Path, content: str) -> None:
    file = RunFiles(tmp_path, "copa", 1).completions
    file.write_text(content)
    with pytest.raises(InputError, match=r"copa_completions_run1\.json"):
        read_completions(file)
