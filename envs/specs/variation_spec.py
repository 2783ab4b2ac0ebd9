"""Changes of a rate or a delay over time: given steps, or a seeded random walk."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor
from typing import Annotated, Any, overload

import numpy as np
from ccgym.envs import _core
from pydantic import GetCoreSchemaHandler, ValidatorFunctionWrapHandler, model_validator
from pydantic_core import CoreSchema, core_schema

from .spec_fields import (
    AsTuple,
    DelayMs,
    PositiveMs,
    RateMbps,
    RateOrNoneMbps,
    Seconds,
    Seed,
    SpecModel,
    Spread,
)

MS_PER_S = 1000.0


class RateStep(SpecModel):
    """A new rate from a time on."""

    at_s: Seconds
    rate_mbps: RateOrNoneMbps


@dataclass(frozen=True)
class RateSteps(Sequence[RateStep]):
    """Steps as two columns: fast to compare, which matters for the 360,000 of a training's fading links."""

    at_s: tuple[float, ...]
    rate_mbps: tuple[float, ...]

    @classmethod
    def within_bounds(cls, at_s: Sequence[float], rate_mbps: Sequence[float]) -> "RateSteps":
        """The steps of these columns; it suffices to check the extremes.

        Raises:
            ValueError: a value is out of the bounds of `RateStep`.
        """
        for extreme in (np.min, np.max):  # NaN if any value is
            RateStep(at_s=extreme(at_s), rate_mbps=extreme(rate_mbps))
        return cls(tuple(at_s), tuple(rate_mbps))

    @classmethod
    def of(cls, steps: Sequence[RateStep]) -> "RateSteps":
        """These steps as columns."""
        if isinstance(steps, cls):
            return steps
        return cls(tuple(step.at_s for step in steps), tuple(step.rate_mbps for step in steps))

    def __len__(self) -> int:
        return len(self.at_s)

    @overload
    def __getitem__(self, index: int) -> RateStep: ...
    @overload
    def __getitem__(self, index: slice) -> "RateSteps": ...
    def __getitem__(self, index: int | slice) -> "RateStep | RateSteps":
        if isinstance(index, slice):
            return RateSteps(self.at_s[index], self.rate_mbps[index])
        return RateStep(at_s=self.at_s[index], rate_mbps=self.rate_mbps[index])

    def scaled(self, factor: float) -> "RateSteps":
        """The same steps with `factor` times the rates."""
        return RateSteps(self.at_s, tuple(rate_mbps * factor for rate_mbps in self.rate_mbps))

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """The schema of a field that takes and gives a list of steps, and holds columns."""
        return core_schema.no_info_wrap_validator_function(
            cls._validated,
            handler.generate_schema(Annotated[tuple[RateStep, ...], AsTuple]),
            serialization=core_schema.plain_serializer_function_ser_schema(cls._dumped),
        )

    @classmethod
    def _validated(cls, given: Any, validate: ValidatorFunctionWrapHandler) -> "RateSteps":
        return given if isinstance(given, cls) else cls.of(validate(given))

    @staticmethod
    def _dumped(steps: Sequence[RateStep]) -> tuple[dict[str, float], ...]:
        columns = RateSteps.of(steps)
        return tuple(
            {"at_s": at_s, "rate_mbps": rate_mbps}
            for at_s, rate_mbps in zip(columns.at_s, columns.rate_mbps, strict=True)
        )


class DelayStep(SpecModel):
    """A new one-way delay from a time on."""

    at_s: Seconds
    delay_ms: DelayMs

    def scaled(self, factor: float) -> "DelayStep":
        """The same step with `factor` times the delay, in whole ms."""
        return self.model_copy(update={"delay_ms": max(1, round(self.delay_ms * factor))})


class RateWalk(SpecModel):
    """At regular times the rate is multiplied by e^(spread * standard normal), reflected at both bounds."""

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
    """At regular times the delay is multiplied by e^(spread * standard normal), reflected at both bounds."""

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
    """The seed of a spec; 1 if it is left open and was not drawn."""
    return 1 if seed is None else seed


def step_function(
    first: float, starts_s: Sequence[float], values: Sequence[float], period_s: float
) -> _core.StepFunction:
    """`first` until the first of `starts_s`, then from each of them its value; repeats after `period_s`.

    Raises:
        ValueError: the times do not increase from above 0 to below the period.
    """
    edges_s = np.array([0.0, *starts_s, period_s])
    if (edges_s[1:] <= edges_s[:-1]).any():
        raise ValueError(f"the times at_s must increase, from above 0 to below period_s {period_s:g}")
    return _core.StepFunction(
        (MS_PER_S * edges_s[:-1]).tolist(), [first, *values], period_ms=MS_PER_S * period_s
    )


def walk_function(
    first: float, walk: RateWalk | DelayWalk, bounds: tuple[float, float], period_s: float
) -> _core.StepFunction:
    """A walk from `first` within `bounds`; repeats after `period_s`."""
    return _core.StepFunction.random_walk(
        first,
        every_ms=walk.every_ms,
        spread=walk.spread,
        low=bounds[0],
        high=bounds[1],
        seed=drawn_seed(walk.seed),
        period_ms=MS_PER_S * period_s,
    )
