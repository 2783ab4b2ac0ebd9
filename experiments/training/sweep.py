"""`ccgym sweep`: trainings with settings that Optuna proposes, each from the same seed.

A proposal depends only on the seed, the number of the trial and the results before it. A sweep that was
interrupted goes on in the middle of a training, with the same results.

DIR/
sweep.yaml              what is searched
sweep.journal           Optuna's storage: every trial with its settings and its criterion
trial-003/              the run directory of a training
best.yaml               the configuration of the best one, for `ccgym train --config`
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

import optuna
import yaml
from ccgym.calibration.kept_runs import open_journal
from ccgym.envs.errors import InputError
from ccgym.envs.outside_files import make_folder, read_yaml, replace_file
from ccgym.envs.specs.spec_errors import first_mistake
from ccgym.training.config import RunConfig, config_file, load_config, read_options
from optuna.trial import FrozenTrial, TrialState
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

if TYPE_CHECKING:
    from ccgym.training.runs.run_directory import RunDirectory

Train = Callable[..., None]
SETTINGS = "settings"
"""Attribute of a trial: its settings. A trial that was killed before it had them is passed over."""
CRITERION = "criterion"
"""Attribute of a study: the criterion by which all its trainings choose their policies."""


class Range(BaseModel):
    """The values of a setting: one of `choices`, or a number from `low` to `high`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    choices: tuple[Any, ...] = ()
    low: Annotated[int | float, Field(allow_inf_nan=False)] | None = None
    high: Annotated[int | float, Field(allow_inf_nan=False)] | None = None
    log: bool = False
    """Whether to draw the logarithm uniformly."""

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        given = [value for value in (self.low, self.high) if value is not None]
        if bool(self.choices) == bool(given) or len(given) == 1:
            raise ValueError("expected choices, or both of low and high")
        if given and not (given[0] < given[1] and (given[0] > 0 or not self.log)):
            raise ValueError("expected low below high, and above 0 with log")
        return self

    @property
    def ends(self) -> tuple[Any, Any]:
        """The first and the last value."""
        return (self.choices[0], self.choices[-1]) if self.choices else (self.low, self.high)

    def propose(self, name: str, trial: optuna.Trial) -> Any:
        """A value for a trial."""
        if self.choices:
            return self.choices[trial.suggest_int(f"{name} (place)", 0, len(self.choices) - 1)]
        if isinstance(self.low, int) and isinstance(self.high, int):
            return trial.suggest_int(name, self.low, self.high, log=self.log)
        assert self.low is not None
        assert self.high is not None
        return trial.suggest_float(name, self.low, self.high, log=self.log)


class SweepConfig(BaseModel):
    """The configuration of a sweep, read from a file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    config: str
    """The configuration of the trainings: the name of a shipped one, or a file."""
    settings: dict[str, Any] = {}
    """Settings that replace the configuration's in every training."""
    search: dict[str, Range] = Field(min_length=1)
    """The values of each setting that is searched."""
    trials: int = Field(20, ge=1, le=10_000)
    seed: int = Field(1, ge=0, lt=2**31)
    """Seed of the proposals; the trainings have the configuration's seed."""


@dataclass(frozen=True)
class Trial:
    """One training of a sweep."""

    number: int
    settings: dict[str, Any]
    criterion: float
    """The least value on the validation emulators; less is better."""


def load_sweep(file: Path) -> SweepConfig:
    """Reads the file. Raises InputError, one line, on any mistake in it."""
    content = read_yaml(file, "the sweep")
    try:
        return SweepConfig.model_validate(content)
    except ValidationError as error:
        raise InputError(f"{file}: {first_mistake(error, SweepConfig)}") from None


def sweep(
    config: SweepConfig, folder: Path, kind: type[RunConfig], train: Train, report: Callable[[Trial], None]
) -> Trial:
    """Trains what is left to train; returns the best of all.

    Args:
        config: the configuration of the sweep.
        folder: the folder of the sweep.
        kind: the class of the trainings' configuration.
        train: as `ccgym.dagger.train.train`, with `config`, `run` and `resume`.
        report: is called with every trial, also with earlier ones.

    Raises:
        InputError: a setting is unknown or has no such value, or the folder holds another sweep.
    """
    first_config(config, kind)
    _begin(config, folder)
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    storage = open_journal(folder / "sweep.journal", "the journal of a sweep")
    study = optuna.create_study(storage=storage, study_name="sweep", load_if_exists=True)
    for done in study.get_trials(states=(TrialState.COMPLETE,)):
        report(_trial(done))
    running = study.get_trials(states=(TrialState.RUNNING,))
    interrupted = [each for each in running if SETTINGS in each.user_attrs]
    _check_trained(study, config, folder, kind)
    while interrupted or len(study.trials) < config.trials:
        number, settings = _interrupted(interrupted.pop()) if interrupted else _proposed(study, config)
        run = _run_directory(folder, number, kind)
        train(_training_config(config, settings, kind), run, resume=run.is_begun)
        criterion = run.load().criterion
        _check_criterion(study, criterion, run.folder)
        study.tell(number, run.best_metrics()[criterion])
        report(_trial(study.trials[number]))
    best = _trial(study.best_trial)
    kept = yaml.safe_dump(_training_config(config, best.settings, kind).model_dump(), sort_keys=False)
    replace_file(folder / "best.yaml", lambda fresh: fresh.write_text(kept))
    return best


def _run_directory(folder: Path, number: int, kind: type[RunConfig]) -> "RunDirectory[RunConfig]":
    """Of one trial's training."""
    from ccgym.training.runs.run_directory import RunDirectory  # late: PyTorch takes seconds

    return RunDirectory(folder / f"trial-{number:03d}", kind)


def _check_criterion(study: optuna.Study, criterion: str, folder: Path) -> None:
    """Raises InputError if another training of the sweep has another criterion."""
    others = study.user_attrs.get(CRITERION, criterion)
    if others != criterion:
        raise InputError(
            f"{folder}: has chosen its policy by {criterion}, others of the sweep by {others}, which do not "
            "compare: search settings that leave the criterion as it is"
        )
    study.set_user_attr(CRITERION, criterion)


def _check_trained(study: optuna.Study, config: SweepConfig, folder: Path, kind: type[RunConfig]) -> None:
    """Raises InputError if a trial had other settings than now, because the configuration has changed."""
    for trial in study.get_trials(deepcopy=False):
        run = _run_directory(folder, trial.number, kind)
        if run.is_begun and run.config() != _training_config(config, trial.user_attrs[SETTINGS], kind):
            raise InputError(
                f"{run.folder}: {config.config} has changed since it was trained: choose another --out"
            )


def kind_of(config: SweepConfig) -> str:
    """The algorithm of the trainings."""
    algorithm: str = read_options(config_file(config.config)).get("algo", "dagger")
    return algorithm


def first_config(config: SweepConfig, kind: type[RunConfig]) -> Any:
    """The configuration of a training with the first value of each setting.

    Raises:
        InputError: the first values, or the last ones, make no valid configuration.
    """
    lasts = {name: span.ends[1] for name, span in config.search.items()}
    _training_config(config, lasts, kind)
    firsts = {name: span.ends[0] for name, span in config.search.items()}
    return _training_config(config, firsts, kind)


def _begin(config: SweepConfig, folder: Path) -> None:
    """Writes the sweep's description. Raises InputError if the folder holds another sweep."""
    make_folder(folder)
    file, text = folder / "sweep.yaml", yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False)
    if file.exists():
        before = load_sweep(file)
        if before.model_copy(update={"trials": config.trials}) != config:
            raise InputError(f"{folder}: holds another sweep: choose another --out, or go on with {file}")
    replace_file(file, lambda fresh: fresh.write_text(text))


def _proposed(study: optuna.Study, config: SweepConfig) -> tuple[int, dict[str, Any]]:
    """The next trial. Its sampler is new each time, so that an interruption changes nothing."""
    study.sampler = optuna.samplers.TPESampler(seed=config.seed + len(study.trials))
    trial = study.ask()
    settings = {name: span.propose(name, trial) for name, span in config.search.items()}
    trial.set_user_attr(SETTINGS, settings)
    return trial.number, settings


def _interrupted(trial: FrozenTrial) -> tuple[int, dict[str, Any]]:
    return trial.number, trial.user_attrs[SETTINGS]


def _training_config(config: SweepConfig, settings: dict[str, Any], kind: type[RunConfig]) -> Any:
    return load_config(config_file(config.config), {**config.settings, **settings}, kind)


def _trial(trial: FrozenTrial) -> Trial:
    return Trial(trial.number, trial.user_attrs[SETTINGS], float(trial.value or 0.0))
