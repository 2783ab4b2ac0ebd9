"""The emulators that a search chooses from: five parameters, between bounds that the measurements set."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from ccgym.envs import _core
from ccgym.envs.errors import InputError, excerpt
from ccgym.envs.outside_files import absolute
from ccgym.envs.specs.emulator_spec import EmulatorSpec
from ccgym.envs.specs.link_spec import DATA_TUN_BYTES, OPPORTUNITY_BITS, LinkSpec
from numpy.typing import NDArray

from .target import HIGHEST_MBPS, Measured, Target

PARAMETERS = ("rate_mbps", "delay_ms", "queue_packets", "loss")
ACK_PATH = "ack_mbps"
"""A parameter beyond the paper's: the rate of an ACK path with Poisson arrivals of its own."""

RATE_WALK = ("walk_spread", "walk_range")
"""Parameters beyond the paper's: a link whose rate walks, down from `rate_mbps`."""
WALK_EVERY_MS = 100
"""Time between two steps of that walk."""

BEYOND = (ACK_PATH, *RATE_WALK)
"""All parameters beyond the paper's."""

ARRIVALS = ("constant", "poisson")
NO_LOSS = 1e-5
"""A smaller loss cannot be measured in a run of a minute."""

TRACE = "trace"
"""The arrivals of a recorded link: only the other parameters are searched."""

_WAITS = {"constant": 0.5, "poisson": 3.0, TRACE: 3.0}
"""p95 of the wait at an idle link, in packet times: for exponential times it is 3 means."""

_DELAY_SHARES = (1.0, 0.75, 0.5, 0.2)

_MOST_PACKETS = 30_000
_HIGHEST_LOSS = 0.3
_SURE = 3.0
"""Bounds of a counted share, in standard errors."""
_REACH, _REACH_OF_UNFILLED = 12, 48
"""The longest queue searched, as a multiple of the queue that the greatest delay shows. Where every scheme
loses packets, perhaps none has filled the queue: on a link of 31 Mbit/s that loses 1.8 % the greatest delay
shows 44 packets of 650."""
_FASTER = 1.1
"""A measured throughput may exceed that of a trace by this factor: others count throughput differently."""


@dataclass(frozen=True)
class Candidate:
    """The emulator of the paper, a link with droptail queue and i.i.d. loss, and optional parameters."""

    rate_mbps: float
    delay_ms: int
    """One way."""
    queue_packets: int
    loss: float
    arrivals: str
    ack_mbps: float | None = None
    """Rate of the ACK path; None: ACKs have the link's own rate and arrivals."""
    walk_spread: float | None = None
    """A step multiplies the rate by e^(spread * standard normal); None: the rate is constant."""
    walk_range: float | None = None
    """The highest rate, `rate_mbps`, over the lowest."""
    traces: tuple[str, ...] = ()
    """mahimahi traces of a recorded link: that of the data and, if there is one, that of the ACKs."""

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """The values of the parameters that it has."""
        return (*PARAMETERS, *(name for name in BEYOND if getattr(self, name) is not None))

    def spec(self, name: str) -> EmulatorSpec:
        """The spec that every backend takes."""
        link = {"trace": self.traces[0]} if self.traces else self._generated_link()
        uplink = {**link, "loss": self.loss, "queue": "droptail", "packets": self.queue_packets}
        fields: dict[str, object] = {"name": name, "delay_ms": self.delay_ms, "uplink": uplink}
        if self.ack_mbps is not None:
            fields["downlink"] = {"rate_mbps": self.ack_mbps, "arrivals": "poisson"}
        elif len(self.traces) > 1:
            fields["downlink"] = {"trace": self.traces[1]}
        return EmulatorSpec.model_validate(fields)

    def _generated_link(self) -> dict[str, object]:
        link: dict[str, object] = {"rate_mbps": self.rate_mbps, "arrivals": self.arrivals}
        if self.walk_spread is not None and self.walk_range is not None:
            link["rate_walk"] = {
                "every_ms": WALK_EVERY_MS,
                "spread": self.walk_spread,
                "low_mbps": self.rate_mbps / self.walk_range,
                "high_mbps": self.rate_mbps,
            }
        return link


@dataclass(frozen=True)
class Restriction:
    """Limits what a search may choose; by default nothing."""

    fixed: dict[str, float] = field(default_factory=dict)
    """Fixed values of parameters."""
    arrivals: tuple[str, ...] = ARRIVALS
    """Kinds of arrivals to choose from."""
    traces: tuple[str, ...] = ()
    """See `Candidate`."""

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """The parameters of the paper that are searched."""
        return tuple(name for name in PARAMETERS if name not in self.fixed)

    @property
    def allows_beyond(self) -> bool:
        """Whether the search may go beyond the paper's parameters."""
        return not self.fixed and not self.traces


def recorded(traces: Sequence[Path], target: Target) -> Restriction:
    """The links of these trace files, around which delay, queue and loss are searched.

    Raises:
        InputError: no trace, or `target` was measured on a faster link.
    """
    links = [LinkSpec(trace=absolute(path)) for path in traces]
    schedule = links[0].schedule()
    most_mbps = _most_mbps(schedule.opportunities_ms().astype(np.int64), schedule, target.seconds)
    fastest = max(target.measured, key=lambda row: row.throughput_mbps)
    if fastest.throughput_mbps > _FASTER * most_mbps:
        raise InputError(
            f"{target.name}: {excerpt(fastest.scheme)}: throughput {fastest.throughput_mbps:g} Mbit/s, but "
            f"{traces[0]} delivers at most {most_mbps:.3g} Mbit/s in {target.seconds:g} s; expected the "
            "trace of the link that was measured"
        )
    traced = tuple(str(link.trace) for link in links)
    return Restriction({"rate_mbps": schedule.mean_rate_mbps}, (TRACE,), traced)


def _most_mbps(begins_ms: NDArray[np.int64], schedule: _core.Schedule, seconds: float) -> float:
    """The highest rate of the trace over this time, at its best beginning."""
    ends_ms = begins_ms + round(1000 * seconds)
    most = int((schedule.count_through(ends_ms) - schedule.count_through(begins_ms)).max())
    return most * OPPORTUNITY_BITS / (1e6 * seconds)


@dataclass(frozen=True)
class Bounds:
    """Bounds and scale of one parameter; the search sees it as a number from 0 to 1."""

    low: float
    high: float
    scale: str
    """`log`, `linear`, or `square` (for a share that may be 0)."""

    def at(self, place: float) -> float:
        """The value at a place between 0 and 1."""
        if self.scale == "log":
            return self.low * math.exp(place * math.log(self.high / self.low))
        return self.low + (self.high - self.low) * (place**2 if self.scale == "square" else place)

    def place(self, value: float) -> float:
        """The place of a value, cut to the bounds."""
        value = min(max(value, self.low), self.high)
        if self.high == self.low:
            return 0.0
        if self.scale == "log":
            return math.log(value / self.low) / math.log(self.high / self.low)
        share = (value - self.low) / (self.high - self.low)
        return math.sqrt(share) if self.scale == "square" else share


@dataclass(frozen=True)
class Space:
    """The space of a search, and where the search begins."""

    bounds: dict[str, Bounds]
    guess: Candidate
    """The first guess, from the measurements alone."""
    restriction: Restriction

    def at(self, places: dict[str, float], arrivals: str) -> Candidate:
        """The candidate at a point of the unit cube."""
        value = {name: self.bounds[name].at(place) for name, place in places.items()} | self.restriction.fixed
        return Candidate(
            round(value["rate_mbps"], 4),
            round(value["delay_ms"]),
            max(1, round(value["queue_packets"])),
            round(value["loss"], 6) if value["loss"] >= NO_LOSS else 0.0,
            arrivals,
            traces=self.restriction.traces,
            **{name: round(value[name], 4) for name in BEYOND if name in value},
        )

    def places(self, candidate: Candidate) -> dict[str, float]:
        """The point of the unit cube nearest to `candidate`."""
        return {
            name: self.bounds[name].place(getattr(candidate, name))
            for name in candidate.parameters
            if name not in self.restriction.fixed
        }

    def starts(self, arrivals: str) -> list[Candidate]:
        """The guess and its neighbours, with these arrivals: part of the least delay may be queueing."""
        return [
            self._start(share, loss, arrivals)
            for share in _DELAY_SHARES
            for loss in dict.fromkeys([self.guess.loss, 0.0])
        ]

    def _start(self, delay_share: float, loss: float, arrivals: str) -> Candidate:
        """The guess with less propagation delay and a queue that is longer by the difference."""
        packet_ms = 8 * DATA_TUN_BYTES / (1000 * self.guess.rate_mbps)
        delay_ms = max(1, round(delay_share * (self.guess.delay_ms - _WAITS[arrivals] * packet_ms)))
        queue = self.guess.queue_packets + round((self.guess.delay_ms - delay_ms) / packet_ms)
        return replace(self.guess, delay_ms=delay_ms, queue_packets=queue, loss=loss, arrivals=arrivals)


def space_of(target: Target, restriction: Restriction) -> Space:
    """Bounds and a guess from the measurements.

    The fastest scheme is no faster than the link, the least delay no less than propagation, the gentlest
    scheme loses what is lost at random, and the greatest delay is that of a full queue.
    """
    measured = target.measured
    fastest = max(row.throughput_mbps for row in measured)
    least_ms = min(row.p95_delay_ms for row in measured)
    greatest_ms = max(row.p95_delay_ms for row in measured)
    delay_ms = max(1, math.floor(least_ms) - 1)
    loss, most_loss = _random_loss(measured, target.seconds)
    rate_mbps = restriction.fixed.get("rate_mbps", min(HIGHEST_MBPS, fastest * (1.02 + 1.5 * loss)))
    waiting_s = max(greatest_ms - delay_ms, 2.0) / 1000
    queue = min(_MOST_PACKETS, max(2, round(waiting_s * rate_mbps * 1e6 / 8 / DATA_TUN_BYTES)))
    reach = _REACH_OF_UNFILLED if loss > NO_LOSS else _REACH
    bounds = {
        "rate_mbps": Bounds(0.9 * fastest, min(HIGHEST_MBPS, 2.5 * fastest), "log"),
        "delay_ms": Bounds(math.floor(0.1 * least_ms), math.ceil(least_ms), "linear"),
        "queue_packets": Bounds(max(1, queue / 12), min(_MOST_PACKETS, reach * queue), "log"),
        "loss": Bounds(0.0, most_loss, "square"),
        ACK_PATH: Bounds(0.01 * fastest, fastest, "log"),
        "walk_spread": Bounds(0.01, 1.5, "log"),
        "walk_range": Bounds(1.1, 20.0, "log"),
    }
    guess = Candidate(rate_mbps, delay_ms, queue, loss, restriction.arrivals[0], traces=restriction.traces)
    return Space(bounds, guess, restriction)


def _random_loss(measured: tuple[Measured, ...], seconds: float) -> tuple[float, float]:
    """The loss of the gentlest scheme, and the highest random loss that all schemes' losses allow."""
    rows = [(row.loss, _packets(row, seconds)) for row in measured if row.loss is not None]
    if not rows:
        return 0.0, _HIGHEST_LOSS
    at_most = [loss + _SURE * math.sqrt((loss + 1 / packets) / packets) for loss, packets in rows]
    gentlest = min(range(len(rows)), key=at_most.__getitem__)
    return rows[gentlest][0], min(_HIGHEST_LOSS, max(1.3 * at_most[gentlest], 10 * NO_LOSS))


def _packets(row: Measured, seconds: float) -> float:
    return max(1.0, row.runs * seconds * row.throughput_mbps * 1e6 / 8 / DATA_TUN_BYTES)
