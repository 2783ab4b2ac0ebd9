"""Short trainings of Indigo's policy, which are kept and can go on, and evaluations of the policies."""

import math
import os
import sys
from collections.abc import Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ccgym.envs.errors import InputError
from ccgym.envs.specs.emulators import NamedEmulator
from ccgym.evaluation.metrics.intervals import mean_interval
from ccgym.evaluation.metrics.results import Evaluation
from ccgym.evaluation.schemes import select_schemes
from ccgym.training.config import TrainingConfig, config_file, load_config

from .reproduction import Line, ReproductionOptions, evaluate, failure_text, mean_text

if TYPE_CHECKING:
    from ccgym.training.runs.run_directory import RunDirectory

SECONDS = 30.0
CHECKED_MINUTES = 5.0
"""After shorter trainings nothing is checked, because they show little."""
UNCHECKED = f"not checked before {CHECKED_MINUTES:g} minutes of training"


@dataclass(frozen=True)
class Evaluated:
    """The results of a scheme."""

    log_powers: dict[tuple[str, int], float]
    """ln(throughput / p95 delay) by emulator and run."""
    failures: str
    """Why runs have failed; empty if none has."""

    def line(self, what: str, theirs: str = "-") -> Line:
        """The line with the mean log power."""
        return Line(what, theirs, mean_text(list(self.log_powers.values())), why=self.failures)

    def at_least_as_good(self, what: str, other: "Evaluated", minutes: float) -> Line:
        """The line that compares it with `other` on the runs of both; `minutes`: length of the trainings."""
        mine, theirs = self.log_powers, other.log_powers
        found = [power - theirs[key] for key, power in mine.items() if key in theirs]
        interval = mean_interval(found)
        met = None if interval is None else interval.high >= 0
        line = Line(what, "always", f"difference {mean_text(found)}", "the interval reaches 0", met)
        return line if minutes >= CHECKED_MINUTES else replace(line, tolerance="", met=None, why=UNCHECKED)


def trained_policy(options: ReproductionOptions, name: str, changed: dict[str, object]) -> str:
    """Trains Indigo's configuration with these changes for `options.minutes`; returns the scheme.

    Raises:
        InputError: the folder holds a run of other settings.
    """
    config = load_config(config_file("indigo-2018"), changed, TrainingConfig)
    folder = options.folder / f"{name}-{options.minutes:g}min"
    _train(config, folder, options.minutes)
    return f"run:{folder}"


def _train(config: TrainingConfig, folder: Path, minutes: float) -> None:
    """Trains, or goes on with the training in the folder unless it is done."""
    from ccgym.dagger.train import train  # late: with it comes PyTorch, which takes seconds
    from ccgym.training.runs.run_directory import RunDirectory

    run = RunDirectory(folder, TrainingConfig)
    if run.is_begun and run.config() != config:
        raise InputError(f"{folder}: holds a run of other settings; choose another --out")
    left_minutes = minutes - _minutes_so_far(run)
    if left_minutes > 0 and not (run.is_begun and run.is_finished(config)):
        with redirect_stdout(sys.stderr):  # the progress of the training
            train(config, run, resume=run.is_begun, workers=os.cpu_count() or 1, minutes=left_minutes)


def _minutes_so_far(run: "RunDirectory[TrainingConfig]") -> float:
    """Minutes of training so far; an iteration that was logged but not kept does not count."""
    if not run.is_begun:
        return 0.0
    return max((seconds for seconds, _ in run.history("loss")), default=0.0) / 60


def evaluate_policies(
    options: ReproductionOptions,
    name: str,
    emulators: list[NamedEmulator],
    schemes: Mapping[str, str],
    runs: int = 1,
    flows: int = 1,
    interval_s: float = 0.0,
) -> dict[str, Evaluated]:
    """Evaluates `schemes`; keys of argument and result are names of ours."""
    evaluation = evaluate(options, name, emulators, list(schemes.values()), runs, SECONDS, flows, interval_s)
    labels = {each: select_schemes(scheme)[0].label for each, scheme in schemes.items()}
    return {each: _evaluated(evaluation, label) for each, label in labels.items()}


def _evaluated(evaluation: Evaluation, label: str) -> Evaluated:
    log_powers = {
        (scenario.label, run.run): math.log(run.total.power)
        for scenario in evaluation.scenarios
        for run in scenario.runs
        if run.scheme == label
    }
    failures = [failure_text(scenario, label) for scenario in evaluation.scenarios]
    return Evaluated(log_powers, next(filter(None, failures), ""))
