"""Types of the fields of an emulator spec; the error for a value out of bounds names the bounds."""

import os
import re
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
from ccgym.envs import _core
from ccgym.envs.errors import excerpt
from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, ValidationInfo, model_validator

QUEUES = dict(_core.known_queues())
"""By the queue's name, its parameters besides limits in packets or bytes."""


class SpecModel(BaseModel):
    """A part of a spec: immutable, no unknown keys, no value taken for one of another type."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    @model_validator(mode="before")
    @classmethod
    def _from_numpy(cls, given: Any) -> Any:
        """Converts NumPy's numbers and arrays to Python's."""
        if not isinstance(given, dict):
            return given
        return {
            key: value.tolist() if isinstance(value, (np.generic, np.ndarray)) else value
            for key, value in given.items()
        }


def within(low: float, high: float) -> AfterValidator:
    """A validator that a number lies within these bounds."""

    def check(value: float) -> float:
        if not low <= value <= high:
            raise ValueError(f"{value} is not within [{low}, {high}]")
        return value

    return AfterValidator(check)


def _emulator_name(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,199}", name):
        raise ValueError(f"{excerpt(name)!r} is not a name of letters, digits, '.', '_' and '-', 200 at most")
    return name


def _queue_name(name: str) -> str:
    if name not in QUEUES:
        *others, last = (repr(queue) for queue in QUEUES)
        raise ValueError(f"{excerpt(name)!r} is not one of {', '.join(others)} or {last}")
    return name


def _trace_path(value: object, info: ValidationInfo) -> object:
    """Resolves a path against the file's folder; an unset variable stays, and is an error when it is used."""
    if not isinstance(value, str) or not value:
        return value
    expanded = os.path.expandvars(value)
    if expanded.startswith("$") or not info.context:
        return Path(expanded)
    return Path(info.context["folder"], expanded)


def plain(value: float) -> float:
    """Whole numbers as int: mahimahi does not accept 20.0."""
    return int(value) if float(value).is_integer() else value


def _as_tuple(value: Any) -> Any:
    """Converts a list to a tuple: YAML and JSON have lists only."""
    return tuple(value) if isinstance(value, list) else value


# Slower than one packet per 60 s, the period of a generated schedule, there is nothing to emulate; the upper
# end bounds the memory of a Poisson schedule.
RateMbps = Annotated[float, within(0.0002, 10_000)]
RateOrNoneMbps = Annotated[float, within(0, 10_000)]  # rate of a link that may also stop
Probability = Annotated[float, within(0, 1)]
DelayMs = Annotated[float, within(0, 60_000), AfterValidator(plain)]
PositiveMs = Annotated[int, within(1, 60_000)]
Seconds = Annotated[float, within(0, 1e6)]
SojournSeconds = Annotated[float, within(0.001, 1e6)]
PeriodSeconds = Annotated[float, within(0.1, 3600)]
Spread = Annotated[float, within(0, 10)]
Seed = Annotated[int, within(0, 2**63 - 1)]
QueueLimit = Annotated[int, within(1, 2**31 - 1)]
FlowBytes = Annotated[int, within(1, 10**12)]
IpBytes = Annotated[int, within(28, 1500)]
EmulatorName = Annotated[str, AfterValidator(_emulator_name)]
TracePath = Annotated[Path, BeforeValidator(_trace_path)]
AsTuple = BeforeValidator(_as_tuple)

Queue = Annotated[str, AfterValidator(_queue_name)]
Arrivals = Literal["constant", "poisson", "markov", "cellular"]
