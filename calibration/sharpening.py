"""The last part of a search: flights where the likelihood is high, until the answer is as sharp as the data.

Every candidate has draws of its own: the surface through all of them averages chance away, which no single
candidate's few flights do.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from ccgym.envs.logs.event_log import Array

from .candidate import Candidate, Space
from .posterior import LEAST_REACH, Measurements, Posterior, Region, interval, posterior_of, transformed

FIRST_TRIALS, ROUND_TRIALS, ROUNDS = 48, 8, 20
SHARPENING_TRIALS = FIRST_TRIALS + ROUND_TRIALS * ROUNDS
FINALISTS, FINAL_DRAWS = 24, 4
"""Candidates that are flown once more, with so many times the draws."""

_FIRST_REACH = 0.12
"""Of the unit cube, around the start."""
_TEMPER = 2.0
"""Finalists lie so much wider than the surface would have them: it may be off."""

Fly = Callable[[Candidate, int, int], Array | None]
"""The figures of a candidate with draws from the first one on, so many; None: the time is over."""


@dataclass
class Sharpening:
    """Around one start, with its arrivals."""

    space: Space
    measurements: Measurements
    start: Candidate
    draws: int
    """Of each candidate."""
    first_draw: int
    seed: int
    posterior: Posterior | None = None
    """After the last whole round."""
    finalists: Array | None = None
    """Places of those that were flown once more."""
    probabilities: Array | None = None
    """Of the finalists."""
    final_evidence: float = -np.inf
    _places: list[list[float]] = field(default_factory=list)
    _figures: list[Array] = field(default_factory=list)

    @property
    def names(self) -> tuple[str, ...]:
        """Of the parameters, in the order of all places."""
        return tuple(self.space.places(self.start))

    @property
    def tried(self) -> int:
        """How many candidates were flown."""
        return len(self._places)

    @property
    def log_evidence(self) -> float:
        """For these arrivals."""
        if self.probabilities is not None:
            return self.final_evidence
        return -np.inf if self.posterior is None else self.posterior.log_evidence

    @property
    def centre(self) -> Candidate:
        """In the middle of what fits."""
        assert self.posterior is not None
        if self.finalists is None or self.probabilities is None:
            return self._candidate(self.posterior.centre)
        return self._candidate(self.probabilities @ self.finalists)

    def candidate_without(self, scheme: int) -> Candidate:
        """The same, had this scheme not been measured."""
        assert self.posterior is not None
        return self.space.at(self.posterior.centre_without(scheme), self.start.arrivals)

    def interval(self, name: str, confidence: float) -> tuple[float, float]:
        """Values of a parameter, by the surface and by the finalists."""
        assert self.posterior is not None
        low, high = self.posterior.interval(name, confidence)
        if self.finalists is not None and self.probabilities is not None:
            places = self.finalists[:, self.names.index(name)]
            own_low, own_high = interval(places, self.probabilities, confidence)
            low, high = min(low, own_low), max(high, own_high)
        bounds = self.space.bounds[name]
        return bounds.at(low), bounds.at(high)

    def ensemble(self, count: int, generator: np.random.Generator) -> list[Candidate]:
        """So many that fit as well."""
        assert self.posterior is not None
        return [self._candidate(place) for place in self.posterior.drawn(count, generator)[0]]

    def run(self, fly: Fly) -> None:
        """Flies all rounds, or as many as there is time for."""
        start = np.array(list(self.space.places(self.start).values()))
        region = Region(start, np.full(len(start), _FIRST_REACH / 2))
        generator = np.random.default_rng(self.seed)
        asked = np.clip(start + _FIRST_REACH * generator.uniform(-1, 1, (FIRST_TRIALS, len(start))), 0, 1)
        for _ in range(ROUNDS + 1):
            if not all(self._flown(place, fly) for place in asked):
                return
            places, figures = np.array(self._places), np.stack(self._figures)
            self.posterior = posterior_of(self.names, places, figures, region, self.measurements, generator)
            region = Region(self.posterior.centre, np.maximum(self.posterior.deviations, LEAST_REACH))
            drawn, _ = self.posterior.drawn(ROUND_TRIALS, generator)
            asked = np.clip(drawn + region.deviations * generator.normal(size=drawn.shape), 0, 1)

    def compare(self, fly: Fly) -> None:
        """Flies finalists with many draws, the same for all: the surface is only nearly right."""
        assert self.posterior is not None
        generator = np.random.default_rng(self.seed)
        drawn, expected = self.posterior.drawn(FINALISTS, generator, _TEMPER)
        flown, draws = [], FINAL_DRAWS * self.draws
        for place in drawn:
            figures = fly(self._candidate(place), self.first_draw, draws)
            if figures is None:
                return
            flown.append(figures)
        figures = transformed(np.stack(flown))
        spread = figures.var(axis=1, ddof=1).mean(axis=0)
        likelihoods = self.measurements.log_likelihoods(
            figures.mean(axis=1), spread, spread / draws, self.posterior.discrepancy
        ).sum(axis=1)
        logarithms = likelihoods - expected / _TEMPER
        weights = np.exp(logarithms - logarithms.max())
        self.finalists, self.probabilities = drawn, weights / weights.sum()
        self.final_evidence = self.posterior.log_evidence + float(
            (self.probabilities * (likelihoods - expected)).sum()
        )

    def _candidate(self, place: Array) -> Candidate:
        places = dict(zip(self.names, map(float, place), strict=True))
        return self.space.at(places, self.start.arrivals)

    def _flown(self, place: Array, fly: Fly) -> bool:
        """Notes the figures of a candidate, at the place that its rounded values have."""
        candidate = self._candidate(place)
        figures = fly(candidate, self.first_draw + len(self._places) * self.draws, self.draws)
        if figures is None:
            return False
        self._places.append(list(self.space.places(candidate).values()))
        self._figures.append(figures)
        return True
