"""The search for the least error: wide and cheap first, then fine around the best of either arrivals.

A study of Optuna's for each stage, in one file, under the digest of what is searched: a search that was
stopped goes on, and two with different targets do not meet.
"""

import hashlib
import json
import math
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
import optuna
from ccgym.envs import _core
from ccgym.envs.logs.event_log import Array
from ccgym.envs.outside_files import sha256_of
from ccgym.envs.specs.link_spec import OPPORTUNITY_BITS
from ccgym.evaluation.sessions.executors import open_executor
from optuna.storages import JournalStorage
from optuna.trial import TrialState

from .candidate import ACK_PATH, PARAMETERS, Candidate, Restriction, Space, space_of
from .kept_runs import KeptRuns, TimeLimit, open_storage, quiet_optuna
from .replication import Replicator, measured_figures, scheme_errors
from .target import Measured, Target

WIDE_TRIALS, FINE_TRIALS = 120, 140
_FINE_STEP = 0.05
"""First step of the fine search, in the unit cube."""

_WIDE_SHARE = 0.25
"""Share of the time at which the wide search ends at the latest."""

_DRAWS, _MANY_PACKETS = 2, 400_000
"""Draws per candidate; one draw if all schemes of a draw have more packets than this: then more candidates
are worth more than more draws of each."""
_SHORT_S, _SHORT_SHARE = 8.0, 1 / 3
"""A first look at a candidate is one draw with runs of so many seconds, or this share of the target's."""

_SECOND_ARRIVALS = 2.0
"""The fine search leaves out arrivals whose best score is this many times the other's."""

SEED, _KEPT = 15, 2
"""The second: version of the format of kept runs."""


@dataclass(frozen=True)
class Tried:
    """A candidate that was run in full."""

    candidate: Candidate
    figures: Array
    """(draws, schemes, 3); see `replication`."""
    score: float


@dataclass
class LeastErrorSearch:
    """One search; `tried` grows while it runs."""

    target: Target
    storage: Path
    minutes: float
    """The most that it takes: it ends by itself after its trials."""
    report: Callable[[int, float, Candidate], None]
    """Called after every candidate: number of candidates so far, an error, and the candidate it is of."""
    restriction: Restriction = field(default_factory=Restriction)
    ray_address: str | None = None
    """Ray cluster for the runs; None: the cores of this machine."""
    tried: list[Tried] = field(default_factory=list)
    space: Space = field(init=False)
    measured: Array = field(init=False)
    draws: range = field(init=False)
    """Draws of every candidate: they depend on the target alone."""
    limit: TimeLimit = field(init=False)

    def __post_init__(self) -> None:
        self.space = space_of(self.target, self.restriction)
        self.measured = measured_figures(self.target.measured)
        rate_mbps = sum(row.throughput_mbps for row in self.target.measured)
        packets = 1e6 * rate_mbps * self.target.seconds / OPPORTUNITY_BITS
        self.draws = range(1 if packets > _MANY_PACKETS else _DRAWS)
        self.limit = TimeLimit(self.minutes)

    @property
    def best(self) -> Tried:
        """The candidate with the least score."""
        return min(self.tried, key=lambda tried: tried.score)

    def score(self, figures: Array) -> float:
        """The objective: the published error."""
        return float(scheme_errors(figures, self.measured).mean())

    def error(self, tried: Tried) -> float:
        """The published error."""
        return float(scheme_errors(tried.figures, self.measured).mean())

    def run(self) -> None:
        """Searches until all trials are done or the time is over; an interruption leaves what was tried."""
        self.limit = TimeLimit(self.minutes)
        with open_executor(self.ray_address) as executor, quiet_optuna(), open_storage(self.storage) as kept:
            self._replicate = Replicator(self.target, executor).replicate
            self._stages(kept)

    def _stages(self, kept: JournalStorage) -> None:
        self._fine_around(kept, self._wide_starts(kept), 1.0)

    def _wide_starts(self, kept: JournalStorage) -> list[Candidate]:
        """The best candidates of a wide search, one for each kind of arrivals that may still win."""
        kinds = self.restriction.arrivals
        for place, arrivals in enumerate(kinds, 1):
            self._wide(kept, arrivals, self.limit.share_ends_s(_WIDE_SHARE * place / len(kinds)))
        return [self._best_of(arrivals) for arrivals in self._promising()]

    def _fine_around(self, kept: JournalStorage, starts: list[Candidate], share: float) -> None:
        for start, ends_s in zip(starts, self.limit.parts(len(starts), share), strict=True):
            self._fine(kept, f"fine-{start.arrivals}", start, ends_s)

    def _study(self, kept: JournalStorage, stage: str) -> optuna.Study:
        pruner = optuna.pruners.PercentilePruner(40.0, n_startup_trials=12)
        name = f"{self._digest()}/{stage}"
        return optuna.create_study(storage=kept, study_name=name, pruner=pruner, load_if_exists=True)

    def _digest(self) -> str:
        """Digest of the target and its policies, of the compiled core, and of the format of kept runs."""
        traces = [sha256_of(Path(trace), "the trace") for trace in self.restriction.traces]
        policies = [sha256_of(file, "the policy") for file in map(_policy_file, self.target.measured) if file]
        kept = [asdict(self.target), policies, asdict(self.restriction), traces, _KEPT]
        content = json.dumps(kept, sort_keys=True)
        core = Path(_core.__file__ or "").read_bytes()
        return hashlib.sha256(content.encode() + hashlib.sha256(core).digest()).hexdigest()[:16]

    def _keep(self, candidate: Candidate, figures: Array) -> Tried:
        tried = Tried(candidate, figures, self.score(figures))
        self.tried.append(tried)
        best = self.best
        self.report(len(self.tried), self.error(best), best.candidate)
        return tried

    def _wide(self, kept: JournalStorage, arrivals: str, ends_s: float) -> None:
        """Searches with TPE over these arrivals; a poor first look ends a trial."""
        study = self._study(kept, f"wide-{arrivals}")
        for trial in study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,)):
            self._keep(self._candidate(trial, arrivals), np.array(trial.user_attrs["figures"]))
        starts = [self.space.places(start) for start in self.space.starts(arrivals)]

        def objective(trial: optuna.Trial) -> float:
            names = self.restriction.parameters
            candidate = self.space.at({name: trial.suggest_float(name, 0, 1) for name in names}, arrivals)
            short_s = max(_SHORT_S, self.target.seconds * _SHORT_SHARE)
            if short_s < self.target.seconds:
                trial.report(self.score(self._replicate(candidate, [0], short_s)), 0)
                if trial.should_prune():
                    raise optuna.TrialPruned
            tried = self._keep(candidate, self._replicate(candidate, self.draws))
            trial.set_user_attr("figures", tried.figures.tolist())
            return tried.score

        finished = (TrialState.COMPLETE, TrialState.PRUNED)
        done = len(study.get_trials(deepcopy=False, states=finished))
        for number in range(done, WIDE_TRIALS // len(self.restriction.arrivals)):
            if self.tried and self.limit.is_over(ends_s):  # at least one is tried, however short the time
                return
            # A new sampler for each trial, fitted to the finished trials only: a search that continues after
            # a kill takes the same steps.
            study.sampler = optuna.samplers.TPESampler(
                seed=SEED + number, n_startup_trials=20, multivariate=True, constant_liar=False
            )
            if number < len(starts) and not study.get_trials(deepcopy=False, states=(TrialState.WAITING,)):
                study.enqueue_trial(starts[number])
            _try_next(study, objective)

    def _candidate(self, trial: optuna.trial.FrozenTrial, arrivals: str) -> Candidate:
        places = {name: trial.params[name] for name in (*PARAMETERS, ACK_PATH) if name in trial.params}
        return self.space.at(places, arrivals)

    def _promising(self) -> list[str]:
        """Arrivals whose best candidate may still win, the better first."""
        least = {
            arrivals: min((t.score for t in self.tried if t.candidate.arrivals == arrivals), default=math.inf)
            for arrivals in self.restriction.arrivals
        }
        ranked = sorted(self.restriction.arrivals, key=least.__getitem__)
        worst = min(_SECOND_ARRIVALS * least[ranked[0]], sys.float_info.max)  # without untried arrivals
        return [each for each in ranked if least[each] <= worst]

    def _best_of(self, arrivals: str) -> Candidate:
        of_these = (tried for tried in self.tried if tried.candidate.arrivals == arrivals)
        return min(of_these, key=lambda tried: tried.score).candidate

    def _fine(self, kept: JournalStorage, stage: str, start: Candidate, ends_s: float) -> None:
        """Searches with CMA-ES from `start`, with the same arrivals; by its seed it repeats its steps."""
        import cmaes  # imported late: it imports scipy.stats, which takes a second

        names, runs = tuple(self.space.places(start)), self._kept_runs(kept, stage, ends_s)
        walk = cmaes.CMA(
            np.array([self.space.places(start)[name] for name in names]),
            _FINE_STEP,
            bounds=np.tile([0.0, 1.0], (len(names), 1)),
            seed=SEED,
        )
        for _ in range(FINE_TRIALS // walk.population_size):
            told = []
            for _ in range(walk.population_size):
                point = walk.ask()
                candidate = self.space.at(dict(zip(names, map(float, point), strict=True)), start.arrivals)
                score = self._score_of(candidate, runs)
                if score is None:
                    return
                told.append((point, score))
            walk.tell(told)

    def _score_of(self, candidate: Candidate, runs: KeptRuns) -> float | None:
        """The score of `candidate`; None: the time is over."""
        known = next((tried for tried in self.tried if tried.candidate == candidate), None)
        if known is not None:
            return known.score
        figures = runs(candidate, self.draws.start, len(self.draws))
        return None if figures is None else self._keep(candidate, figures).score

    def _kept_runs(self, kept: JournalStorage, stage: str, ends_s: float) -> KeptRuns:
        return KeptRuns(self._study(kept, stage), self._replicate, self.limit, ends_s)


def _try_next(study: optuna.Study, objective: Callable[[optuna.Trial], float]) -> None:
    """As `study.optimize` does, which answers a full disk with an assertion of its own."""
    trial = study.ask()
    try:
        score = objective(trial)
    except optuna.TrialPruned:
        study.tell(trial, state=TrialState.PRUNED)
    else:
        study.tell(trial, score)


def _policy_file(measured: Measured) -> Path | None:
    """The policy file of a scheme `policy:FILE` or `policy:FILE:PREFERENCE`; None: of another scheme."""
    kind, _, argument = measured.controller.partition(":")
    if kind != "policy":
        return None
    whole = Path(argument)
    return whole if whole.is_file() else Path(argument.rpartition(":")[0])
