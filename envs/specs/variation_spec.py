"""How a rate or a delay changes with time: in given steps, or in a seeded random walk."""

from collections.abc import Sequence
from math import ceil, floor

from ccgym.envs import _core
from pydantic import model_validator

from .spec_fields import DelayMs, PositiveMs, RateMbps, RateOrNoneMbps, Seconds, Seed, SpecModel, Spread

MS_PER_S = 1000.0


class RateStep(SpecModel):
    """From a time on, another rate."""

    at_s: Seconds
    rate_mbps: RateOrNoneMbps

    def scaled(self, factor: float) -> "RateStep":
        """At the same time `factor` times the rate."""
        return self.model_copy(update={"rate_mbps": self.rate_mbps * factor})


class DelayStep(SpecModel):
    """From a time on, another one-way delay."""

    at_s: Seconds
    delay_ms: DelayMs

    def scaled(self, factor: float) -> "DelayStep":
        """At the same time `factor` times the delay, in whole ms."""
        return self.model_copy(update={"delay_ms": max(1, round(self.delay_ms * factor))})


class RateWalk(SpecModel):
    """Every so often the rate is multiplied by e^(spread * standard normal), reflected at both bounds."""

    every_ms: PositiveMs
    spread: Spread
    low_mbps: RateMbps
    high_mbps: RateMbps
    seed: Seed | None = None  # None: each run draws its own

    @model_validator(mode="after")
    def _check_bounds(self) -> "RateWalk":
        if self.low_mbps > self.high_mbps:
            raise ValueError(f"low_mbps {self.low_mbps} is above high_mbps {self.high_mbps}")
        return self

    def scaled(self, factor: float) -> "RateWalk":
        """The same walk between `factor` times the bounds."""
        bounds = {"low_mbps": self.low_mbps * factor, "high_mbps": self.high_mbps * factor}
        return self.model_copy(update=bounds)


class DelayWalk(SpecModel):
    """Every so often the delay is multiplied by e^(spread * standard normal), reflected at both bounds."""

    every_ms: PositiveMs
    spread: Spread
    low_ms: DelayMs
    high_ms: DelayMs
    seed: Seed | None = None  # None: each run draws its own

    @model_validator(mode="after")
    def _check_bounds(self) -> "DelayWalk":
        if not 0 < self.low_ms <= self.high_ms:
            raise ValueError(f"low_ms {self.low_ms} is not within (0, high_ms {self.high_ms}]")
        return self

    def scaled(self, factor: float) -> "DelayWalk":
        """The same walk between `factor` times the bounds, rounded outward to whole ms."""
        bounds = {"low_ms": max(1, floor(self.low_ms * factor)), "high_ms": ceil(self.high_ms * factor)}
        return self.model_copy(update=bounds)


def drawn_seed(seed: int | None) -> int:
    """A seed that a spec leaves open, where nobody has drawn it."""
    return 1 if seed is None else seed


def step_function(first: float, steps: Sequence[tuple[float, float]], period_s: float) -> _core.StepFunction:
    """`first` until the first of `steps` (at s, value); begins anew after `period_s`.

    Raises:
        ValueError: the steps do not increase from above 0 to below the period.
    """
    starts_s = [0.0, *(at_s for at_s, _ in steps)]
    if any(after <= before for before, after in zip(starts_s, [*starts_s[1:], period_s], strict=True)):
        raise ValueError(f"the times at_s must increase, from above 0 to below period_s {period_s:g}")
    starts_ms = [MS_PER_S * start_s for start_s in starts_s]
    return _core.StepFunction(
        starts_ms, [first, *(value for _, value in steps)], period_ms=MS_PER_S * period_s
    )


def walk_function(
    first: float, walk: RateWalk | DelayWalk, bounds: tuple[float, float], period_s: float
) -> _core.StepFunction:
    """A walk from `first` within `bounds`; begins anew after `period_s`."""
    return _core.StepFunction.random_walk(
        first,
        every_ms=walk.every_ms,
        spread=walk.spread,
        low=bounds[0],
        high=bounds[1],
        seed=drawn_seed(walk.seed),
        period_ms=MS_PER_S * period_s,
    )
