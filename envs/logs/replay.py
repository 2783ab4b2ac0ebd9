"""Replays the arrivals of a real mm-link log in the twin and compares every departure."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
from ccgym.envs import _core
from ccgym.envs.errors import InputError, excerpt
from ccgym.envs.specs.schedules import opportunities_through, trace_schedule

from .link_log import LinkLog, QueueSettings

Departure = tuple[int, int, int]
"""A departure: time in ms, bytes with TUN header, delay in ms."""

_Event = TypeVar("_Event", int, Departure)
_MOST_TIMES_THE_LOGGED = 100
_FEW_OPPORTUNITIES = 1_000_000
_MOST_OF_REASON = 150  # it may quote the log


@dataclass(frozen=True)
class Replay:
    """How the twin's departures compare with the log's."""

    arrivals: int
    departures: int
    mismatches: int
    """Number of departures that only the log has, or only the twin, whichever is more."""
    first_mismatch: dict[str, Departure | int | None] | None
    """Where the sequences first differ: the index, and the departure of each (None if one has ended)."""
    opportunities: int
    opportunity_mismatches: int
    """The same for delivery opportunities: 0 unless the link ran another trace."""
    undelivered: int
    """Packets of the log that arrived and never departed: dropped, or still waiting at its end."""
    twin_undelivered: int


def replay_log(log: LinkLog, trace: Path, queue: QueueSettings | None = None, seed: int = 0) -> Replay:
    """Feeds the arrivals of `log` to the twin's link and compares what departs.

    Args:
        log: a log of the real mm-link.
        trace: the trace file that the link ran.
        queue: the queue; None: the one in the log's header.
        seed: seed of a PIE queue's random drops; mm-link's own is not known.

    Raises:
        InputError: there is no such queue, it lacks a parameter, or the trace is broken.
    """
    assert log.header is not None
    schedule = trace_schedule(trace, once=log.header.once)
    base_ms, end_ms = log.header.base_ms, _end_ms(log)
    *replayed, _, _ = _core.replay(
        _link(schedule, queue or log.header.queue),
        log.arrival_ms,
        log.arrival_bytes,
        base_ms=base_ms,
        end_ms=end_ms,
        seed=seed,
    )
    logged_departures = _departures(log.departure_ms, log.departure_bytes, log.departure_delay_ms)
    departures = _departures(*replayed)
    _require_its_trace(trace, schedule.count_through(end_ms - base_ms), len(log.opportunity_ms))
    opportunities_ms = base_ms + opportunities_through(schedule, end_ms - base_ms)
    return Replay(
        arrivals=len(log.arrival_ms),
        departures=len(logged_departures),
        mismatches=_differences(logged_departures, departures),
        first_mismatch=_first_mismatch(logged_departures, departures),
        opportunities=len(log.opportunity_ms),
        opportunity_mismatches=_differences(log.opportunity_ms.tolist(), opportunities_ms.tolist()),
        undelivered=len(log.arrival_ms) - len(logged_departures),
        twin_undelivered=len(log.arrival_ms) - len(departures),
    )


def _require_its_trace(trace: Path, expected: int, logged: int) -> None:
    """Raises InputError if the trace has far more opportunities than the link had, before all are made."""
    if expected > _MOST_TIMES_THE_LOGGED * logged + _FEW_OPPORTUNITIES:
        raise InputError(
            f"{trace}: has {expected} opportunities until the end of the log, which tells of {logged}: "
            "give the trace that the link ran"
        )


def _link(schedule: _core.Schedule, queue: QueueSettings) -> _core.Link:
    parameters = dict(queue.arguments)
    limits = {f"queue_{name}": parameters.pop(name, 0) for name in ("packets", "bytes")}
    in_ms = {f"{name}_ms": float(value) for name, value in parameters.items()}
    try:
        return _core.Link(schedule, queue=queue.kind, **limits, queue_parameters=in_ms)
    except ValueError as error:
        told = "--queue KIND --queue-args packets=N,bytes=N,target=MS,interval=MS,qdelay_ref=MS,max_burst=MS"
        raise InputError(
            f"queue: {excerpt(error, _MOST_OF_REASON)} (what the log's header lacks: {told})"
        ) from None


def _end_ms(log: LinkLog) -> int:
    ends = [times[-1] for times in (log.arrival_ms, log.departure_ms, log.opportunity_ms) if len(times)]
    return int(max(ends, default=log.header.base_ms if log.header else 0))


def _departures(*columns: np.ndarray) -> list[Departure]:
    return list(zip(*(column.tolist() for column in columns), strict=True))


def _differences(logged: list[_Event], replayed: list[_Event]) -> int:
    only_logged = (Counter(logged) - Counter(replayed)).total()
    only_replayed = (Counter(replayed) - Counter(logged)).total()
    return max(only_logged, only_replayed)


def _first_mismatch(
    logged: list[Departure], replayed: list[Departure]
) -> dict[str, Departure | int | None] | None:
    if logged == replayed:
        return None
    shared = min(len(logged), len(replayed))
    index = next((index for index in range(shared) if logged[index] != replayed[index]), shared)
    at = [sequence[index] if index < len(sequence) else None for sequence in (logged, replayed)]
    return {"index": index, "log": at[0], "twin": at[1]}
