"""`ccgym compare` as a developer of a controller runs it."""

import json
from pathlib import Path

import numpy as np
import pytest
from ccgym.cli.main import main
from ccgym.envs.logs.flow_metrics import FlowMetrics
from ccgym.evaluation.metrics.comparison import Change, Effect, verdict
from ccgym.evaluation.metrics.intervals import mean_interval
from ccgym.evaluation.metrics.results import load_evaluation

EMULATORS = """emulators:
  - {name: quick, delay_ms: 10, uplink: {rate_mbps: 12, queue: droptail, packets: 40}}
  - {name: slow, delay_ms: 40, uplink: {rate_mbps: 2, queue: droptail, packets: 40}}
"""
AIMD = """
class Mine:
    def __init__(self, packet_bytes):
        self.cwnd_packets, self.pacing_mbps = WINDOW, None
    def on_ack(self, now_ms, ack):
        pass
    def on_timeout(self, now_ms, timeout):
        pass
"""


@pytest.fixture(scope="module")
def two_versions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A controller before and after a change; beside the first also Copa."""
    root = tmp_path_factory.mktemp("compare")
    (root / "paths.yaml").write_text(EMULATORS)
    for name, window, others in (("before", "4.0", ",copa"), ("after", "8.0", "")):
        (root / "mine.py").write_text(AIMD.replace("WINDOW", window))
        schemes = f"python:{root / 'mine.py'}:Mine{others}"
        argv = ["eval", "--schemes", schemes, "--emulators", f"file:{root / 'paths.yaml'}", "--runs", "2"]
        assert main([*argv, "--seconds", "2", "--out", str(root / name)]) == 0
    return root


def totals(folder: Path) -> dict[tuple[str, int], FlowMetrics]:
    return {
        (scenario.label, run.run): run.total
        for scenario in load_evaluation(folder).scenarios
        for run in scenario.runs
        if run.scheme != "copa"
    }


def test_changes_are_paired_and_runs_of_one_side_only_are_listed(
    two_versions: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folders = [str(two_versions / name) for name in ("before", "after")]
    assert main(["compare", *folders, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    before, after = (totals(two_versions / name) for name in ("before", "after"))
    quick = next(each for each in answer["by_place"] if each["place"]["emulator"].endswith("/quick"))
    differences = [after[key].loss - before[key].loss for key in before if key[0].endswith("/quick")]
    assert quick["loss"]["mean"] == pytest.approx(sum(differences) / 2)
    assert quick["throughput"]["mean"] == pytest.approx(0.69, abs=0.02)  # ln 2: the window doubled
    assert quick["pairs"] == 2
    (overall,) = answer["overall"]
    assert overall["pairs"] == 2  # scenarios
    assert {line.rpartition(",")[2] for line in answer["only_in"]["before"]} == {" copa: 2 runs"}
    assert answer["only_in"]["after"] == []


def test_differences_that_make_runs_no_pairs_are_told(
    two_versions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "paths.yaml").write_text(EMULATORS.replace("rate_mbps: 2,", "rate_mbps: 3,"))
    argv = ["eval", "--schemes", "copa", "--emulators", f"file:{tmp_path / 'paths.yaml'}", "--seconds", "1"]
    assert main([*argv, "--out", str(tmp_path / "other")]) == 0
    capsys.readouterr()
    assert main(["compare", str(two_versions / "before"), str(tmp_path / "other"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["remarks"] == [
        "the lengths in seconds differ (before: 2.0, other: 1.0): runs of one number are no pairs",
        "paths/slow is another link in other than in before: its runs are no pairs",
    ]


def test_a_directory_beside_itself_has_not_changed(
    two_versions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    twin = tmp_path / "twin"
    twin.symlink_to(two_versions / "before")
    same = tmp_path / "same"
    same.mkdir()
    for file in ("session.json", "data"):
        (same / file).symlink_to(two_versions / "before" / file)
    assert (
        main(["compare", str(two_versions / "before"), str(same), "--out", str(tmp_path / "page.html")]) == 0
    )
    lines = capsys.readouterr().out.splitlines()
    assert sum("+0.0 %" in line and "no verdict" in line for line in lines) == 2 + 4
    assert "fewer than 5 pairs: no verdict" in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize(
    ("differences", "told"),
    [
        ([0.5, 0.6], "fewer than 5 pairs: no verdict"),
        ([0.5, 0.6, 0.5, 0.6], "fewer than 5 pairs: no verdict"),
        ([0.5, 0.6, 0.5, 0.6, 0.5], "better"),
        ([-0.5, -0.6, -0.5, -0.6, -0.5], "worse"),
        ([0.5, -0.6, 0.5, -0.6, 0.5], "no clear change"),
    ],
)
def test_a_verdict_takes_five_pairs(differences: list[float], told: str) -> None:
    effect = Effect(float(np.mean(differences)), mean_interval(differences))
    assert verdict(Change("other", "copa", None, len(differences), *[effect] * 4)) == told


@pytest.mark.parametrize(
    ("others", "wrong"),
    [
        ([], "two or more different"),
        (["before"], "two or more different"),
        (["nowhere"], "neither session.json"),
        (["after", "--out", "no/such/folder/page.html"], "cannot be written: there is no folder"),
    ],
)
def test_bad_input_is_one_line(
    two_versions: Path, others: list[str], wrong: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [str(two_versions / each) if each in ("before", "after", "nowhere") else each for each in others]
    assert main(["compare", str(two_versions / "before"), *words]) == 2
    complaint = capsys.readouterr().err
    assert wrong in complaint
    assert complaint.count("\n") == 1


def test_nothing_in_common_is_told(
    two_versions: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = ["eval", "--schemes", "reno", "--emulators", f"file:{two_versions / 'paths.yaml'}"]
    assert main([*argv, "--seconds", "1", "--out", str(tmp_path / "reno")]) == 0
    assert main(["compare", str(two_versions / "after"), str(tmp_path / "reno")]) == 2
    assert "have no run in common" in capsys.readouterr().err
