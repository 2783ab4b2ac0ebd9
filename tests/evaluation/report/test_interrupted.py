"""The report of an evaluation that was interrupted, or part of which is gone."""

import json
import shutil
from pathlib import Path

import pytest
from ccgym.cli.main import main
from ccgym.evaluation.metrics.results import load_evaluation


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One scenario that a learned scheme has seen, two that it has not."""
    folder = tmp_path_factory.mktemp("interrupted") / "whole"
    words = ["eval", "--schemes", "indigo2,copa", "--emulators", "synthetic/20mbps-40ms,random:2"]
    assert main([*words, "--seconds", "1", "--out", str(folder)]) == 0
    return folder


def test_before_an_unseen_scenario_has_run_its_leaderboard_is_empty(
    whole: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "begun"
    shutil.copytree(whole, folder)
    for run in (folder / "data" / "random").rglob("*_run1*"):
        run.unlink()
    assert main(["report", str(folder)]) == 0
    assert "none of the 2 scenarios that no learned scheme has seen has been run" in capsys.readouterr().out
    unseen = json.loads((folder / "summary.json").read_text())["unseen"]
    assert unseen == {"scenarios": 2, "table": []}
    assert (folder / "report.html").read_text().count("<h2>Leaderboard") == 1


def test_a_missing_scenario_folder_is_not_created_nor_written_elsewhere(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, elsewhere = tmp_path / "gone", tmp_path / "elsewhere"
    shutil.copytree(whole, folder)
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    gone = sorted((folder / "data" / "random").iterdir())[0]
    shutil.rmtree(gone)
    assert main(["report", str(folder), "--format", "txt"]) == 0
    assert list(elsewhere.iterdir()) == []
    assert not gone.exists()
    assert (folder / "data" / "synthetic" / "20mbps-40ms" / "report.txt").is_file()
    folders = [scenario.folder for scenario in load_evaluation(folder).scenarios]
    assert gone in folders
    assert all(each.is_relative_to(folder / "data") for each in folders)
