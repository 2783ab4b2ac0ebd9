"""Who follows a run: the same metrics everywhere, under one identity when it goes on."""

import sys
from pathlib import Path

import pytest
from ccgym.envs.errors import InputError, is_disk_full
from ccgym.tests.full_disk import no_file_longer_than
from ccgym.training.runs.tracking import Tracked, known_trackers, open_trackers
from matplotlib.figure import Figure


def tracked(folder: Path, iterations: int = 0) -> Tracked:
    folder.mkdir(exist_ok=True)
    return Tracked(folder, "tiny", {"seed": 1, "hidden": [8]}, iterations, "validation/regret")


def log_two_parts(name: str, folder: Path) -> None:
    """A run that was interrupted and went on."""
    for iteration in range(2):
        (tracker,) = open_trackers([name], tracked(folder, iteration))
        figure = Figure()
        figure.subplots().plot([0, 1])
        tracker.log(iteration, {"loss": 0.5 / (iteration + 1)}, {"windows": figure})
        tracker.close()


def test_mlflow_has_one_run_with_all_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", f"sqlite:///{tmp_path}/mlflow.db")
    monkeypatch.chdir(tmp_path)
    log_two_parts("mlflow", tmp_path / "run")
    import mlflow

    client = mlflow.MlflowClient()
    experiment = client.get_experiment_by_name("ccgym")
    assert experiment is not None
    (run,) = client.search_runs([experiment.experiment_id])
    assert [point.value for point in client.get_metric_history(run.info.run_id, "loss")] == [0.5, 0.25]
    assert run.data.params["hidden"] == "[8]"


def test_wandb_writes_where_it_is_told_offline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    log_two_parts("wandb", tmp_path / "run")
    assert (tmp_path / "run" / "wandb.id").read_text()
    assert list((tmp_path / "run" / "wandb").glob("offline-run-*/run-*.wandb"))


def test_what_is_not_installed_is_said_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wandb", None)
    with pytest.raises(InputError, match="--track wandb: not installed here: pip install wandb"):
        known_trackers("tensorboard,wandb")


@pytest.mark.parametrize("most_bytes", [10, 2000])  # at its first line, or at a figure
def test_tensorboard_names_the_run_on_a_full_disk_without_a_traceback(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], most_bytes: int
) -> None:
    with no_file_longer_than(most_bytes), pytest.raises(OSError, match="run") as raised:
        log_two_parts("tensorboard", tmp_path / "run")
    assert is_disk_full(raised.value)
    assert raised.value.filename == str(tmp_path / "run")
    assert capfd.readouterr().err == ""


def test_a_server_that_does_not_answer_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "file:///proc/none")
    with pytest.raises(InputError) as refusal:
        open_trackers(["mlflow"], tracked(tmp_path / "run"))
    assert "\n" not in str(refusal.value)
