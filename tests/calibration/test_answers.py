"""A search writes an emulator that can be run at once, and goes on where it was stopped."""

import contextlib
import io
import json
import os
import shutil
from pathlib import Path

import pytest
from ccgym.calibration.answer import POSTERIOR
from ccgym.calibration.calibrate import posterior_of, storage_of
from ccgym.calibration.search import Search
from ccgym.calibration.target import Run, Target, means
from ccgym.cli.main import main
from ccgym.envs.specs.emulators import select_emulators
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import TrialState

# of 5 Mbit/s, 20 ms one way, 50 packets, in the twin
TABLE = """\
scheme,throughput_mbps,p95_delay_ms,loss
copa,4.61,44.7,0
cubic,5.00,139.3,0.0013
vegas,4.99,32.0,0
reno,5.00,138.0,0.0061
"""


def calibrated(folder: Path, table: str = TABLE, minutes: float = 0.1) -> dict[str, object]:
    (folder / "path.csv").write_text(table)
    out = folder / "found.yaml"
    paths = ["--target", str(folder / "path.csv"), "--out", str(out)]
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        assert main(["calibrate", *paths, "--minutes", str(minutes), "--json"]) == 0
    found: dict[str, object] = json.loads(printed.getvalue())
    return found


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, object]]:
    """The folder of a search, which no test changes, and its answer."""
    folder = tmp_path_factory.mktemp("searched")
    return folder, calibrated(folder)


@pytest.fixture
def copied(searched: tuple[Path, dict[str, object]], tmp_path: Path) -> tuple[Path, dict[str, object]]:
    """The same in a folder of one's own."""
    shutil.copytree(searched[0], tmp_path, dirs_exist_ok=True)
    return tmp_path, searched[1]


def trials_of_studies(folder: Path) -> dict[str, list[dict[str, object]]]:
    """The parameters of all trials that were ended, in order."""
    storage = JournalStorage(JournalFileBackend(str(storage_of(folder / "found.yaml"))))
    return {
        study.study_name: [
            trial.params
            for trial in storage.get_all_trials(
                study._study_id, states=(TrialState.COMPLETE, TrialState.PRUNED)
            )
        ]
        for study in storage.get_all_studies()
    }


def test_the_answer_is_an_emulator_to_run(searched: tuple[Path, dict[str, object]]) -> None:
    folder, found = searched
    (emulator,) = select_emulators(f"file:{folder / 'found.yaml'}")
    assert emulator.spec.uplink.packets == found["parameters"]["queue_packets"]  # type: ignore[index]
    assert set(found["per_scheme"]) == {"copa", "cubic", "vegas", "reno"}  # type: ignore[call-overload]
    assert found["error"] < 0.25  # type: ignore[operator]
    assert found["left_out_error"] >= found["error"]  # type: ignore[operator]
    assert json.loads((folder / "found.json").read_text()) == found
    assert "<svg" in (folder / "found.svg").read_text()


def test_a_search_goes_on_and_does_not_mix_with_another(tmp_path: Path) -> None:
    folder = tmp_path
    first = calibrated(folder, minutes=0.02)  # a fast machine ends the whole search within 0.1
    of_first = trials_of_studies(folder)
    again = calibrated(folder)
    of_again = trials_of_studies(folder)
    assert again["error"] <= first["error"] + 0.02  # type: ignore[operator]
    for study, trials in of_first.items():
        assert of_again[study][: len(trials)] == trials, "what was run is not run again"
    assert sum(map(len, of_again.values())) > sum(map(len, of_first.values()))
    calibrated(folder, TABLE.replace("44.7", "45.7"))
    of_all = trials_of_studies(folder)
    assert {study: of_all[study] for study in of_again} == of_again
    assert {study.split("/")[1] for study in of_all.keys() - of_again.keys()} >= {"wide-constant"}


def test_with_another_policy_it_is_another_search(tmp_path: Path) -> None:
    file = tmp_path / "mine.safetensors"
    target = Target("path", means([Run("mine", 8.0, 40.0, 0.0)], {"mine": f"policy:{file}:0.5"}), {})
    searches = set()
    for content in (b"one", b"one", b"two"):
        file.write_bytes(content)
        searches.add(Search(target, tmp_path / "path.search", 1.0, lambda *_: None)._digest())
    assert len(searches) == 2


def test_a_search_that_was_cut_off_goes_on_and_another_file_is_left_alone(
    copied: tuple[Path, dict[str, object]], capsys: pytest.CaptureFixture[str]
) -> None:
    folder, _ = copied
    kept = storage_of(folder / "found.yaml")
    whole = kept.read_bytes()
    kept.write_bytes(whole + whole[:20])  # the disk was full
    calibrated(folder)
    assert kept.read_bytes().startswith(whole)
    argv = ["calibrate", "--target", str(folder / "path.csv"), "--out", str(folder / "found.yaml")]
    for others in ("mine\n", '{"op_code": 0}\n', '{"op_code": "x"}\n'):
        kept.write_text(others)
        assert main([*argv, "--minutes", "0.1"]) == 2
        assert "not the kept search of a calibration" in capsys.readouterr().err
        assert kept.read_text() == others


@pytest.mark.parametrize("name", ["found.json", "found.svg", "found.posterior.yaml", "found.search"])
def test_what_cannot_be_written_is_told_before_the_search(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "path.csv").write_text(TABLE)
    os.mkfifo(tmp_path / name)
    argv = ["calibrate", "--target", str(tmp_path / "path.csv"), "--out", str(tmp_path / "found.yaml")]
    assert main(argv) == 2
    assert f"{name}: cannot be written: is no regular file" in capsys.readouterr().err
    assert not (tmp_path / "found.yaml").exists()


@pytest.mark.parametrize(("target", "out"), [("path.yaml", "path.yaml"), ("path.json", "path.yaml")])
def test_an_answer_does_not_take_the_place_of_its_target(
    target: str, out: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    measured = tmp_path / target
    measured.write_text("measured")
    assert main(["calibrate", "--target", str(measured), "--out", str(tmp_path / out)]) == 2
    assert f"would take the place of {measured}: choose another one" in capsys.readouterr().err
    assert measured.read_text() == "measured"


def test_an_ensemble_that_fits_lies_beside_the_answer(searched: tuple[Path, dict[str, object]]) -> None:
    ensemble = [each.spec for each in select_emulators(f"file:{posterior_of(searched[0] / 'found.yaml')}")]
    assert len(ensemble) == POSTERIOR
    rates = [spec.uplink.rate_mbps or 0 for spec in ensemble]
    assert 4.5 < min(rates) <= max(rates) < 6


def test_around_a_trace_the_rate_is_the_traces(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.up").write_text("".join(f"{ms}\n" for ms in range(2, 1002, 2)))  # 6 Mbit/s
    (tmp_path / "path.csv").write_text(TABLE)
    out = tmp_path / "found.yaml"
    command = ["calibrate", "--target", str(tmp_path / "path.csv"), "--out", str(out), "--minutes", "0.05"]
    assert main([*command, "--from-trace", str(tmp_path / "mine.up")]) == 0
    (emulator,) = select_emulators(f"file:{out}")
    assert emulator.spec.uplink.trace == tmp_path / "mine.up"
    assert "6 Mbit/s trace" in capsys.readouterr().out


@pytest.mark.parametrize("traces", ["", ",", "a,b,c", "nothing.up"])
def test_what_is_no_trace_is_refused(traces: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "path.csv").write_text(TABLE)
    command = ["calibrate", "--target", str(tmp_path / "path.csv"), "--out", str(tmp_path / "found.yaml")]
    try:
        code: object = main([*command, "--from-trace", traces])
    except SystemExit as end:
        code = end.code
    assert code == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not (tmp_path / "found.yaml").exists()


def test_a_trace_slower_than_what_was_measured_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "slow.up").write_text("".join(f"{ms}\n" for ms in range(6, 1008, 6)))  # 2 Mbit/s
    (tmp_path / "path.csv").write_text(TABLE)
    out = tmp_path / "found.yaml"
    command = ["calibrate", "--target", str(tmp_path / "path.csv"), "--out", str(out), "--minutes", "0.02"]
    assert main([*command, "--from-trace", str(tmp_path / "slow.up")]) == 2
    error = capsys.readouterr().err
    assert "slow.up delivers at most 2 Mbit/s in 30 s" in error
    assert error.count("\n") == 1
    assert not list(tmp_path.glob("found*"))
