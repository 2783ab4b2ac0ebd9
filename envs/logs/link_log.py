"""The log of one direction of a link: that of mahimahi's mm-link, or of a run in the twin.

The format is mm-link's (0.98 and later): `T # 1504` a delivery opportunity, `T + SIZE` an arrival, `T - SIZE
DELAY` a departure, `T d PACKETS BYTES` a drop (written by later versions only, so drops are inferred
everywhere alike). Times are whole ms, sizes include the 4-byte header of the TUN device.
"""

import re
import shlex
from dataclasses import dataclass, field, replace
from io import BufferedReader
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
from ccgym.envs import _core
from ccgym.envs.errors import InputError
from ccgym.envs.outside_files import opened
from ccgym.envs.specs.schedules import opportunities_through

from .event_log import Array, EventLog

TUN_HEADER_BYTES = 4
BACKGROUND_BYTES = (80, 52)
"""Sizes of the IPv6 listener reports and router solicitations that a new shell sends by itself."""

QUEUE_ARGUMENTS = ("packets", "bytes", "target", "interval", "qdelay_ref", "max_burst")

LARGEST_NUMBER = 2**31 - 1
_LONGEST_HEADER_LINE, _MOST_HEADER_LINES = 1 << 16, 100

_LAYOUTS = {"#": "nkx", "+": "nkn", "-": "nknn", "d": "nkxx"}
_HEADER_NUMBER = r"^# {}: (\d{{1,18}})$"
_QUEUE = re.compile(r"^# queue: (\w+)(?: \[(.*)\])?$", re.MULTILINE)


@dataclass(frozen=True)
class QueueSettings:
    """A queue as mm-link was told: its kind and `packets`, `bytes`, `target`, ... where they are not 0."""

    kind: str
    arguments: dict[str, int]


@dataclass(frozen=True)
class LinkLogHeader:
    """The settings a link wrote above its log."""

    queue: QueueSettings
    once: bool
    """The trace was not repeated."""
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
    unrecorded_bytes: int = 0
    """Bytes of arrivals that are only counted: a flow that floods a link would fill any memory."""
    completion_ms: Array = field(default_factory=lambda: np.zeros(0))
    """How long all that the flow had to send took until its last ACK, or each of its answers."""

    @classmethod
    def from_record(cls, record: Any, schedule: _core.Schedule, until_ms: float = 0.0) -> "LinkLog":
        """The log of a twin's run over a link that delivers by `schedule`, up to its end or `until_ms`."""
        end_ms = max(_last(record.departure_ms), _last(record.arrival_ms), until_ms)
        return cls(
            record.arrival_ms,
            record.arrival_bytes,
            record.departure_ms,
            record.departure_bytes,
            record.departure_delay_ms,
            opportunities_through(schedule, end_ms),
            unrecorded_bytes=record.unrecorded_bytes,
            completion_ms=record.completion_ms,
        )

    @classmethod
    def between_ends(cls, record: Any, schedule: _core.Schedule, until_ms: float = 0.0) -> "LinkLog":
        """The same run as its sender and its receiver saw it: propagation included, all loss seen."""
        link = cls.from_record(record, schedule, until_ms)
        received = ~np.isnan(record.received_ms)
        received_ms = record.received_ms[received]
        return replace(
            link,
            arrival_ms=record.sent_ms,
            departure_ms=received_ms,
            departure_bytes=link.departure_bytes[received],
            departure_delay_ms=np.round(received_ms - record.departed_sent_ms[received], 3),
        )

    def shifted(self, delay_ms: float) -> "LinkLog":
        """The same packets, seen `delay_ms` later where they leave, and delayed by so much more."""
        return replace(
            self,
            departure_ms=self.departure_ms + delay_ms,
            departure_delay_ms=self.departure_delay_ms + delay_ms,
        )

    def without_departures(self) -> "LinkLog":
        """The same log without departures."""
        nothing = np.zeros(0)
        return replace(self, departure_ms=nothing, departure_bytes=nothing, departure_delay_ms=nothing)

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
        unrecorded_bytes=sum(flow.unrecorded_bytes for flow in flows),
        completion_ms=np.concatenate([flow.completion_ms for flow in flows]),
    )


def read_link_log(path: Path) -> LinkLog:
    """Reads a log of mm-link.

    Raises:
        InputError: the file is not such a log; the message names file, line and what is wrong there.
    """
    return _read_link_log(path, whole_lines=False)[0]


def read_whole_lines(path: Path) -> tuple[LinkLog, bool]:
    """Reads a log whose last line may be incomplete; also returns whether it is.

    Raises:
        InputError: as `read_link_log`.
    """
    return _read_link_log(path, whole_lines=True)


def _read_link_log(path: Path, *, whole_lines: bool) -> tuple[LinkLog, bool]:
    with opened(path, "the link log") as stream:
        head = _read_header(stream)
        events = EventLog(path, stream, len(head) + 1, _LAYOUTS, whole_lines=whole_lines)
    sent, received, opportunities = (events.take(kind) for kind in "+-#")
    log = LinkLog(
        arrival_ms=sent[0],
        arrival_bytes=sent[2],
        departure_ms=received[0],
        departure_bytes=received[2],
        departure_delay_ms=received[3],
        opportunity_ms=opportunities[0],
        header=_parse_header(path, b"".join(head).decode(errors="replace")),
    )
    return log, events.cut_in_mid_line


def _last(times: Array) -> float:
    return float(times[-1]) if len(times) else 0.0


def _read_header(stream: BufferedReader) -> list[bytes]:
    lines: list[bytes] = []
    while len(lines) < _MOST_HEADER_LINES and stream.peek(1).startswith(b"#"):
        lines.append(stream.readline(_LONGEST_HEADER_LINE))
    return lines


def _parse_header(path: Path, head: str) -> LinkLogHeader:
    queue = _QUEUE.search(head)
    if queue is None:
        raise InputError(f"{path}: no '# queue:' line in the header: not a log of mm-link")
    options = _command_options(head)
    direction = "downlink" if re.match(r"# mahimahi mm-link \(down", head, re.IGNORECASE) else "uplink"
    # The line of the queue tells its limits only, the command line what else CoDel and PIE were given.
    arguments = parse_queue_arguments(options.get(f"--{direction}-queue-args", ""))
    arguments |= parse_queue_arguments(queue[2] or "")
    return LinkLogHeader(
        QueueSettings(queue[1], arguments),
        "--once" in options,
        _header_number(path, head, "init timestamp"),
        _header_number(path, head, "base timestamp"),
    )


def parse_queue_arguments(text: str) -> dict[str, int]:
    """What mm-link reads from a queue's arguments: of each name its first number, separators at will."""
    found = ((name, re.search(rf"{name}=(\d+)", text)) for name in QUEUE_ARGUMENTS)
    values = {name: min(int(number[1]), LARGEST_NUMBER) for name, number in found if number}
    return {name: value for name, value in values.items() if value}


def _command_options(head: str) -> dict[str, str]:
    """The options on the header's command line, up to the inner command."""
    line = re.search(r"^# command line: (.*)$", head, re.MULTILINE)
    try:
        words = shlex.split(line[1]) if line else []
    except ValueError:
        words = []
    own = words[: words.index("--")] if "--" in words else words
    options: dict[str, str] = {}
    for word, following in zip_longest(own, own[1:], fillvalue=""):
        name, assigned, value = word.partition("=")
        options.setdefault(name, value if assigned else following)
    return options


def _header_number(path: Path, head: str, name: str) -> int:
    found = re.search(_HEADER_NUMBER.format(name), head, re.MULTILINE)
    if found is None:
        raise InputError(f"{path}: no '# {name}: NUMBER' line in the header: not a log of mm-link")
    return int(found[1])
