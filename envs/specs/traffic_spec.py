"""Traffic on a path: flows with their own times and delays, and cross traffic without congestion control."""

from functools import lru_cache
from math import inf
from typing import Literal

from ccgym.envs import _core
from ccgym.envs.errors import did_you_mean, excerpt
from pydantic import field_validator, model_validator

from .spec_fields import DelayMs, FlowBytes, IpBytes, RateMbps, Seconds, Seed, SojournSeconds, SpecModel
from .variation_spec import drawn_seed


class FlowSpec(SpecModel):
    """One of several flows over a path."""

    scheme: str | None = None  # None: the scheme that runs over the path
    start_s: Seconds = 0.0
    stop_s: Seconds | None = None  # None: with the run
    extra_delay_ms: DelayMs = 0.0  # one way, each direction, of this flow alone
    bytes: FlowBytes | None = None  # size of its transfer, or of each answer; None: unlimited
    mean_think_s: Seconds | None = None  # time from an answer's arrival to the next request; None: one answer
    mean_on_s: SojournSeconds | None = None  # has data for exponential times only; None: always
    mean_off_s: SojournSeconds | None = None

    @field_validator("scheme")
    @classmethod
    def _check_scheme(cls, scheme: str | None) -> str | None:
        if scheme is not None:
            _check_is_native(scheme)
        return scheme

    @model_validator(mode="after")
    def _check_times(self) -> "FlowSpec":
        _check_order(self.start_s, self.stop_s)
        return self

    @model_validator(mode="after")
    def _check_traffic(self) -> "FlowSpec":
        if self.mean_think_s is not None and self.bytes is None:
            raise ValueError("mean_think_s needs bytes, the size of an answer")
        if (self.mean_on_s is None) != (self.mean_off_s is None):
            raise ValueError("has one of mean_on_s and mean_off_s; give both or neither")
        return self

    def to_flow(self) -> _core.Flow:
        """Returns the twin of this flow."""
        return _core.Flow(
            scheme=self.scheme or "",
            start_s=self.start_s,
            stop_s=inf if self.stop_s is None else self.stop_s,
            extra_delay_ms=self.extra_delay_ms,
            bytes=self.bytes or 0,
            mean_on_s=self.mean_on_s or 0.0,
            mean_off_s=self.mean_off_s or 0.0,
            mean_think_s=self.mean_think_s,
        )


class CrossTraffic(SpecModel):
    """Datagrams that pass through the uplink's queue together with the flows' data."""

    kind: Literal["constant", "poisson", "onoff"]
    rate_mbps: RateMbps  # of IP packets; for onoff, while it is on
    mean_on_s: SojournSeconds | None = None  # onoff
    mean_off_s: SojournSeconds | None = None  # onoff
    packet_bytes: IpBytes = 1500
    start_s: Seconds = 0.0
    stop_s: Seconds | None = None  # None: with the run
    seed: Seed | None = None  # None: each run draws its own

    @model_validator(mode="after")
    def _check_kind(self) -> "CrossTraffic":
        for name in ("mean_on_s", "mean_off_s"):
            if (getattr(self, name) is not None) != (self.kind == "onoff"):
                verb = "needs" if self.kind == "onoff" else "does not take"
                raise ValueError(f"{self.kind} cross traffic {verb} {name}")
        _check_order(self.start_s, self.stop_s)
        return self

    @property
    def packets_per_s(self) -> float:
        """Packets per s while it is on."""
        return 1e6 * self.rate_mbps / (8 * self.packet_bytes)

    def drawn(self, seed: int) -> "CrossTraffic":
        """Returns this traffic with the seed that it leaves open."""
        return self.model_copy(update={"seed": seed % 2**63}) if self.seed is None else self

    def to_cross_traffic(self) -> _core.CrossTraffic:
        """Returns the twin of this traffic."""
        return _core.CrossTraffic(
            self.kind,
            rate_mbps=self.rate_mbps,
            mean_on_ms=1000 * (self.mean_on_s or 0.0),
            mean_off_ms=1000 * (self.mean_off_s or 0.0),
            packet_bytes=self.packet_bytes,
            start_ms=1000 * self.start_s,
            stop_ms=inf if self.stop_s is None else 1000 * self.stop_s,
            seed=drawn_seed(self.seed),
        )


@lru_cache(maxsize=64)
def _check_is_native(scheme: str) -> None:
    names = [name for name, *_ in _core.known_schemes()]
    name = scheme.partition(":")[0]
    if name not in names:
        raise ValueError(f"no scheme {excerpt(name)!r}{did_you_mean(name, names)}; known: {', '.join(names)}")
    link = _core.Link(_core.Schedule.constant(1))
    try:
        _core.simulate(_core.Path(0, link, link), scheme, seconds=0.001, seed=0)
    except (ValueError, RuntimeError) as error:
        raise ValueError(str(error)) from None


def _check_order(start_s: float, stop_s: float | None) -> None:
    if stop_s is not None and stop_s <= start_s:
        raise ValueError(f"stop_s {stop_s:g} is not after start_s {start_s:g}")
