"""The search by likelihood: runs where it is high, until the posterior is as narrow as the data allow.

Every candidate has draws of its own: the surface through all of them averages chance away, which the few runs
of a single candidate cannot.
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
    posterior_of,
)

FIRST_TRIALS, ROUND_TRIALS, FIRST_ROUNDS, ROUNDS = 48, 8, 6, 18
"""After the first rounds it is clear whether these arrivals fit at all."""

_FIRST_REACH = 0.12
"""Reach of the first candidates around the start, in the unit cube."""

Replicate = Callable[[Candidate, int, int], Array | None]
"""(candidate, first draw, number of draws) to figures; None: the time is over."""


@dataclass
class Sharpening:
    """The search around one start, with its arrivals."""

    space: Space
    measurements: Measurements
    start: Candidate
    draws: int
    """Draws of each candidate."""
    first_draw: int
    seed: int
    posterior: Posterior | None = None
    """As of the last complete round."""
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
        """Names of the parameters, in the order of the coordinates of places."""
        return tuple(self.space.places(self.start))

    @property
    def tried(self) -> int:
        """Number of candidates that were run."""
        return len(self._places)

    @property
    def log_evidence(self) -> float:
        """Log evidence for these arrivals."""
        return -np.inf if self.posterior is None else self.posterior.log_evidence

    @property
    def centre(self) -> Candidate:
        """The candidate at the posterior mean."""
        assert self.posterior is not None
        return self._candidate(self.posterior.centre)

    @property
    def likeliest(self) -> Candidate:
        """The candidate of the greatest likelihood."""
        assert self.posterior is not None
        return self._candidate(self.posterior.likeliest)

    def candidate_without(self, scheme: int) -> Candidate:
        """The candidate at the posterior mean without the measurements of this scheme."""
        assert self.posterior is not None
        return self.space.at(self.posterior.centre_without(scheme), self.start.arrivals)

    def interval(self, name: str, confidence: float) -> tuple[float, float]:
        """The interval of a parameter, in its own units."""
        assert self.posterior is not None
        bounds = self.space.bounds[name]
        low, high = self.posterior.interval(name, confidence)
        return bounds.at(low), bounds.at(high)

    def ensemble(self, count: int, generator: np.random.Generator) -> list[Candidate]:
        """`count` candidates drawn from the posterior."""
        assert self.posterior is not None
        return [self._candidate(place) for place in self.posterior.drawn(count, generator)]

    def go_on(self, replicate: Replicate, rounds: int) -> None:
        """Runs until `rounds` rounds are done or the time is over."""
        while self._rounds <= rounds:
            while len(self._asked):
                if not self._replicated(self._asked[0], replicate):
                    return
                self._asked = self._asked[1:]
            self._learn()
            self._rounds += 1

    def _learn(self) -> None:
        """Updates the posterior from all runs, and the places to run next."""
        places, figures = np.array(self._places), np.stack(self._figures)
        posterior = posterior_of(
            self.names, places, figures, self._region, self.measurements, self._generator
        )
        region = Region(posterior.centre, np.maximum(posterior.deviations, LEAST_REACH))
        drawn = posterior.drawn(ROUND_TRIALS, self._generator)
        self._asked = np.clip(drawn + region.deviations * self._generator.normal(size=drawn.shape), 0, 1)
        self.posterior, self._region = posterior, region

    def _candidate(self, place: Array) -> Candidate:
        places = dict(zip(self.names, map(float, place), strict=True))
        return self.space.at(places, self.start.arrivals)

    def _replicated(self, place: Array, replicate: Replicate) -> bool:
        """Runs the candidate at a place and records its figures, at the place of its rounded values."""
        candidate = self._candidate(place)
        figures = replicate(candidate, self.first_draw + len(self._places) * self.draws, self.draws)
        if figures is None:
            return False
        self._places.append(list(self.space.places(candidate).values()))
        self._figures.append(figures)
        return True
