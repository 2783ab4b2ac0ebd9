"""What a search found: the emulator, how well it replicates each scheme, and what stays open."""

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from ccgym.envs.logs.event_log import Array

from .candidate import ARRIVALS, PARAMETERS, Candidate
from .replication import DELAY, LOSS, THROUGHPUT, Replicator, loss_differences, scheme_errors
from .search import LOSS_WEIGHT, Search, Tried

CONFIDENCE = 0.9
_RESAMPLES = 1000
_SEED = 16
_FEWEST_DEGREES = 2
_OPEN_QUEUE_CHANGE = 0.003
"""Of the error: a queue that may be four times as long without more was never full."""


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
    """What `ccgym calibrate` says."""

    candidate: Candidate
    error: float
    """Mean over the schemes, as published."""
    schemes: list[SchemeFit]
    left_out_errors: dict[str, float]
    """Of each scheme, on the emulator chosen without it."""
    intervals: dict[str, tuple[float, float]]
    """Of each parameter, 90 %."""
    poisson_probability: float
    undetermined: dict[str, str]
    """What the measurements do not decide, and why."""
    left_out: dict[str, str]
    """What of the target the fit does not stand on."""
    candidates: int
    """How many were flown in full."""

    @property
    def left_out_error(self) -> float:
        """Mean over the schemes."""
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
        }


def answer_of(search: Search, replicator: Replicator) -> Answer:
    """What the candidates that were tried say together."""
    best = search.best
    intervals, poisson = _intervals(search)
    return Answer(
        best.candidate,
        search.error(best),
        _fits(search, best),
        _left_out_errors(search),
        intervals,
        poisson,
        _undetermined(search, best, replicator, intervals, poisson),
        search.target.left_out,
        len(search.tried),
    )


def _fits(search: Search, best: Tried) -> list[SchemeFit]:
    emulated, errors = best.figures.mean(axis=0), scheme_errors(best.figures, search.measured)
    return [
        SchemeFit(
            row.scheme,
            float(error),
            row.throughput_mbps,
            row.p95_delay_ms,
            row.loss,
            float(figures[THROUGHPUT]),
            float(figures[DELAY]),
            float(figures[LOSS]),
        )
        for row, error, figures in zip(search.target.measured, errors, emulated, strict=True)
    ]


def _tried_figures(search: Search) -> Array:
    """Of all candidates (candidates, draws, schemes, 3)."""
    figures: Array = np.stack([tried.figures for tried in search.tried])
    return figures


def _left_out_errors(search: Search) -> dict[str, float]:
    """Each scheme's error on that candidate which replicates the others best."""
    figures = _tried_figures(search)
    errors = scheme_errors(figures, search.measured)
    scores = errors + LOSS_WEIGHT * loss_differences(figures, search.measured)
    found = {}
    for place, scheme in enumerate(search.target.schemes):
        others = np.delete(scores, place, axis=1)
        chosen = int(others.mean(axis=1).argmin()) if others.shape[1] else 0
        found[scheme] = float(errors[chosen, place])
    return found


def _intervals(search: Search) -> tuple[dict[str, tuple[float, float]], float]:
    """Which candidate would have been best, had the runs come out otherwise: a parametric bootstrap.

    Means move by their standard errors, at least by those that runs over the best emulator have.
    """
    figures, generator = _tried_figures(search), np.random.default_rng(_SEED)
    spread = _standard_errors(search)
    degrees = np.array([max(_FEWEST_DEGREES, row.runs - 1) for row in search.target.measured])
    chosen = []
    for _ in range(_RESAMPLES):
        moved = search.measured + spread * generator.standard_t(degrees[:, None], spread.shape)
        moved[:, :LOSS] = np.maximum(moved[:, :LOSS], 0.05 * search.measured[:, :LOSS])
        moved[:, LOSS] = np.clip(moved[:, LOSS], 0, 1)
        scores = scheme_errors(figures, moved) + LOSS_WEIGHT * loss_differences(figures, moved)
        chosen.append(search.tried[int(scores.mean(axis=1).argmin())].candidate)
    tail = 100 * (1 - CONFIDENCE) / 2
    intervals = {
        name: tuple(
            float(np.percentile([getattr(candidate, name) for candidate in chosen], percent))
            for percent in (tail, 100 - tail)
        )
        for name in PARAMETERS
    }
    poisson = float(np.mean([candidate.arrivals == ARRIVALS[1] for candidate in chosen]))
    return {name: (low, high) for name, (low, high) in intervals.items()}, poisson


def _standard_errors(search: Search) -> Array:
    """Of the measured means (schemes, 3)."""
    draws = search.best.figures
    runs = np.array([row.runs for row in search.target.measured])[:, None]
    own = draws.std(axis=0, ddof=1) / np.sqrt(runs) if len(draws) > 1 else np.zeros(search.measured.shape)
    told = [[row.throughput_error or 0.0, row.delay_error or 0.0, 0.0] for row in search.target.measured]
    errors: Array = np.maximum(own, np.array(told))
    return errors


def _undetermined(
    search: Search,
    best: Tried,
    replicator: Replicator,
    intervals: dict[str, tuple[float, float]],
    poisson: float,
) -> dict[str, str]:
    found = {}
    longer = replace(best.candidate, queue_packets=4 * best.candidate.queue_packets)
    figures = replicator.fly(longer, search.draws)
    if abs(search.score(figures) - best.score) < _OPEN_QUEUE_CHANGE:
        found["queue_packets"] = "no scheme fills the queue: any that is as long will do"
    for name in PARAMETERS[:3]:
        low, high = intervals[name]
        if name not in found and high > 2 * low:
            found[name] = f"anything from {low:g} to {high:g} fits within the spread of the runs"
    if (1 - CONFIDENCE) / 2 < poisson < (1 + CONFIDENCE) / 2:
        found["arrivals"] = f"poisson fits better in {100 * poisson:.0f} % of the resampled runs"
    return found
