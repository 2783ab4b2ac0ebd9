"""Short trainings of Indigo's policy, kept to go on with, and how well it flies."""

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stdout
from pathlib import Path

import numpy as np
from ccgym.dagger.train import train
from ccgym.envs.errors import InputError
from ccgym.envs.specs.emulators import NamedEmulator
from ccgym.training.config import TrainingConfig, config_file, load_config
from ccgym.training.rollouts import ROLLOUT_SEED, fly_measured
from ccgym.training.runs.run_directory import RunDirectory

from .reproduction import Circumstances

SECONDS = 30.0


def trained_log_powers(
    circumstances: Circumstances, name: str, changed: dict[str, object], emulators: list[NamedEmulator]
) -> list[float]:
    """Trains, or goes on with the training that is there, and flies the best policy."""
    return log_powers(trained_policy(circumstances, name, changed), emulators)


def trained_policy(circumstances: Circumstances, name: str, changed: dict[str, object]) -> str:
    """The scheme that Indigo's configuration with these changes makes in the minutes of a training.

    Raises:
        InputError: a run of other settings stands in its place.
    """
    config = load_config(config_file("indigo-2018"), changed, TrainingConfig)
    folder = circumstances.folder / f"{name}-{circumstances.minutes:g}min"
    return f"policy:{_policy(config, folder, circumstances.minutes)}"


def _policy(config: TrainingConfig, folder: Path, minutes: float) -> Path:
    run = RunDirectory(folder, TrainingConfig)
    begun = (folder / "config.yaml").exists()
    if begun and run.config() != config:
        raise InputError(f"{folder}: holds a run of other settings; choose another --out")
    if not run.best_policy.exists():
        with redirect_stdout(sys.stderr):  # the progress of the training
            train(config, run, resume=begun, workers=os.cpu_count() or 1, minutes=minutes)
    return run.best_policy


def log_powers(scheme: str, emulators: list[NamedEmulator], draws: int = 1) -> list[float]:
    """Of a flight over each draw of each emulator."""
    jobs = [(emulator, ROLLOUT_SEED + draw) for emulator in emulators for draw in range(draws)]
    with ThreadPoolExecutor(os.cpu_count()) as executor:
        flown = executor.map(lambda job: fly_measured(job[0], scheme, SECONDS, seed=job[1]), jobs)
        return [float(np.log(metrics.power)) for metrics in flown]
