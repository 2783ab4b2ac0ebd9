"""What a network path is, whichever backend emulates it: delay, and per direction rate, loss and queue."""

import os
import re
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationInfo,
    model_validator,
)

from . import _core
from .errors import InputError
from .schedules import constant_schedule, poisson_schedule, trace_schedule


def _within(low: float, high: float) -> AfterValidator:
    def check(value: float) -> float:
        if not low <= value <= high:
            raise ValueError(f"{value} is not within [{low}, {high}]")
        return value

    return AfterValidator(check)


def _emulator_name(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
        raise ValueError(f"{name!r} is not a name of letters, digits, '.', '_' and '-'")
    return name


def _trace_path(value: object, info: ValidationInfo) -> object:
    """Resolves a path against the file's folder; an unset variable stays, to be told when it is needed."""
    if not isinstance(value, str) or not value:
        return value
    expanded = os.path.expandvars(value)
    if expanded.startswith("$") or not info.context:
        return Path(expanded)
    return Path(info.context["folder"], expanded)


# Slower than one packet per 60 s, the period of a generated schedule, there is nothing to emulate; the upper
# end bounds the memory of a Poisson schedule.
RateMbps = Annotated[float, _within(0.0002, 10_000)]
Probability = Annotated[float, _within(0, 1)]
DelayMs = Annotated[int, _within(0, 60_000)]
PositiveMs = Annotated[int, _within(1, 60_000)]
Seed = Annotated[int, _within(0, 2**63 - 1)]
QueueLimit = Annotated[int, _within(1, 2**31 - 1)]
TracePath = Annotated[Path, BeforeValidator(_trace_path)]
Queue = Literal["infinite", "droptail", "drophead", "codel", "pie"]

# What each queue needs beyond a limit in packets or bytes.
_QUEUE_PARAMETERS = {"codel": ("target_ms", "interval_ms"), "pie": ("qdelay_ref_ms", "max_burst_ms")}


class LinkSpec(BaseModel):
    """One direction of a path: when it may deliver, what it loses, what waits in front of it."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    rate_mbps: RateMbps | None = None  # Mbit/s of 1500-byte packets; either this or `trace`
    arrivals: Literal["constant", "poisson"] = "constant"  # how the opportunities of `rate_mbps` lie
    seed: Seed = 1  # of poisson opportunities
    trace: TracePath | None = None  # mahimahi trace file
    loss: Probability = 0.0  # of each packet, independently
    queue: Queue = "infinite"
    packets: QueueLimit | None = None  # most packets that wait
    bytes: QueueLimit | None = None  # most bytes that wait, each packet with its 4-byte TUN header
    target_ms: PositiveMs | None = None  # codel
    interval_ms: PositiveMs | None = None  # codel
    qdelay_ref_ms: PositiveMs | None = None  # pie
    max_burst_ms: PositiveMs | None = None  # pie

    @model_validator(mode="after")
    def _check_rate(self) -> "LinkSpec":
        if (self.rate_mbps is None) == (self.trace is None):
            given = "neither" if self.trace is None else "both"
            raise ValueError(f"has {given} of rate_mbps and trace; give exactly one")
        if self.trace is not None and self.arrivals != "constant":
            raise ValueError("arrivals goes with rate_mbps; a trace has its own arrivals")
        return self

    @model_validator(mode="after")
    def _check_queue(self) -> "LinkSpec":
        limited = self.packets is not None or self.bytes is not None
        if self.queue == "infinite" and limited:
            raise ValueError("an infinite queue takes no packets or bytes; a limited one is queue: droptail")
        if self.queue != "infinite" and not limited:
            raise ValueError(f"a {self.queue} queue needs packets or bytes")
        for owner, names in _QUEUE_PARAMETERS.items():
            for name in names:
                if (getattr(self, name) is not None) != (self.queue == owner):
                    verb = "needs" if self.queue == owner else "does not take"
                    raise ValueError(f"queue {self.queue} {verb} {name}")
        return self

    def mirrored(self) -> "LinkSpec":
        """Returns the downlink that a file leaves out: same rate or trace, infinite queue, no loss."""
        return LinkSpec(rate_mbps=self.rate_mbps, arrivals=self.arrivals, seed=self.seed, trace=self.trace)

    def schedule(self) -> _core.Schedule:
        """Returns when this link may deliver; equal links share one schedule.

        Raises:
            InputError: the trace cannot be read or is broken.
        """
        if self.trace is not None:
            if str(self.trace).startswith("$"):
                variable = self.trace.parts[0][1:]
                raise InputError(
                    f"{self.trace}: set {variable} to the folder of the trace files; it is not set"
                )
            return trace_schedule(self.trace)
        assert self.rate_mbps is not None
        if self.arrivals == "poisson":
            return poisson_schedule(self.rate_mbps, self.seed)
        return constant_schedule(self.rate_mbps)

    def to_link(self) -> _core.Link:
        """Returns the twin of this link.

        Raises:
            InputError: the trace cannot be read or is broken.
        """
        return _core.Link(
            self.schedule(),
            queue=self.queue,
            queue_packets=self.packets or 0,
            queue_bytes=self.bytes or 0,
            target_ms=self.target_ms or 0,
            interval_ms=self.interval_ms or 0,
            qdelay_ref_ms=self.qdelay_ref_ms or 0,
            max_burst_ms=self.max_burst_ms or 0,
            loss=self.loss,
        )


def _mirror_uplink(data: dict[str, Any]) -> LinkSpec:
    uplink: LinkSpec = data["uplink"]
    return uplink.mirrored()


class EmulatorSpec(BaseModel):
    """A network path from a sender to a receiver: its delay, its uplink (data) and its downlink (ACKs)."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    name: Annotated[str, AfterValidator(_emulator_name)]
    delay_ms: DelayMs  # one way, each direction; whole, since mahimahi's clock is
    uplink: LinkSpec
    downlink: LinkSpec = Field(default_factory=_mirror_uplink)

    def to_path(self, *, stall_probability: float = 0.0, stall_max_ms: float = 0.0) -> _core.Path:
        """Returns the twin of this emulator.

        Args:
            stall_probability: how often, per ms, the sender's host stalls.
            stall_max_ms: how long it then stalls at most.

        Raises:
            InputError: a trace cannot be read or is broken.
        """
        links = []
        for direction in ("uplink", "downlink"):
            try:
                links.append(getattr(self, direction).to_link())
            except InputError as error:
                raise InputError(f"{self.name}: {direction}: {error}") from None
        return _core.Path(
            self.delay_ms, *links, stall_probability=stall_probability, stall_max_ms=stall_max_ms
        )
