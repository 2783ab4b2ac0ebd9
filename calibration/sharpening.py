"""The last part of a search: runs where the likelihood is high, until the answer is as sharp as the data.

Every candidate has draws of its own: the surface through all of them averages chance away, which no single
candidate's few runs do.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from ccgym.envs.logs.event_log import Array

from .candidate import Candidate, Space
from .posterior import (
    LEAST_REACH,
    Measurements,
    Posterior,
    Region,
    covariances,
    interval,
    posterior_of,
    transformed,
)

FIRST_TRIALS, ROUND_TRIALS, FIRST_ROUNDS, ROUNDS = 48, 8, 6, 18
"""After some rounds it is clear whether these arrivals fit at all."""
SHARPENING_TRIALS = FIRST_TRIALS + ROUND_TRIALS * ROUNDS
FINALISTS, FINAL_DRAWS = 20, 6
"""Candidates that are run once more, with so many times the draws."""

_FIRST_REACH = 0.12
"""Of the unit cube, around the start."""
_TEMPER = 2.0
"""Finalists lie so much wider than the surface would have them: it may be off."""

Replicate = Callable[[Candidate, int, int], Array | None]
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
    """Places of those that were run once more."""
    probabilities: Array | None = None
    """Of the finalists."""
    final_evidence: float = -np.inf
    _region: Region = field(init=False)
    _generator: np.random.Generator = field(init=False)
    _asked: Array = field(init=False)
    _rounds: int = 0
    _places: list[list[float]] = field(default_factory=list)
    _figures: list[Array] = field(default_factory=list)

    def __post_init__(self) -> None:
        start = np.array(list(self.space.places(self.start).values()))
        self._region = Region(start, np.full(len(start), _FIRST_REACH / 2))
        self._generator = np.random.default_rng(self.seed)
        away = _FIRST_REACH * self._generator.uniform(-1, 1, (FIRST_TRIALS, len(start)))
        self._asked = np.clip(start + away, 0, 1)

    @property
    def names(self) -> tuple[str, ...]:
        """Of the parameters, in the order of all places."""
        return tuple(self.space.places(self.start))

    @property
    def tried(self) -> int:
        """How many candidates were run."""
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

    @property
    def likeliest(self) -> Candidate:
        """Of the finalists, or the centre where there are none."""
        if self.finalists is None or self.probabilities is None:
            return self.centre
        return self._candidate(self.finalists[self.probabilities.argmax()])

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

    def go_on(self, replicate: Replicate, rounds: int) -> None:
        """Until so many rounds are run, or as long as there is time."""
        while self._rounds <= rounds:
            while len(self._asked):
                if not self._replicated(self._asked[0], replicate):
                    return
                self._asked = self._asked[1:]
            self._learn()
            self._rounds += 1

    def _learn(self) -> None:
        """The posterior from all runs, and where to run next."""
        places, figures = np.array(self._places), np.stack(self._figures)
        posterior = posterior_of(
            self.names, places, figures, self._region, self.measurements, self._generator
        )
        region = Region(posterior.centre, np.maximum(posterior.deviations, LEAST_REACH))
        drawn, _ = posterior.drawn(ROUND_TRIALS, self._generator)
        self._asked = np.clip(drawn + region.deviations * self._generator.normal(size=drawn.shape), 0, 1)
        self.posterior, self._region = posterior, region

    def compare(self, replicate: Replicate) -> None:
        """Runs finalists with many draws, the same for all: the surface is only nearly right."""
        assert self.posterior is not None
        generator = np.random.default_rng(self.seed)
        drawn, expected = self.posterior.drawn(FINALISTS, generator, _TEMPER)
        candidates, replicated, draws = (
            [self._candidate(place) for place in drawn],
            [],
            FINAL_DRAWS * self.draws,
        )
        for candidate in candidates:
            figures = replicate(candidate, self.first_draw, draws)
            if figures is None:
                return
            replicated.append(figures)
        figures = transformed(np.stack(replicated))
        own = covariances(figures)  # two modes of a scheme may be of one candidate, not of the next
        chance = (own + own.mean(axis=0)) / 2
        doubt = np.diagonal(chance, axis1=-2, axis2=-1) / draws
        likelihoods = self.measurements.log_likelihoods(
            figures.mean(axis=1), chance, doubt, self.posterior.discrepancy
        ).sum(axis=1)
        logarithms = likelihoods - expected / _TEMPER
        weights = np.exp(logarithms - logarithms.max())
        self.finalists = np.array([list(self.space.places(candidate).values()) for candidate in candidates])
        self.probabilities = weights / weights.sum()
        self.final_evidence = self.posterior.log_evidence + float(
            (self.probabilities * (likelihoods - expected)).sum()
        )

    def _candidate(self, place: Array) -> Candidate:
        places = dict(zip(self.names, map(float, place), strict=True))
        return self.space.at(places, self.start.arrivals)

    def _replicated(self, place: Array, replicate: Replicate) -> bool:
        """Notes the figures of a candidate, at the place that its rounded values have."""
        candidate = self._candidate(place)
        figures = replicate(candidate, self.first_draw + len(self._places) * self.draws, self.draws)
        if figures is None:
            return False
        self._places.append(list(self.space.places(candidate).values()))
        self._figures.append(figures)
        return True
