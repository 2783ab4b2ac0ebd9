"""The search for the emulator: wide and cheap first, then fine around the best of either arrivals.

A study of Optuna's for each stage, in one file, under the digest of what is searched: a search that was
stopped goes on, and two with different targets do not meet.
"""

import hashlib
import json
import math
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from os import cpu_count
from pathlib import Path

import cmaes
import numpy as np
import optuna
from ccgym.envs import _core
from ccgym.envs.errors import InputError
from ccgym.envs.logs.event_log import Array
from optuna.exceptions import ExperimentalWarning
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import TrialState

from .candidate import ARRIVALS, PARAMETERS, Candidate, Space, space_of
from .replication import Replicator, loss_differences, measured_figures, scheme_errors
from .target import Target

LOSS_WEIGHT = 0.05
"""What a relative difference of loss counts beside the published error: enough to part equals."""

WIDE_TRIALS, FINE_TRIALS = 160, 140
_FINE_STEP = 0.05
"""Of the unit cube, with which the fine search begins."""

_WIDE_SHARE = 0.4
"""Of the time; what the wide search does not need goes to the fine one."""

_MOST_DRAWS = 4
_SHORT_S, _SHORT_SHARE = 8.0, 1 / 3
"""A first look at a candidate is one draw of flights so long, or such a share of the target's."""

_SECOND_ARRIVALS = 1.3
"""The fine search leaves out arrivals whose best is so much worse than the other's."""

_SEED = 15


@dataclass(frozen=True)
class Tried:
    """A candidate that was flown in full."""

    candidate: Candidate
    figures: Array
    """(draws, schemes, 3); see `replication`."""
    score: float


@dataclass
class Search:
    """One search; `tried` grows while it runs."""

    target: Target
    storage: Path
    minutes: float
    report: Callable[[int, float, Candidate], None]
    """Called after every candidate: how many, the least error so far, and whose."""
    tried: list[Tried] = field(default_factory=list)
    space: Space = field(init=False)
    measured: Array = field(init=False)
    draws: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.space = space_of(self.target)
        self.measured = measured_figures(self.target.measured)

    @property
    def best(self) -> Tried:
        """The candidate with the least score; the fewer parameters where two are equal."""
        return min(self.tried, key=lambda tried: tried.score)

    def run(self) -> None:
        """Searches until the time is over or all stages are; an interruption leaves what was tried."""
        begun_s = time.monotonic()
        with ThreadPoolExecutor(cpu_count()) as executor, _quiet_optuna(), _storage(self.storage) as storage:
            self._fly = Replicator(self.target, executor).fly
            self.draws = list(range(self._affordable_draws()))
            self._wide(storage, begun_s + 60 * self.minutes * _WIDE_SHARE)
            ends_s = begun_s + 60 * self.minutes
            arrivals = self._promising()
            for place, each in enumerate(arrivals):
                left_s = ends_s - time.monotonic()
                self._fine(storage, each, time.monotonic() + left_s / (len(arrivals) - place))

    def score(self, figures: Array) -> float:
        """The published error, and a little of how far the losses are off."""
        errors = scheme_errors(figures, self.measured)
        losses = loss_differences(figures, self.measured)
        return float(errors.mean() + LOSS_WEIGHT * losses.mean())

    def error(self, tried: Tried) -> float:
        """The published error."""
        return float(scheme_errors(tried.figures, self.measured).mean())

    def _affordable_draws(self) -> int:
        """So many that the time is enough for the trials of both stages."""
        begun_s = time.monotonic()
        self._fly(self.space.guess, [0])
        draw_s = max(1e-3, time.monotonic() - begun_s)
        trials = WIDE_TRIALS / 2 + len(ARRIVALS) * FINE_TRIALS
        return int(min(_MOST_DRAWS, max(1, 60 * self.minutes / (trials * draw_s))))

    def _study(
        self, storage: JournalStorage, stage: str, sampler: optuna.samplers.BaseSampler | None
    ) -> optuna.Study:
        pruner = optuna.pruners.PercentilePruner(40.0, n_startup_trials=12)
        name = f"{self._digest()}/{len(self.draws)}/{stage}"
        study = optuna.create_study(
            storage=storage, study_name=name, sampler=sampler, pruner=pruner, load_if_exists=True
        )
        for trial in study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,)):
            figures = np.array(trial.user_attrs["figures"])
            self._keep(Tried(self._candidate(trial), figures, self.score(figures)))
        return study

    def _digest(self) -> str:
        """Of the target and of the core that flies."""
        content = json.dumps(asdict(self.target), sort_keys=True)
        core = Path(_core.__file__ or "").read_bytes()
        return hashlib.sha256(content.encode() + hashlib.sha256(core).digest()).hexdigest()[:16]

    def _candidate(self, trial: optuna.trial.FrozenTrial) -> Candidate:
        return self.space.at({name: trial.params[name] for name in PARAMETERS}, trial.user_attrs["arrivals"])

    def _keep(self, tried: Tried) -> None:
        self.tried.append(tried)
        best = self.best
        self.report(len(self.tried), self.error(best), best.candidate)

    def _wide(self, storage: JournalStorage, ends_s: float) -> None:
        """TPE over both arrivals; a poor first look ends a trial."""
        sampler = optuna.samplers.TPESampler(seed=_SEED, n_startup_trials=30, multivariate=True)
        study = self._study(storage, "wide", sampler)
        if not study.trials:
            for start in self.space.starts():
                study.enqueue_trial({**self.space.places(start), "arrivals": start.arrivals})

        def objective(trial: optuna.Trial) -> float:
            arrivals = trial.suggest_categorical("arrivals", ARRIVALS)
            candidate = self._suggested(trial, arrivals)
            short_s = max(_SHORT_S, self.target.seconds * _SHORT_SHARE)
            if short_s < self.target.seconds:
                trial.report(self.score(self._fly(candidate, [0], short_s)), 0)
                if trial.should_prune():
                    raise optuna.TrialPruned
            return self._flown(trial, candidate)

        finished = (TrialState.COMPLETE, TrialState.PRUNED)
        left = WIDE_TRIALS - len(study.get_trials(deepcopy=False, states=finished))
        if left > 0:
            study.optimize(objective, n_trials=left, timeout=max(0.0, ends_s - time.monotonic()))

    def _promising(self) -> list[str]:
        """Arrivals whose best candidate may still win, the better first."""
        least = {
            arrivals: min((t.score for t in self.tried if t.candidate.arrivals == arrivals), default=math.inf)
            for arrivals in ARRIVALS
        }
        ranked = sorted(ARRIVALS, key=least.__getitem__)
        return [each for each in ranked if least[each] <= _SECOND_ARRIVALS * least[ranked[0]]]

    def _fine(self, storage: JournalStorage, arrivals: str, ends_s: float) -> None:
        """CMA-ES from the best candidate of these arrivals."""
        best = min((t for t in self.tried if t.candidate.arrivals == arrivals), key=lambda tried: tried.score)
        study = self._study(storage, f"fine-{arrivals}", None)
        walk = cmaes.CMA(
            np.array([self.space.places(best.candidate)[name] for name in PARAMETERS]),
            _FINE_STEP,
            bounds=np.tile([0.0, 1.0], (len(PARAMETERS), 1)),
            seed=_SEED,
        )
        for _ in range(FINE_TRIALS // walk.population_size):
            told = []
            for _ in range(walk.population_size):
                if time.monotonic() > ends_s:
                    return
                point = walk.ask()
                told.append((point, self._score_at(study, point, arrivals)))
            walk.tell(told)

    def _score_at(self, study: optuna.Study, point: Array, arrivals: str) -> float:
        """Flown, unless it was before: the walk's seed makes it take the same steps when it goes on."""
        places = dict(zip(PARAMETERS, map(float, point), strict=True))
        candidate = self.space.at(places, arrivals)
        known = next((tried for tried in self.tried if tried.candidate == candidate), None)
        if known is not None:
            return known.score
        study.enqueue_trial(places)
        trial = study.ask()
        score = self._flown(trial, self._suggested(trial, arrivals))
        study.tell(trial, score)
        return score

    def _suggested(self, trial: optuna.Trial, arrivals: str) -> Candidate:
        trial.set_user_attr("arrivals", arrivals)
        return self.space.at({name: trial.suggest_float(name, 0, 1) for name in PARAMETERS}, arrivals)

    def _flown(self, trial: optuna.Trial, candidate: Candidate) -> float:
        figures = self._fly(candidate, self.draws)
        trial.set_user_attr("figures", figures.tolist())
        tried = Tried(candidate, figures, self.score(figures))
        self._keep(tried)
        return tried.score


@contextmanager
def _quiet_optuna() -> Iterator[None]:
    verbosity = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ExperimentalWarning)
            yield
    finally:
        optuna.logging.set_verbosity(verbosity)


@contextmanager
def _storage(path: Path) -> Iterator[JournalStorage]:
    try:
        yield JournalStorage(JournalFileBackend(str(path)))
    except OSError as error:
        raise InputError(f"{path}: cannot keep the search: {error.strerror}") from None
