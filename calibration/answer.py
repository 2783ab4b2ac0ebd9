"""The answer of a search: the emulator, how well it replicates each scheme, and what stays open."""

import math
from collections import Counter
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from ccgym.envs.logs.event_log import Array

from .candidate import ARRIVALS, PARAMETERS, Candidate
from .least_error import Tried
from .posterior import LEAST_REACH, WHOLE, Measurements, Posterior, Region, posterior_of, terms
from .replication import (
    DELAY,
    LOSS,
    THROUGHPUT,
    Replicator,
    left_out_errors,
    measured_figures,
    scheme_errors,
    scores,
)
from .search import Search
from .sharpening import Sharpening

CUT_SHORT = "The search was cut short: with more minutes the same command goes on, maybe to another answer"
CONFIDENCE = 0.9
_TAIL = (1 - CONFIDENCE) / 2
POSTERIOR = 16
_DRAWS = 6
"""Draws for the answer, as a multiple of those per candidate in the search."""
_FINALISTS, _FINALIST_DRAWS = 8, 8
"""Finalists of a search for the least error, and their draws as a multiple of those of the search."""
_RESAMPLES, _RARE = 1000, 100
"""Resamples of the runs; a kind of arrivals that is best in fewer than `_RARE` of them does not count."""
_NEAREST = 80
_SEED = 16
_FEWEST_DEGREES = 2
_AS_GOOD = 0.02
"""A candidate that scores better than the middle by more than this is taken instead: a continued search gives
no worse answer than by this."""
_TELLABLE_LOSS = 3e-4
"""A smaller loss cannot be told from none: it is a few packets of a run, which a queue may drop."""
_DETERMINED = 2.0
"""Ratio of the ends of an interval above which a parameter counts as undetermined."""
_OPEN_QUEUE_CHANGE = 0.003
"""The queue counts as never full if four times its length changes the error by no more than this."""


@dataclass(frozen=True)
class SchemeFit:
    """One scheme, measured and emulated."""

    scheme: str
    error: float
    throughput_mbps: float
    p95_delay_ms: float
    loss: float | None
    emulated_throughput_mbps: float
    emulated_p95_delay_ms: float
    emulated_loss: float


@dataclass(frozen=True)
class Answer:
    """The answer of `ccgym calibrate`."""

    candidate: Candidate
    error: float
    """Mean over the schemes, as published."""
    schemes: list[SchemeFit]
    left_out_errors: dict[str, float]
    """Error of each scheme on the emulator that was chosen without it."""
    intervals: dict[str, tuple[float, float]]
    """Interval of 90 % of each parameter."""
    poisson_probability: float
    undetermined: dict[str, str]
    """Parameters that the measurements do not determine, and why."""
    left_out: dict[str, str]
    """Measurements of the target that the fit does not use, and why."""
    candidates: int
    """Number of candidates that were run in full."""
    cut_short: bool
    """Whether time or user ended the search before its last trial; otherwise it is repeatable."""
    posterior: list[Candidate]
    """An ensemble: `POSTERIOR` candidates drawn from those that fit within the spread of the runs."""

    @property
    def left_out_error(self) -> float:
        """Mean of `left_out_errors` over the schemes."""
        return float(np.mean(list(self.left_out_errors.values())))

    def as_json(self) -> dict[str, Any]:
        """`error`, `per_scheme`, `left_out_error`, and all the rest."""
        return {
            "error": self.error,
            "per_scheme": {fit.scheme: fit.error for fit in self.schemes},
            "left_out_error": self.left_out_error,
            "left_out_per_scheme": self.left_out_errors,
            "parameters": asdict(self.candidate),
            "intervals": self.intervals,
            "poisson_probability": self.poisson_probability,
            "undetermined": self.undetermined,
            "left_out": self.left_out,
            "schemes": [asdict(fit) for fit in self.schemes],
            "candidates": self.candidates,
            "cut_short": self.cut_short,
            "posterior": [asdict(candidate) for candidate in self.posterior],
        }


def answer_of(search: Search, replicator: Replicator) -> Answer:
    """Derives the answer from all candidates that were tried."""
    sharpest = search.sharpest
    if sharpest is None:
        best, of_left_out = _best_of_finalists(search, replicator)
        intervals, ensemble, poisson = _resampled_intervals(search, best.candidate)
    else:
        best = _best_fit(search, sharpest, replicator)
        of_left_out = _sharp_left_out_errors(search, sharpest, replicator)
        intervals, ensemble, poisson = _sharp_intervals(search, sharpest, best.candidate)
    return Answer(
        candidate=best.candidate,
        error=search.error(best),
        schemes=_scheme_fits(search, best),
        left_out_errors=of_left_out,
        intervals=intervals,
        poisson_probability=poisson,
        undetermined=_undetermined(search, best, replicator, intervals, poisson),
        left_out=search.target.left_out,
        candidates=len(search.tried) + sum(each.tried for each in search.sharpened.values()),
        cut_short=search.limit.cut_short,
        posterior=ensemble,
    )


def _best_fit(search: Search, sharpest: Sharpening, replicator: Replicator) -> Tried:
    """The middle of the posterior, unless it fits worse: with two modes the middle may be in neither."""
    candidates = dict.fromkeys([sharpest.centre, sharpest.likeliest, search.best.candidate])
    centre, *others = (_replicated(search, candidate, replicator) for candidate in candidates)
    least = min(others, key=lambda tried: tried.score, default=centre)
    return least if centre.score > least.score + _AS_GOOD else centre


def _replicated(search: Search, candidate: Candidate, replicator: Replicator) -> Tried:
    """Runs a candidate with more draws than the search, for its final figures."""
    figures = replicator.replicate(candidate, range(_DRAWS * len(search.draws)))
    return Tried(candidate, figures, search.score(figures))


def _sharp_left_out_errors(search: Search, sharpest: Sharpening, replicator: Replicator) -> dict[str, float]:
    """Each scheme's error on the emulator that is fitted to the other schemes."""
    errors, draws = {}, range(_DRAWS * len(search.draws))
    for index, row in enumerate(search.target.measured):
        only_scheme = replace(replicator, target=replace(search.target, measured=(row,)))
        figures = only_scheme.replicate(sharpest.candidate_without(index), draws)
        errors[row.scheme] = float(scheme_errors(figures, measured_figures([row]))[0])
    return errors


def _sharp_intervals(
    search: Search, sharpest: Sharpening, best: Candidate
) -> tuple[dict[str, tuple[float, float]], list[Candidate], float]:
    """The intervals of 90 %, an ensemble from the posterior, and the probability of Poisson arrivals."""
    generator = np.random.default_rng(_SEED)
    probabilities = search.arrivals_probabilities
    intervals = {}
    for name in sharpest.names:
        ends = [
            each.interval(name, CONFIDENCE)
            for arrivals, each in search.sharpened.items()
            if probabilities.get(arrivals, 0.0) > 1 - CONFIDENCE
        ]
        value = getattr(best, name)
        low, high = min(low for low, _ in ends), max(high for _, high in ends)
        intervals[name] = _rounded(name, min(low, value), max(high, value))
    ensemble: list[Candidate] = []
    for arrivals, probability in sorted(probabilities.items(), key=lambda item: -item[1]):
        count = math.ceil(POSTERIOR * probability - 0.5)
        ensemble += search.sharpened[arrivals].ensemble(min(count, POSTERIOR - len(ensemble)), generator)
    return intervals, ensemble, probabilities.get(ARRIVALS[1], 0.0)


def _scheme_fits(search: Search, best: Tried) -> list[SchemeFit]:
    emulated, errors = best.figures.mean(axis=0), scheme_errors(best.figures, search.measured)
    return [
        SchemeFit(
            scheme=row.scheme,
            error=float(error),
            throughput_mbps=row.throughput_mbps,
            p95_delay_ms=row.p95_delay_ms,
            loss=row.loss,
            emulated_throughput_mbps=float(figures[THROUGHPUT]),
            emulated_p95_delay_ms=float(figures[DELAY]),
            emulated_loss=float(figures[LOSS]),
        )
        for row, error, figures in zip(search.target.measured, errors, emulated, strict=True)
    ]


def _tried_figures(search: Search) -> Array:
    """Figures of all candidates (candidates, draws, schemes, 3)."""
    figures: Array = np.stack([tried.figures for tried in search.fits])
    return figures


def _best_of_finalists(search: Search, replicator: Replicator) -> tuple[Tried, dict[str, float]]:
    """The best finalist, and each scheme's error on the one that replicates the others best.

    Uses draws that the search has not used: the best of hundreds of candidates is partly best by chance on
    the few draws of the search, above all where schemes have two modes.
    """
    draws = range(search.draws.stop, search.draws.stop + _FINALIST_DRAWS * len(search.draws))
    finalists = []
    for candidate in _finalists(search):
        figures = replicator.replicate(candidate, draws)
        finalists.append(Tried(candidate, figures, search.score(figures)))
    figures = np.stack([tried.figures for tried in finalists])
    errors = left_out_errors(figures, search.measured, search.weights)
    best = min(finalists, key=lambda tried: tried.score)
    return best, dict(zip(search.target.schemes, map(float, errors), strict=True))


def _finalists(search: Search) -> list[Candidate]:
    """The best of the search, and the best for all schemes but one."""
    fits = search.fits
    of_schemes = scores(_tried_figures(search), search.measured, search.weights)
    totals = of_schemes.sum(axis=1, keepdims=True)
    best = totals[:, 0].argsort()[:_FINALISTS]
    best_without = (totals - of_schemes).argmin(axis=0)
    return list(dict.fromkeys(fits[place].candidate for place in (*best, *best_without)))


def _resampled_intervals(
    search: Search, best: Candidate
) -> tuple[dict[str, tuple[float, float]], list[Candidate], float]:
    """The same when no emulator fits the path: the best candidates for resampled outcomes of the runs.

    Points between the candidates that were run count as well, by a response surface through the candidates.
    """
    generator, fits = np.random.default_rng(_SEED), search.fits
    chosen = [fits[place].candidate for place in _resampled(search, generator)]
    shares = Counter(each.arrivals for each in chosen)
    surfaces = [_surface(search, kind, generator) for kind, count in shares.items() if count > _RARE]
    intervals = {}
    for name in search.space.places(best):
        tails = [100 * _TAIL, 100 - 100 * _TAIL]
        ends = [getattr(best, name), *np.percentile([getattr(each, name) for each in chosen], tails)]
        for surface in filter(None, surfaces):
            ends += map(search.space.bounds[name].at, surface.interval(name, CONFIDENCE))
        intervals[name] = _rounded(name, min(ends), max(ends))
    step = max(1, len(chosen) // POSTERIOR)
    return intervals, chosen[::step][:POSTERIOR], shares[ARRIVALS[1]] / len(chosen)


def _surface(search: Search, arrivals: str, generator: np.random.Generator) -> Posterior | None:
    """A response surface through the best candidates with these arrivals; None: they are too few."""
    fits = sorted(
        (tried for tried in search.fits if tried.candidate.arrivals == arrivals), key=lambda each: each.score
    )[:_NEAREST]
    names = tuple(search.space.places(fits[0].candidate))
    if len(fits) < 2 * terms(len(names)):
        return None
    places = np.array([list(search.space.places(tried.candidate).values()) for tried in fits])
    region = Region(places[0], np.maximum(places.std(axis=0), LEAST_REACH))
    figures = np.stack([tried.figures for tried in fits])
    return posterior_of(names, places, figures, region, Measurements(search.target.measured), generator)


def _rounded(name: str, low: float, high: float) -> tuple[float, float]:
    """Rounds integer parameters, and a loss that cannot be told from none to none."""
    if name in WHOLE:
        return float(math.floor(low)), float(math.ceil(high))
    if name == "loss" and low < _TELLABLE_LOSS:
        return 0.0, float(high)
    return float(low), float(high)


def _resampled(search: Search, generator: np.random.Generator) -> Array:
    """The best candidate for each of many resampled outcomes of the runs."""
    figures, spread = _tried_figures(search), _standard_errors(search)
    degrees = np.array([max(_FEWEST_DEGREES, row.runs - 1) for row in search.target.measured])
    chosen = []
    for _ in range(_RESAMPLES):
        moved = search.measured + spread * generator.standard_t(degrees[:, None], spread.shape)
        moved[:, :LOSS] = np.maximum(moved[:, :LOSS], 0.05 * search.measured[:, :LOSS])
        moved[:, LOSS] = np.clip(moved[:, LOSS], 0, 1)
        chosen.append(int(scores(figures, moved, search.weights).mean(axis=1).argmin()))
    return np.array(chosen)


def _standard_errors(search: Search) -> Array:
    """Standard deviations of the difference between measured and emulated means (schemes, 3)."""
    draws = search.best.figures
    runs = np.array([row.runs for row in search.target.measured])[:, None]
    measured_errors: Array = np.array(
        [[row.throughput_error or 0.0, row.delay_error or 0.0, 0.0] for row in search.target.measured]
    )
    if len(draws) == 1:
        return np.hypot(measured_errors, measured_errors)
    spread = draws.std(axis=0, ddof=1)
    errors: Array = np.hypot(
        np.maximum(spread / np.sqrt(runs), measured_errors), spread / np.sqrt(len(draws))
    )
    return errors


def _undetermined(
    search: Search,
    best: Tried,
    replicator: Replicator,
    intervals: dict[str, tuple[float, float]],
    poisson: float,
) -> dict[str, str]:
    reasons = {}
    longer = replace(best.candidate, queue_packets=4 * best.candidate.queue_packets)
    figures = replicator.replicate(longer, search.draws)
    if abs(search.score(figures) - best.score) < _OPEN_QUEUE_CHANGE:
        reasons["queue_packets"] = "no scheme fills the queue: any that is as long will do"
    for name, (low, high) in intervals.items():
        if name in PARAMETERS[:3] and name not in reasons and high > _DETERMINED * low:
            reasons[name] = f"anything from {low:g} to {high:g} fits within the spread of the runs"
    if _TAIL < poisson < 1 - _TAIL:
        reasons["arrivals"] = f"poisson with a probability of {100 * poisson:.0f} %"
    return reasons
