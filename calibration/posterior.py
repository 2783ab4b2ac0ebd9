"""Which parameters fit as well: a response surface through what was flown, and what it allows.

The figures of each scheme are taken as quadratic functions of the parameters near the best candidate. Under
them every point of that region is weighed by how probable it makes what was measured, given how far runs,
draws and the surface itself are off: flights are chaotic, and a search has seen some candidates only.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from ccgym.envs.logs.event_log import Array

from .candidate import Candidate
from .replication import DELAY, LOSS, THROUGHPUT
from .search import Search, Tried

WHOLE = ("delay_ms", "queue_packets")
_NEAREST = 80
"""Candidates of the best scores, through which the surface goes."""
_SAMPLES = 20_000
_REACH = 2.0
"""The region is so many times as wide as those candidates lie apart."""
_LEAST_REACH = 0.04
"""Of the unit cube."""
_SCORE_SCALE = 0.01
_LINEAR_RIDGE, _QUADRATIC_RIDGE = 1e-4, 1e-2
_DEGREES = 3.0
"""Of Student's distribution: some schemes have two modes over one and the same link."""
_DEPENDENCE = 2.0
"""Figures of one flight depend on each other: so many say as much as one."""
_LEAST_SPREAD = np.array([0.005, 0.005, 0.003])
"""Of the logarithms of throughput and delay, and of the root of the loss."""
_MOST_DELAY_MS = 1e6


@dataclass(frozen=True)
class Posterior:
    """Points of the search's unit cube, each with its probability."""

    names: tuple[str, ...]
    points: Array
    """(samples, parameters)."""
    probabilities: Array

    def interval(self, name: str, confidence: float) -> tuple[float, float]:
        """The places between which this parameter is, with this probability."""
        places = self.points[:, self.names.index(name)]
        order = np.argsort(places)
        below = np.cumsum(self.probabilities[order])
        ends = np.searchsorted(below, [(1 - confidence) / 2, (1 + confidence) / 2])
        low, high = places[order][np.minimum(ends, len(places) - 1)]
        return float(low), float(high)

    def drawn(self, count: int, generator: np.random.Generator) -> list[dict[str, float]]:
        """So many places, each as often as it is probable."""
        chosen = generator.choice(len(self.points), count, p=self.probabilities)
        return [dict(zip(self.names, map(float, self.points[each]), strict=True)) for each in chosen]


def posterior_of(search: Search, arrivals: str, generator: np.random.Generator) -> Posterior | None:
    """What the measurements say of the parameters if these are the arrivals; None: too little was flown."""
    fits = sorted(
        (tried for tried in search.fits if tried.candidate.arrivals == arrivals), key=lambda each: each.score
    )[:_NEAREST]
    if not fits:
        return None
    names = tuple(search.space.places(fits[0].candidate))
    places = _places(search, [tried.candidate for tried in fits])
    quadratic = len(fits) >= 2 * _terms(len(names), quadratic=True)
    if not quadratic and len(fits) < 2 * _terms(len(names), quadratic=False):
        return None
    surface = _Surface(places, fits, quadratic=quadratic)
    points = _region(places, generator)
    likelihoods = _log_likelihoods(search, surface, fits, points) / _DEPENDENCE
    probabilities = np.exp(likelihoods - likelihoods.max())
    return Posterior(names, points, probabilities / probabilities.sum())


class _Surface:
    """The figures (schemes x 3, flat) as functions of the place."""

    def __init__(self, places: Array, fits: Sequence[Tried], *, quadratic: bool) -> None:
        self._centre, self._quadratic = places[0], quadratic
        figures = np.stack([_transformed(tried.figures).mean(axis=0).ravel() for tried in fits])
        weights = 1 / (np.array([tried.score for tried in fits]) + _SCORE_SCALE)
        terms = self._terms(places)
        ridge = np.full(terms.shape[1], _QUADRATIC_RIDGE)
        ridge[: 1 + places.shape[1]] = _LINEAR_RIDGE
        ridge[0] = 0
        weighed = weights[:, None] * terms
        left = terms.T @ weighed + np.diag(ridge * weights.sum())
        self._factors = np.linalg.solve(left, weighed.T @ figures)
        off = weights @ (figures - self.at(places)) ** 2 / weights.sum()
        self.variance: Array = off / (1 - terms.shape[1] / len(fits))
        """Of each figure about the surface."""

    def at(self, places: Array) -> Array:
        """(places, figures)."""
        figures: Array = self._terms(places) @ self._factors
        return figures

    def _terms(self, places: Array) -> Array:
        away = places - self._centre
        columns = [np.ones(len(away)), *away.T]
        if self._quadratic:
            columns += [first * second for i, first in enumerate(away.T) for second in away.T[i:]]
        return np.stack(columns, axis=1)


def _terms(parameters: int, *, quadratic: bool) -> int:
    return 1 + parameters + (parameters * (parameters + 1) // 2 if quadratic else 0)


def _places(search: Search, candidates: Sequence[Candidate]) -> Array:
    return np.array([list(search.space.places(each).values()) for each in candidates])


def _region(places: Array, generator: np.random.Generator) -> Array:
    low, high = places.min(axis=0), places.max(axis=0)
    reach = np.maximum(_REACH * (high - low), _LEAST_REACH) / 2
    middle = (low + high) / 2
    low, high = np.clip(middle - reach, 0, 1), np.clip(middle + reach, 0, 1)
    region: Array = low + (high - low) * generator.random((_SAMPLES, places.shape[1]))
    return region


def _transformed(figures: Array) -> Array:
    """So that their spread does not depend on their size."""
    return np.stack(
        [
            np.log(np.maximum(figures[..., THROUGHPUT], 1e-6)),
            np.log(np.clip(figures[..., DELAY], 1e-3, _MOST_DELAY_MS)),
            np.sqrt(np.clip(figures[..., LOSS], 0, 1)),
        ],
        axis=-1,
    )


def _log_likelihoods(search: Search, surface: _Surface, fits: Sequence[Tried], points: Array) -> Array:
    known = ~np.isnan(search.measured).ravel()
    wanted = _transformed(np.nan_to_num(search.measured)).ravel()
    variance = _variance(search, fits).ravel() + surface.variance
    squares = (surface.at(points) - wanted) ** 2 / variance
    likelihoods = -(_DEGREES + 1) / 2 * np.log1p(squares / _DEGREES)
    total: Array = likelihoods[:, known].sum(axis=1)
    return total


def _variance(search: Search, fits: Sequence[Tried]) -> Array:
    """Of measured minus emulated figures (schemes, 3), by the chance of runs and draws."""
    rows, draws = search.target.measured, len(fits[0].figures)
    told = np.array(
        [
            [(row.throughput_error or 0) / row.throughput_mbps, (row.delay_error or 0) / row.p95_delay_ms, 0]
            for row in rows
        ]
    )
    runs = np.array([row.runs for row in rows])[:, None]
    nearest = np.stack([_transformed(tried.figures) for tried in fits[: _NEAREST // 4]])
    of_draws = nearest.var(axis=1, ddof=1).mean(axis=0) if draws > 1 else np.zeros_like(told)
    variance: Array = np.maximum(told**2, of_draws / runs) + of_draws / draws + _LEAST_SPREAD**2
    return variance
