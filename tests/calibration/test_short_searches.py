"""However short its time, a search has an answer; with time enough it is the same on any machine."""

import json
import logging
import time
from pathlib import Path

import pytest
from ccgym.calibration import kept_runs
from ccgym.calibration.calibrate import calibrate
from ccgym.calibration.load_target import load_target
from ccgym.cli.main import main
from ccgym.envs.host.folder_lock import file_lock
from ccgym.tests.full_disk import no_file_longer_than

TABLE = """scheme,throughput_mbps,p95_delay_ms,loss
copa,0.45,75,0
cubic,0.5,260,0
vegas,0.5,85,0
reno,0.5,255,0
"""
"""Of a link so slow that a search takes seconds."""


def found(folder: Path, minutes: float) -> tuple[str, bool]:
    """The emulator file, and whether the answer says that the search was cut short."""
    folder.mkdir()
    (folder / "path.csv").write_text(TABLE)
    command = ["calibrate", "--target", str(folder / "path.csv"), "--out", str(folder / "found.yaml")]
    assert main([*command, "--minutes", str(minutes)]) == 0
    return (folder / "found.yaml").read_text(), json.loads((folder / "found.json").read_text())["cut_short"]


def test_a_search_of_no_time_gives_what_the_measurements_say_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, cut_short = found(tmp_path / "search", 0.0001)
    assert "rate_mbps" in text
    assert cut_short
    assert "# The search was cut short" in text
    assert "The search was cut short" in capsys.readouterr().out


def test_an_interruption_keeps_the_best_and_shows_no_traceback(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.getLogger("optuna"), "propagate", True)
    (tmp_path / "path.csv").write_text(TABLE)

    def interrupt_third(tried: int, *_: object) -> None:
        if tried == 3:
            raise KeyboardInterrupt

    answer, whole = calibrate(
        load_target(tmp_path / "path.csv"), tmp_path / "found.search", 1.0, interrupt_third
    )
    assert not whole
    assert answer.cut_short
    assert answer.candidates == 3
    assert not caplog.records


def test_two_searches_do_not_write_the_same_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "path.csv").write_text(TABLE)
    with file_lock(tmp_path / "found.search"):
        assert main(["calibrate", "--target", f"{tmp_path}/path.csv", "--out", f"{tmp_path}/found.yaml"]) == 2
    assert "another ccgym writes there" in capsys.readouterr().err
    assert [file.name for file in tmp_path.iterdir()] == ["path.csv"]


def test_a_full_disk_ends_it_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "path.csv").write_text(TABLE)
    command = ["calibrate", "--target", str(tmp_path / "path.csv"), "--out", str(tmp_path / "found.yaml")]
    with no_file_longer_than(4000):  # met at the end of a trial
        assert main([*command, "--minutes", "1"]) == 1
    line = capsys.readouterr().err.splitlines()[-1]
    assert line.startswith("ccgym calibrate: ")
    assert line.endswith("found.search: File too large: make room and repeat the command")


class BusyClock:
    """Of a machine so busy that seconds pass between two looks at it."""

    def __init__(self) -> None:
        self._lost_s = 0.0

    def monotonic(self) -> float:
        self._lost_s += 2
        return time.monotonic() + self._lost_s


@pytest.mark.slow
def test_a_busy_machine_finds_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text, cut_short = found(tmp_path / "quiet", 60)
    assert not cut_short
    monkeypatch.setattr(kept_runs, "time", BusyClock())
    assert found(tmp_path / "busy", 60) == (text, False)
