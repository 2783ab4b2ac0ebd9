"""The posterior of the parameters: a response surface through runs, and its likelihood.

Near the best candidates the figures of each scheme are taken as quadratic functions of the parameters. Each
point of that region is weighted by the likelihood of the measurements, given the errors of the runs, of the
surface and of the emulator as a model: runs are chaotic, and no path is an emulator.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from ccgym.envs.logs.event_log import Array

from .replication import DELAY, LOSS, THROUGHPUT, measured_figures
from .target import Measured

WHOLE = ("delay_ms", "queue_packets")
_SAMPLES = 10_000
_REACH = 4.0
"""Half width of the region, in standard deviations of the previous posterior."""
LEAST_REACH = 0.004
"""Least deviation of a parameter in the unit cube: nobody measures one better."""
_FEWEST_EFFECTIVE = 3
"""Least effective number of candidates, as a multiple of the terms of the surface."""
_RIDGE = np.array([1e-4, 1e-2])
"""Ridge penalties of the linear and the quadratic factors, in units of the region's width."""
_DEGREES = 5.0
"""Degrees of freedom of Student's t: some schemes have two modes over the same link."""
_DEPENDENCE = 2.0
"""So many schemes count as one: with the same draws schemes lose the same packets."""
_LEAST_SPREAD = np.array([0.005, 0.005, 0.003])
"""Least spread of the logarithms of throughput and delay, and of the root of the loss."""
_MOST_DELAY_MS = 1e6
_NEVER = 1e-30
"""Stands for the variance of a figure that does not vary between draws."""
_DISCREPANCIES = np.array([0.0, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64])
_USUAL_DISCREPANCY = 0.05


def _transformed(figures: Array) -> Array:
    """Transforms figures (..., 3) so that their spread does not depend on their size."""
    return np.stack(
        [
            np.log(np.maximum(figures[..., THROUGHPUT], 1e-6)),
            np.log(np.clip(figures[..., DELAY], 1e-3, _MOST_DELAY_MS)),
            np.sqrt(np.clip(figures[..., LOSS], 0, 1)),
        ],
        axis=-1,
    )


class Measurements:
    """The measurements, transformed for the likelihood: all arrays are (schemes, 3)."""

    def __init__(self, rows: Sequence[Measured]) -> None:
        figures = measured_figures(rows)
        self._known = ~np.isnan(figures)
        self._wanted = _transformed(np.nan_to_num(figures))
        self._runs = np.array([row.runs for row in rows], float)[:, None]
        told = [
            [(row.throughput_error or 0) / row.throughput_mbps, (row.delay_error or 0) / row.p95_delay_ms, 0]
            for row in rows
        ]
        self._told: Array = np.array(told) ** 2
        self._relative: Array = np.where([True, True, False], 1.0, self._wanted / 2)
        """Change of each transformed figure per relative change of the figure."""

    def log_likelihoods(self, emulated: Array, chance: Array, doubt: Array, discrepancy: float) -> Array:
        """Log likelihoods (places, schemes) of emulated means (places, schemes, 3).

        Args:
            emulated: means of transformed figures.
            chance: covariances of a run (schemes, 3, 3), for all places or each: a run that lost more than
                others was slower, too, and that counts once.
            doubt: variance of `emulated`.
            discrepancy: relative standard deviation of the error of emulators of this kind.
        """
        variance = np.diagonal(chance, axis1=-2, axis2=-1)
        # The mean of some runs is above the mean of their logarithms.
        convex = 0.5 * (1 - 1 / self._runs) * variance * [1, 1, 0]
        off = np.where(self._known, emulated + convex - self._wanted, 0)
        own = doubt + _LEAST_SPREAD**2 + (discrepancy * self._relative) ** 2
        covariance = self._chance_of_means(chance, variance) + own[..., None] * np.eye(3)
        known = self._known[:, :, None] & self._known[:, None, :]
        factor = np.linalg.cholesky(np.where(known, covariance, np.eye(3)))
        squares = (np.einsum("...j,...ij->...i", off, np.linalg.inv(factor)) ** 2).sum(axis=-1)
        root = np.log(np.diagonal(factor, axis1=-2, axis2=-1)).sum(axis=-1)
        degrees = _DEGREES + self._known.sum(axis=-1)
        likelihoods: Array = (-degrees / 2 * np.log1p(squares / _DEGREES) - root) / _DEPENDENCE
        return likelihoods

    def _chance_of_means(self, chance: Array, variance: Array) -> Array:
        """Covariances of the means over the runs; measured runs may vary more than emulated ones."""
        one, mean = np.sqrt(variance), np.sqrt(np.maximum(self._told, variance / self._runs))
        pairs = one[..., :, None] * one[..., None, :]
        correlation = np.where(np.eye(3, dtype=bool), 1.0, chance / np.maximum(pairs, _NEVER))
        covariances: Array = correlation * mean[..., :, None] * mean[..., None, :]
        return covariances


@dataclass(frozen=True)
class Posterior:
    """Points of the search's unit cube, and the likelihood of the measurements at each."""

    names: tuple[str, ...]
    points: Array
    """(samples, parameters), uniform over the region."""
    likelihoods: Array
    """(samples, schemes), log likelihoods."""
    volume: float
    """Log volume of the region."""
    discrepancy: float
    """Relative error that even the best emulators leave; 0: chance explains all of it."""

    @property
    def probabilities(self) -> Array:
        """Posterior probabilities of the points."""
        return _normalised(self.likelihoods.sum(axis=1))

    @property
    def log_evidence(self) -> float:
        """Log evidence for the arrivals of these runs."""
        total = self.likelihoods.sum(axis=1)
        return float(np.log(np.exp(total - total.max()).mean()) + total.max() + self.volume)

    @property
    def centre(self) -> Array:
        """The posterior mean."""
        centre: Array = self.probabilities @ self.points
        return centre

    @property
    def likeliest(self) -> Array:
        """The point of the greatest likelihood."""
        likeliest: Array = self.points[self.likelihoods.sum(axis=1).argmax()]
        return likeliest

    @property
    def deviations(self) -> Array:
        """Posterior standard deviations."""
        deviations: Array = np.sqrt(self.probabilities @ (self.points - self.centre) ** 2)
        return deviations

    def centre_without(self, scheme: int) -> dict[str, float]:
        """The posterior mean without the measurements of this scheme."""
        others = self.likelihoods.sum(axis=1) - self.likelihoods[:, scheme]
        return dict(zip(self.names, map(float, _normalised(others) @ self.points), strict=True))

    def interval(self, name: str, confidence: float) -> tuple[float, float]:
        """The ends of the interval that holds this parameter with this probability."""
        values = self.points[:, self.names.index(name)]
        order = np.argsort(values)
        below = np.cumsum(self.probabilities[order])
        ends = np.searchsorted(below, [(1 - confidence) / 2, (1 + confidence) / 2])
        low, high = values[order][np.minimum(ends, len(values) - 1)]
        return float(low), float(high)

    def drawn(self, count: int, generator: np.random.Generator) -> Array:
        """`count` points drawn from the posterior."""
        chosen: Array = self.points[generator.choice(len(self.points), count, p=self.probabilities)]
        return chosen


def _normalised(logarithms: Array) -> Array:
    weights = np.exp(logarithms - logarithms.max())
    normalised: Array = weights / weights.sum()
    return normalised


@dataclass(frozen=True)
class Region:
    """The region of the search: its centre and its deviations."""

    centre: Array
    deviations: Array

    def samples(self, count: int, generator: np.random.Generator) -> tuple[Array, float]:
        """Points uniform over the region within the unit cube, and the log of its volume."""
        reach = _REACH * self.deviations
        low, high = np.clip(self.centre - reach, 0, 1), np.clip(self.centre + reach, 0, 1)
        points = low + (high - low) * generator.random((count, len(low)))
        return points, float(np.log(np.maximum(high - low, LEAST_REACH)).sum())

    def weights(self, places: Array, terms: int) -> Array:
        """Weights of candidates, falling with the distance; wide enough for a surface of so many terms."""
        away = (((places - self.centre) / self.deviations) ** 2).sum(axis=1)
        width = 4.0
        while True:
            weights: Array = np.exp(-away / (2 * width**2)) + 1e-9
            if weights.sum() ** 2 / (weights**2).sum() >= min(_FEWEST_EFFECTIVE * terms, 0.9 * len(places)):
                return weights
            width *= 1.2


def posterior_of(
    names: tuple[str, ...],
    places: Array,
    figures: Array,
    region: Region,
    measurements: Measurements,
    generator: np.random.Generator,
) -> Posterior:
    """The posterior within a region, from runs (candidates, draws, schemes, 3) at these places."""
    surface = _Surface(places, _transformed(figures), region)
    points, volume = region.samples(_SAMPLES, generator)
    emulated = surface.at(points)
    each = [
        measurements.log_likelihoods(emulated, surface.chance, surface.doubt, discrepancy)
        for discrepancy in _DISCREPANCIES
    ]
    totals = np.stack([likelihoods.sum(axis=1) for likelihoods in each])
    evidence = (
        np.log(np.exp(totals - totals.max()).sum(axis=1) + 1e-300) - _DISCREPANCIES / _USUAL_DISCREPANCY
    )
    best = int(evidence.argmax())
    return Posterior(names, points, each[best], volume, float(_DISCREPANCIES[best]))


def terms(parameters: int) -> int:
    """Number of terms of a quadratic function."""
    return 1 + parameters + parameters * (parameters + 1) // 2


class _Surface:
    """Transformed figures (schemes, 3) as functions of the place."""

    def __init__(self, places: Array, figures: Array, region: Region) -> None:
        draws, self._shape = figures.shape[1], figures.shape[2:]
        self._centre, self._scale = region.centre, 2 * region.deviations
        means = figures.mean(axis=1).reshape(len(figures), -1)
        columns = self._terms(places)
        weights = region.weights(places, columns.shape[1])
        weights = weights / weights.sum()
        ridge = np.full(columns.shape[1], _RIDGE[1])
        ridge[: 1 + places.shape[1]] = _RIDGE[0]
        ridge[0] = 0
        weighed = weights[:, None] * columns
        self._factors = np.linalg.solve(columns.T @ weighed + np.diag(ridge), weighed.T @ means)
        used = columns.shape[1] * (weights**2).sum()
        away = (means - columns @ self._factors).reshape(-1, *self._shape)
        around = np.einsum("c,csi,csj->sij", weights, away, away) / max(0.2, 1 - used)
        self.chance: Array = around if draws == 1 else np.tensordot(weights, _covariances(figures), 1)
        """Covariances of a run."""
        off, within = (np.diagonal(each, axis1=-2, axis2=-1) for each in (around, self.chance))
        self.doubt: Array = used * off + np.maximum(0, off - within / draws)
        """Variance of the surface, from the spread of its runs and from its misfit."""

    def at(self, places: Array) -> Array:
        """The emulated means at these places (places, schemes, 3)."""
        figures: Array = (self._terms(places) @ self._factors).reshape(-1, *self._shape)
        return figures

    def _terms(self, places: Array) -> Array:
        away = (places - self._centre) / self._scale
        columns = [np.ones(len(away)), *away.T]
        columns += [first * second for i, first in enumerate(away.T) for second in away.T[i:]]
        return np.stack(columns, axis=1)


def _covariances(figures: Array) -> Array:
    """Covariances (..., schemes, 3, 3) of the runs of one candidate (..., draws, schemes, 3)."""
    away = figures - figures.mean(axis=-3, keepdims=True)
    found: Array = np.einsum("...dsi,...dsj->...sij", away, away) / (figures.shape[-3] - 1)
    return found
