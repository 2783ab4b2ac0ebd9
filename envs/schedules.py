"""Delivery schedules, built once and shared: many paths over the same link hold the same schedule."""

from functools import lru_cache
from pathlib import Path

from . import _core
from .errors import InputError
from .traces import read_trace


@lru_cache(maxsize=1024)
def constant_schedule(rate_mbps: float) -> _core.Schedule:
    """Returns the evenly spaced schedule of a rate in Mbit/s of 1500-byte packets."""
    return _core.Schedule.constant(rate_mbps)


@lru_cache(maxsize=64)
def poisson_schedule(rate_mbps: float, seed: int) -> _core.Schedule:
    """Returns a schedule with exponential gaps that repeats after 60 s; same seed, same schedule."""
    return _core.Schedule.poisson(rate_mbps, seed)


def trace_schedule(path: Path) -> _core.Schedule:
    """Returns the schedule of a mahimahi trace file, read anew only when the file has changed.

    Raises:
        InputError: the file cannot be read or is not a trace.
    """
    try:
        changed_ns = path.stat().st_mtime_ns
    except OSError as error:
        raise InputError(f"{path}: cannot read the trace: {error.strerror}") from None
    return _trace_schedule(path, changed_ns)


@lru_cache(maxsize=64)
def _trace_schedule(path: Path, _changed_ns: int) -> _core.Schedule:
    return _core.Schedule.trace(read_trace(path))
