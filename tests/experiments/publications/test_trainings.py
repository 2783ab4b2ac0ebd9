"""Trainings of experiments are kept: what was interrupted goes on, what is whole is left alone."""

from pathlib import Path

from ccgym.dagger.train import train
from ccgym.experiments.publications import trainings
from ccgym.tests.training.conftest import TinyConfig
from ccgym.training.config import TrainingConfig
from ccgym.training.runs.run_directory import RunDirectory


def test_an_interrupted_training_goes_on_until_its_time_is_over(
    tiny_config: TinyConfig, tmp_path: Path
) -> None:
    config, run = tiny_config(evaluation_interval=1), RunDirectory(tmp_path / "run", TrainingConfig)
    train(config, run, resume=False, workers=1, minutes=0)
    assert run.best_policy.exists()
    assert run.load().iterations == 1
    trainings._train(config, run.folder, minutes=1e-6)
    assert run.load().iterations == 1
    trainings._train(config, run.folder, minutes=10)
    assert run.load().iterations == config.iterations
    kept = {file: file.stat().st_mtime_ns for file in run.folder.rglob("*")}
    trainings._train(config, run.folder, minutes=10)
    assert {file: file.stat().st_mtime_ns for file in run.folder.rglob("*")} == kept
