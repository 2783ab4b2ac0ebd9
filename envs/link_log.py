"""What one direction of a link saw: the log of mahimahi's mm-link, or a flight in the twin.

The format is mm-link's (0.98 and later): `T # 1504` a delivery opportunity, `T + SIZE` an arrival, `T - SIZE
DELAY` a departure, `T d PACKETS BYTES` a drop (written by later versions only, so drops are inferred
everywhere alike). Times are whole ms, sizes include the 4-byte header of the TUN device.
"""

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from .errors import InputError
from .event_log import Array, EventLog

TUN_HEADER_BYTES = 4
BACKGROUND_BYTES = (80, 52)
"""Sizes of the IPv6 listener reports and router solicitations that a new shell sends by itself."""

_LAYOUTS = {"#": "iki", "+": "iki", "-": "ikii", "d": "ikii"}
_HEADER_NUMBER = r"^# {}: (\d+)$"
_QUEUE = re.compile(r"^# queue: (\w+)(?: \[(.*)\])?$", re.MULTILINE)


@dataclass(frozen=True)
class LinkLogHeader:
    """The settings a link wrote above its log."""

    queue: str
    queue_packets: int
    """Limit in packets; 0: none."""
    queue_bytes: int
    """Limit in bytes with TUN headers; 0: none."""
    init_timestamp_ms: int
    """Wall clock at the log's time 0, ms since the epoch."""
    base_ms: int
    """When the trace began, on the log's clock."""


@dataclass(frozen=True)
class LinkLog:
    """Events of one direction of a link, in the order they happened; times in ms on one clock.

    Every array has shape (number of such events,). Delays are those inside the link only.
    """

    arrival_ms: Array
    arrival_bytes: Array
    departure_ms: Array
    departure_bytes: Array
    departure_delay_ms: Array
    opportunity_ms: Array
    header_bytes: int = TUN_HEADER_BYTES
    """How much of every packet's size is not IP."""
    header: LinkLogHeader | None = None

    @classmethod
    def from_flight(cls, flight: Any, opportunities_ms: Array) -> "LinkLog":
        """The log of a twin's flight over a link whose schedule, one period of it, is `opportunities_ms`."""
        end_ms = max(_last(flight.departure_ms), _last(flight.arrival_ms))
        return cls(
            flight.arrival_ms,
            flight.arrival_bytes,
            flight.departure_ms,
            flight.departure_bytes,
            flight.departure_delay_ms,
            repeated_opportunities_ms(opportunities_ms, end_ms),
        )

    def shifted(self, delay_ms: float) -> "LinkLog":
        """The same packets, seen `delay_ms` later where they leave, and delayed by so much more."""
        return replace(
            self,
            departure_ms=self.departure_ms + delay_ms,
            departure_delay_ms=self.departure_delay_ms + delay_ms,
        )

    def without_background(self) -> "LinkLog":
        """The same log without the packets a mahimahi shell sends by itself."""
        arrived = ~np.isin(self.arrival_bytes, BACKGROUND_BYTES)
        departed = ~np.isin(self.departure_bytes, BACKGROUND_BYTES)
        return replace(
            self,
            arrival_ms=self.arrival_ms[arrived],
            arrival_bytes=self.arrival_bytes[arrived],
            departure_ms=self.departure_ms[departed],
            departure_bytes=self.departure_bytes[departed],
            departure_delay_ms=self.departure_delay_ms[departed],
        )


def merged_log(flows: list[LinkLog]) -> LinkLog:
    """All packets of the flows that shared a link, as one log."""
    first = flows[0]
    arrival = np.argsort(np.concatenate([flow.arrival_ms for flow in flows]), kind="stable")
    departure = np.argsort(np.concatenate([flow.departure_ms for flow in flows]), kind="stable")

    def column(name: str, order: Array) -> Array:
        values: Array = np.concatenate([getattr(flow, name) for flow in flows])[order]
        return values

    return LinkLog(
        arrival_ms=column("arrival_ms", arrival),
        arrival_bytes=column("arrival_bytes", arrival),
        departure_ms=column("departure_ms", departure),
        departure_bytes=column("departure_bytes", departure),
        departure_delay_ms=column("departure_delay_ms", departure),
        opportunity_ms=first.opportunity_ms,
        header_bytes=first.header_bytes,
        header=first.header,
    )


def repeated_opportunities_ms(period_ms: Array, end_ms: float) -> Array:
    """The opportunities until `end_ms`, inclusive, of a trace that begins at 0 and repeats after its last."""
    periods = int(end_ms // period_ms[-1]) + 1
    starts = np.arange(periods, dtype=np.int64)[:, None] * int(period_ms[-1])
    times = (starts + period_ms[None, :].astype(np.int64)).ravel()
    return times[times <= end_ms]


def read_link_log(path: Path) -> LinkLog:
    """Reads a log of mm-link.

    Raises:
        InputError: the file is not such a log; the message names file, line and what is wrong there.
    """
    try:
        text = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot read the link log: {error.strerror}") from error
    head, body = _split_header(text)
    events = EventLog(path, body, head.count(b"\n") + 1, _LAYOUTS)

    def column(kind: str, field: int) -> Array:
        return events.values(kind, field).astype(np.int32)

    return LinkLog(
        arrival_ms=column("+", 0),
        arrival_bytes=column("+", 2),
        departure_ms=column("-", 0),
        departure_bytes=column("-", 2),
        departure_delay_ms=column("-", 3),
        opportunity_ms=column("#", 0),
        header=_parse_header(path, head.decode(errors="replace")),
    )


def _last(times: Array) -> float:
    return float(times[-1]) if len(times) else 0.0


def _split_header(text: bytes) -> tuple[bytes, bytes]:
    length = 0
    while text.startswith(b"#", length):
        length = text.find(b"\n", length) + 1 or len(text)
    return text[:length], text[length:]


def _parse_header(path: Path, head: str) -> LinkLogHeader:
    queue = _QUEUE.search(head)
    if queue is None:
        raise InputError(f"{path}: no '# queue:' line in the header: not a log of mm-link")
    limits = dict(item.split("=") for item in re.findall(r"\w+=\d+", queue[2] or ""))
    return LinkLogHeader(
        queue[1],
        int(limits.get("packets", 0)),
        int(limits.get("bytes", 0)),
        _header_number(path, head, "init timestamp"),
        _header_number(path, head, "base timestamp"),
    )


def _header_number(path: Path, head: str, name: str) -> int:
    found = re.search(_HEADER_NUMBER.format(name), head, re.MULTILINE)
    if found is None:
        raise InputError(f"{path}: no '# {name}: NUMBER' line in the header: not a log of mm-link")
    return int(found[1])
