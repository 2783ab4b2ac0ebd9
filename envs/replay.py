"""A log of the real mm-link against the twin: the same arrivals, every departure compared."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from . import _core
from .emulator_spec import TWIN_QUEUES
from .errors import InputError
from .link_log import LinkLog
from .schedules import trace_schedule

Departure = tuple[int, int, int]
"""Time in ms, bytes with TUN header, delay in ms."""


@dataclass(frozen=True)
class Replay:
    """How the twin's departures compare with the log's."""

    arrivals: int
    departures: int
    mismatches: int
    """Departures that only the log has, or only the twin, whichever are more."""
    first_mismatch: dict[str, Departure | int | None] | None
    """Where the sequences first differ: the index, and the departure of each, None where one has ended."""


def replay_log(
    log: LinkLog, trace: Path, queue: str | None = None, limits: dict[str, int] | None = None
) -> Replay:
    """Feeds the arrivals of `log` to the twin's link and compares what departs.

    Args:
        log: of the real mm-link.
        trace: the file the link ran.
        queue: kind of the queue; None: kind and limits as in the log's header.
        limits: `packets`, `bytes` of a queue that is given.

    Raises:
        InputError: the twin has no such queue, or the trace is broken.
    """
    assert log.header is not None
    if queue is None:
        queue, packets, queue_bytes = log.header.queue, log.header.queue_packets, log.header.queue_bytes
    else:
        packets, queue_bytes = ((limits or {}).get(name, 0) for name in ("packets", "bytes"))
    if queue not in TWIN_QUEUES:
        raise InputError(f"the twin has no {queue} queue; it has {', '.join(TWIN_QUEUES)}")
    if (queue == "infinite") != (packets == queue_bytes == 0):
        raise InputError(
            f"a {queue} queue takes {'no limit' if queue == 'infinite' else 'packets=N, bytes=N or both'}"
        )
    flown = _core.replay(
        trace_schedule(trace),
        log.arrival_ms,
        log.arrival_bytes,
        base_ms=log.header.base_ms,
        end_ms=_end_ms(log),
        queue=queue,
        queue_packets=packets,
        queue_bytes=queue_bytes,
    )
    logged = _departures(log.departure_ms, log.departure_bytes, log.departure_delay_ms)
    return _compare(len(log.arrival_ms), logged, _departures(*flown))


def _end_ms(log: LinkLog) -> int:
    ends = [times[-1] for times in (log.arrival_ms, log.departure_ms, log.opportunity_ms) if len(times)]
    return int(max(ends, default=log.header.base_ms if log.header else 0))


def _departures(*columns: np.ndarray) -> list[Departure]:
    return list(zip(*(column.tolist() for column in columns), strict=True))


def _compare(arrivals: int, logged: list[Departure], flown: list[Departure]) -> Replay:
    only_logged = (Counter(logged) - Counter(flown)).total()
    only_flown = (Counter(flown) - Counter(logged)).total()
    return Replay(arrivals, len(logged), max(only_logged, only_flown), _first_mismatch(logged, flown))


def _first_mismatch(
    logged: list[Departure], flown: list[Departure]
) -> dict[str, Departure | int | None] | None:
    if logged == flown:
        return None
    shared = min(len(logged), len(flown))
    index = next((index for index in range(shared) if logged[index] != flown[index]), shared)
    at = [sequence[index] if index < len(sequence) else None for sequence in (logged, flown)]
    return {"index": index, "log": at[0], "twin": at[1]}
