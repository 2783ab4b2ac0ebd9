"""The search for the emulator: wide and cheap first, then sharp around the best of either arrivals.

Where no emulator of the paper's parameters is the path, the least published error is searched instead.

A study of Optuna's for each stage, in one file, under the digest of what is searched: a search that was
stopped goes on, and two with different targets do not meet.
"""

import hashlib
import json
import math
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import numpy as np
import optuna
from ccgym.envs import _core
from ccgym.envs.errors import InputError, is_disk_full
from ccgym.envs.logs.event_log import Array
from ccgym.evaluation.sessions.executors import open_executor
from optuna.distributions import FloatDistribution
from optuna.exceptions import ExperimentalWarning
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import TrialState

from .candidate import ACK_PATH, PARAMETERS, Candidate, Restriction, Space, space_of
from .posterior import Measurements
from .replication import Replicator, left_out_errors, measured_figures, scheme_errors, scores, sureness
from .sharpening import (
    FINAL_DRAWS,
    FINALISTS,
    FIRST_ROUNDS,
    FIRST_TRIALS,
    ROUND_TRIALS,
    ROUNDS,
    SHARPENING_TRIALS,
    Replicate,
    Sharpening,
)
from .target import Target

WIDE_TRIALS, FINE_TRIALS = 120, 140
_FINE_STEP = 0.05
"""Of the unit cube, with which the fine search begins."""

_WIDE_SHARE, _FIRST_SHARE, _SHARP_SHARE, _FINAL_SHARE = 0.25, 0.5, 0.75, 0.95
"""Of the time, at which the stages end at the latest."""

_FINE_SHARE = 0.8
"""The same of the search for the least error; what follows has parameters beyond the paper's."""

_REPLICATED, _PAYS = 0.10, 0.8
"""What the paper's parameters may fail to replicate, and how much smaller an error beyond them must be."""

_ACK_SHARES = (0.03, 0.06, 0.12, 0.3)
"""Of the link's rate, from which the search for an ACK path begins."""

_MOST_DRAWS = 2
"""More candidates say more than more draws of each: a surface goes through all."""
_PLANNED_SHARE = 0.5
"""Of the time: a machine that others use becomes slower, and late stages count most."""
_SHORT_S, _SHORT_SHARE = 8.0, 1 / 3
"""A first look at a candidate is one draw of runs so long, or such a share of the target's."""

_SECOND_ARRIVALS = 2.0
"""The fine search leaves out arrivals whose best is so much worse than the other's."""

_FIRST_SHARP_DRAW = 1000

_OUT_OF_THE_QUESTION = 8.0
"""A logarithm of probabilities' ratio."""

_SEED = 15


@dataclass(frozen=True)
class Tried:
    """A candidate that was run in full."""

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
    """Called after every candidate: how many of this stage and before, an error, and whose."""
    restriction: Restriction = field(default_factory=Restriction)
    ray_address: str | None = None
    """Of a cluster that runs; None: the cores of this machine do."""
    tried: list[Tried] = field(default_factory=list)
    space: Space = field(init=False)
    measured: Array = field(init=False)
    weights: Array = field(init=False)
    draws: list[int] = field(default_factory=list)
    sharpened: dict[str, Sharpening] = field(default_factory=dict)
    """Of each kind of arrivals."""

    def __post_init__(self) -> None:
        self.space = space_of(self.target, self.restriction)
        self.measured = measured_figures(self.target.measured)
        self.weights = sureness(self.target.measured)

    @property
    def best(self) -> Tried:
        """The candidate with the least score among those with parameters that pay."""
        return min(self.fits, key=lambda tried: tried.score)

    @property
    def fits(self) -> list[Tried]:
        """Those with an ACK path where it lowers the error on left-out schemes, otherwise those without."""
        plain = [tried for tried in self.tried if tried.candidate.ack_mbps is None]
        beyond = [tried for tried in self.tried if tried.candidate.ack_mbps is not None]
        pays = beyond and self.left_out_error(beyond) < _PAYS * self.left_out_error(plain)
        return beyond if pays else plain

    @property
    def sharpest(self) -> Sharpening | None:
        """The more probable arrivals; None: none was reached, or no emulator of this kind is the path."""
        known = [each for each in self.sharpened.values() if each.posterior is not None]
        best = max(known, key=lambda each: each.log_evidence, default=None)
        if best is None or best.posterior is None or best.posterior.discrepancy > _REPLICATED:
            return None
        return best

    @property
    def arrivals_probabilities(self) -> dict[str, float]:
        """Of those arrivals that were sharpened."""
        known = {
            name: each.log_evidence for name, each in self.sharpened.items() if each.posterior is not None
        }
        most = max(known.values())
        odds = {name: math.exp(evidence - most) for name, evidence in known.items()}
        return {name: each / sum(odds.values()) for name, each in odds.items()}

    def left_out_error(self, fits: list[Tried]) -> float:
        """Mean over the schemes, each on the emulator that is chosen without it."""
        figures: Array = np.stack([tried.figures for tried in fits])
        return float(left_out_errors(figures, self.measured, self.weights).mean())

    def run(self) -> None:
        """Searches until the time is over or all stages are; an interruption leaves what was tried."""
        begun_s = time.monotonic()
        with open_executor(self.ray_address) as executor, _quiet_optuna(), _storage(self.storage) as storage:
            self._replicate = Replicator(self.target, executor).replicate
            self.draws = list(range(self._planned_draws(storage)))
            wide_s, kinds = 60 * self.minutes * _WIDE_SHARE, self.restriction.arrivals
            for place, arrivals in enumerate(kinds, 1):
                self._wide(storage, arrivals, begun_s + wide_s * place / len(kinds))
            starts = [self._best_of(arrivals) for arrivals in self._promising()]
            self._sharpen(storage, starts, begun_s)
            if self.sharpest is not None:
                self._compare(storage, begun_s + 60 * self.minutes * _FINAL_SHARE)
                return
            for start, ends_s in self._parts(starts, begun_s, _FINE_SHARE):
                self._fine(storage, f"fine-{start.arrivals}", start, ends_s)
            if self.restriction.allows_ack_path and self.error(self.best) > _REPLICATED:
                self._fine(storage, "ack-path", self._ack_start(), begun_s + 60 * self.minutes)

    def _parts(
        self, starts: list[Candidate], begun_s: float, share: float
    ) -> Iterator[tuple[Candidate, float]]:
        """Each start and when its stage is to end, so that all together end at this share of the time."""
        for place, start in enumerate(starts):
            left_s = begun_s + 60 * self.minutes * share - time.monotonic()
            yield start, time.monotonic() + left_s / (len(starts) - place)

    def score(self, figures: Array) -> float:
        """The published error, and a little of how far the losses are off."""
        return float(scores(figures, self.measured, self.weights).mean())

    def error(self, tried: Tried) -> float:
        """The published error."""
        return float(scheme_errors(tried.figures, self.measured).mean())

    def _affordable_draws(self) -> int:
        """So many that the time is enough for the trials of all stages."""
        begun_s = time.monotonic()
        self._replicate(self.space.guess, [0])
        draw_s = max(1e-3, time.monotonic() - begun_s)
        of_first, of_other = (
            SHARPENING_TRIALS + FINALISTS * FINAL_DRAWS,
            FIRST_TRIALS + FIRST_ROUNDS * ROUND_TRIALS,
        )
        trials = WIDE_TRIALS / 2 + of_first + (len(self.restriction.arrivals) - 1) * of_other
        return int(min(_MOST_DRAWS, max(1, 60 * self.minutes * _PLANNED_SHARE / (trials * draw_s))))

    def _planned_draws(self, storage: JournalStorage) -> int:
        """As many as the search began with: one that goes on may find the machine faster or slower."""
        plan = optuna.create_study(storage=storage, study_name=f"{self._digest()}/plan", load_if_exists=True)
        if "draws" not in plan.user_attrs:
            plan.set_user_attr("draws", self._affordable_draws())
        return int(plan.user_attrs["draws"])

    def _study(self, storage: JournalStorage, stage: str) -> optuna.Study:
        pruner = optuna.pruners.PercentilePruner(40.0, n_startup_trials=12)
        name = f"{self._digest()}/{stage}"
        study = optuna.create_study(storage=storage, study_name=name, pruner=pruner, load_if_exists=True)
        for trial in study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,)):
            figures = np.array(trial.user_attrs["figures"])
            self._keep(Tried(self._candidate(trial), figures, self.score(figures)))
        return study

    def _digest(self) -> str:
        """Of the target and of the core that runs."""
        traces = [Path(trace).read_text() for trace in self.restriction.traces]
        content = json.dumps([asdict(self.target), asdict(self.restriction), traces], sort_keys=True)
        core = Path(_core.__file__ or "").read_bytes()
        return hashlib.sha256(content.encode() + hashlib.sha256(core).digest()).hexdigest()[:16]

    def _candidate(self, trial: optuna.trial.FrozenTrial) -> Candidate:
        places = {name: trial.params[name] for name in (*PARAMETERS, ACK_PATH) if name in trial.params}
        return self.space.at(places, trial.user_attrs["arrivals"])

    def _keep(self, tried: Tried) -> None:
        self.tried.append(tried)
        best = self.best
        self.report(len(self.tried), self.error(best), best.candidate)

    def _wide(self, storage: JournalStorage, arrivals: str, ends_s: float) -> None:
        """TPE over these arrivals; a poor first look ends a trial."""
        study = self._study(storage, f"wide-{arrivals}")
        starts = [self.space.places(start) for start in self.space.starts(arrivals)]

        def objective(trial: optuna.Trial) -> float:
            names = self.restriction.parameters
            candidate = self.space.at({name: trial.suggest_float(name, 0, 1) for name in names}, arrivals)
            trial.set_user_attr("arrivals", arrivals)
            short_s = max(_SHORT_S, self.target.seconds * _SHORT_SHARE)
            if short_s < self.target.seconds:
                trial.report(self.score(self._replicate(candidate, [0], short_s)), 0)
                if trial.should_prune():
                    raise optuna.TrialPruned
            tried = self._replicated(candidate)
            trial.set_user_attr("figures", tried.figures.tolist())
            return tried.score

        finished = (TrialState.COMPLETE, TrialState.PRUNED)
        done = len(study.get_trials(deepcopy=False, states=finished))
        for number in range(done, WIDE_TRIALS // len(self.restriction.arrivals)):
            if self.tried and time.monotonic() > ends_s:  # however short the time, there is an answer
                return
            # Each trial is drawn anew from those that have ended, not from one that was killed: a search
            # that goes on takes the same steps.
            study.sampler = optuna.samplers.TPESampler(
                seed=_SEED + number, n_startup_trials=20, multivariate=True, constant_liar=False
            )
            if number < len(starts) and not study.get_trials(deepcopy=False, states=(TrialState.WAITING,)):
                study.enqueue_trial(starts[number])
            study.optimize(objective, n_trials=1)

    def _promising(self) -> list[str]:
        """Arrivals whose best candidate may still win, the better first."""
        least = {
            arrivals: min((t.score for t in self.tried if t.candidate.arrivals == arrivals), default=math.inf)
            for arrivals in self.restriction.arrivals
        }
        ranked = sorted(self.restriction.arrivals, key=least.__getitem__)
        worst = min(_SECOND_ARRIVALS * least[ranked[0]], sys.float_info.max)  # none, of what was not tried
        return [each for each in ranked if least[each] <= worst]

    def _best_of(self, arrivals: str) -> Candidate:
        of_these = (tried for tried in self.tried if tried.candidate.arrivals == arrivals)
        return min(of_these, key=lambda tried: tried.score).candidate

    def _ack_start(self) -> Candidate:
        """The best candidate with the best of some ACK paths."""
        best = self.best.candidate
        tried = [replace(best, ack_mbps=round(share * best.rate_mbps, 4)) for share in _ACK_SHARES]
        return min(tried, key=lambda candidate: self.score(self._replicate(candidate, self.draws)))

    def _fine(self, storage: JournalStorage, stage: str, start: Candidate, ends_s: float) -> None:
        """CMA-ES from `start`, with the same arrivals."""
        import cmaes  # late: with it comes scipy.stats, which takes a second

        names = tuple(self.space.places(start))
        study = self._study(storage, stage)
        walk = cmaes.CMA(
            np.array([self.space.places(start)[name] for name in names]),
            _FINE_STEP,
            bounds=np.tile([0.0, 1.0], (len(names), 1)),
            seed=_SEED,
        )
        for _ in range(FINE_TRIALS // walk.population_size):
            told = []
            for _ in range(walk.population_size):
                if time.monotonic() > ends_s:
                    return
                point = walk.ask()
                places = dict(zip(names, map(float, point), strict=True))
                told.append((point, self._score_at(study, places, start.arrivals)))
            walk.tell(told)

    def _score_at(self, study: optuna.Study, places: dict[str, float], arrivals: str) -> float:
        """Replicated, unless it was before: the walk's seed makes it take the same steps when it goes on."""
        candidate = self.space.at(places, arrivals)
        known = next((tried for tried in self.tried if tried.candidate == candidate), None)
        if known is not None:
            return known.score
        tried = self._replicated(candidate)
        study.add_trial(
            optuna.create_trial(
                params=places,
                distributions=dict.fromkeys(places, FloatDistribution(0, 1)),
                value=tried.score,
                user_attrs={"arrivals": arrivals, "figures": tried.figures.tolist()},
            )
        )
        return tried.score

    def _sharpen(self, storage: JournalStorage, starts: list[Candidate], begun_s: float) -> None:
        """Runs where the likelihood is high, around each start; after some rounds what fits goes on."""
        measurements = Measurements(self.target.measured)
        self.sharpened = {
            start.arrivals: Sharpening(
                self.space, measurements, start, len(self.draws), _FIRST_SHARP_DRAW, _SEED
            )
            for start in starts
        }
        for start, ends_s in self._parts(starts, begun_s, _FIRST_SHARE):
            runs = self._recorded_replications(storage, f"sharp-{start.arrivals}", ends_s)
            self.sharpened[start.arrivals].go_on(runs, FIRST_ROUNDS)
        starts = [] if self.sharpest is None else [each.start for each in self._probable()]
        for start, ends_s in self._parts(starts, begun_s, _SHARP_SHARE):
            runs = self._recorded_replications(storage, f"sharp-{start.arrivals}", ends_s)
            self.sharpened[start.arrivals].go_on(runs, ROUNDS)

    def _probable(self) -> list[Sharpening]:
        """Those that are not out of the question beside the best."""
        most = max(each.log_evidence for each in self.sharpened.values())
        return [each for each in self.sharpened.values() if each.log_evidence > most - _OUT_OF_THE_QUESTION]

    def _compare(self, storage: JournalStorage, ends_s: float) -> None:
        """Finalists of all arrivals that are still probable."""
        for each in self._probable():
            each.compare(self._recorded_replications(storage, f"final-{each.start.arrivals}", ends_s))

    def _recorded_replications(self, storage: JournalStorage, stage: str, ends_s: float) -> Replicate:
        """Runs a candidate with so many draws from the first one on, unless it did so before."""
        study = optuna.create_study(
            storage=storage, study_name=f"{self._digest()}/{stage}", load_if_exists=True
        )
        known = {trial.user_attrs["flight"]: trial.user_attrs["figures"] for trial in study.get_trials()}

        def replicate(candidate: Candidate, first_draw: int, draws: int) -> Array | None:
            asked = json.dumps([asdict(candidate), first_draw, draws])
            if asked in known:
                return np.array(known[asked])
            if time.monotonic() > ends_s:
                return None
            figures = self._replicate(candidate, range(first_draw, first_draw + draws))
            attributes = {"flight": asked, "figures": figures.tolist()}
            study.add_trial(optuna.create_trial(value=self.score(figures), user_attrs=attributes))
            known[asked] = attributes["figures"]
            error = float(scheme_errors(figures, self.measured).mean())
            self.report(len(self.tried) + len(known), error, candidate)
            return figures

        return replicate

    def _replicated(self, candidate: Candidate) -> Tried:
        figures = self._replicate(candidate, self.draws)
        tried = Tried(candidate, figures, self.score(figures))
        self._keep(tried)
        return tried


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
        if is_disk_full(error):
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise InputError(f"{path}: cannot keep the search: {error.strerror}") from None
