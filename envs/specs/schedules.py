"""Delivery schedules, built once and shared: many paths over the same link hold the same schedule.

Those that are drawn are in whole ms, as mahimahi's traces are; `exact` ones, of continuous timing, in us.
"""

from functools import lru_cache
from pathlib import Path

import numpy as np
from ccgym.envs import _core
from ccgym.envs.errors import InputError, excerpt, is_of_system
from numpy.typing import NDArray

from .traces import read_trace

MOST_TRACE_MBPS = 20_000.0
"""Twice the most of a rate: beyond, as in a trace whose times are in other units, a run has no end."""


@lru_cache(maxsize=1024)
def constant_schedule(rate_mbps: float) -> _core.Schedule:
    """Returns the evenly spaced schedule of a rate in Mbit/s of 1500-byte packets."""
    return _core.Schedule.constant(rate_mbps)


@lru_cache(maxsize=128)
def schedule_from(schedule: _core.Schedule, begin_ms: int) -> _core.Schedule:
    """Returns what is left of a schedule `begin_ms` after its beginning; then it begins anew."""
    return schedule.beginning_at(begin_ms)


@lru_cache(maxsize=2048)
def poisson_schedule(
    rate_mbps: float, seed: int, period_s: float = 60.0, *, exact: bool = False
) -> _core.Schedule:
    """Returns a schedule with exponential gaps that repeats after its period; same seed, same schedule."""
    return _core.Schedule.poisson(rate_mbps, seed, period_ms=round(1000 * period_s), exact=exact)


@lru_cache(maxsize=2048)
def markov_schedule(
    rates_mbps: tuple[float, ...],
    mean_stay_ms: float,
    seed: int,
    period_s: float = 60.0,
    *,
    exact: bool = False,
) -> _core.Schedule:
    """Returns a Poisson schedule whose rate jumps between `rates_mbps` after exponential stays."""
    rate = _core.StepFunction.markov_chain(
        rates_mbps, mean_stay_ms=mean_stay_ms, seed=seed, period_ms=1000 * period_s
    )
    return _core.Schedule.varying(rate, poisson=True, seed=seed, exact=exact)


@lru_cache(maxsize=2048)
def cellular_schedule(
    rate_mbps: float, seed: int, period_s: float = 60.0, *, exact: bool = False
) -> _core.Schedule:
    """Returns a Poisson schedule whose rate wanders about `rate_mbps`, with outages, as on a cellular link.

    The model is that of Sprout (Winstein et al., NSDI 2013, section 3.1).
    """
    rate = _core.StepFunction.cellular_rate(rate_mbps, seed=seed, period_ms=1000 * period_s)
    return _core.Schedule.varying(rate, poisson=True, seed=seed, exact=exact)


def trace_schedule(path: Path, *, once: bool = False) -> _core.Schedule:
    """Returns the schedule of a mahimahi trace file, read anew only when the file has changed.

    Args:
        path: of the file.
        once: the link is dead after the last opportunity; otherwise the trace begins anew.

    Raises:
        InputError: the file cannot be read, is not a trace, or is one of a rate that nothing can run.
    """
    try:
        changed_ns = path.stat().st_mtime_ns
    except OSError as error:
        if is_of_system(error):
            raise
        raise InputError(f"{path}: cannot read the trace: {error.strerror}") from None
    except ValueError as error:  # a NUL in the path
        raise InputError(f"{excerpt(path)}: cannot read the trace: {error}") from None
    return _trace_schedule(path, once, changed_ns)


@lru_cache(maxsize=64)
def _trace_schedule(path: Path, once: bool, _changed_ns: int) -> _core.Schedule:
    schedule = _core.Schedule.trace(read_trace(path), once=once)
    if schedule.mean_rate_mbps > MOST_TRACE_MBPS:
        raise InputError(
            f"{path}: the trace has {schedule.mean_rate_mbps:.3g} Mbit/s in the mean, more than "
            f"{MOST_TRACE_MBPS:g}: its times must be in ms"
        )
    return schedule


def opportunities_through(schedule: _core.Schedule, end_ms: float) -> NDArray[np.int64]:
    """The opportunities from 0 through `end_ms`, in ms, each as often as it has."""
    within_ms = schedule.opportunities_ms().astype(np.int64)
    periods = int(end_ms // schedule.period_ms) + 1 if schedule.repeats else 1
    starts = np.arange(periods, dtype=np.int64)[:, None] * schedule.period_ms
    times: NDArray[np.int64] = (starts + within_ms[None, :]).ravel()
    return times[times <= end_ms]
