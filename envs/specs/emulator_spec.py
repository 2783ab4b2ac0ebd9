"""What a network path is, whichever backend emulates it: delay, links, their order, and who shares it."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import numpy as np
from ccgym.envs import _core
from ccgym.envs.errors import InputError
from pydantic import Field, model_validator

from .link_spec import LinkSpec, OnOff
from .spec_fields import AsTuple, DelayMs, EmulatorName, PeriodSeconds, SpecModel
from .traffic_spec import CrossTraffic, FlowSpec
from .variation_spec import MS_PER_S, DelayStep, DelayWalk, step_function, walk_function

__all__ = ["DEFAULT_NESTING", "EmulatorSpec", "LinkSpec", "OnOff"]

Element = Literal["delay", "onoff", "loss", "link"]

_DRAW = 0x64726177
"""Keeps the draws of a run apart from everything else that its seed decides."""

DEFAULT_NESTING: tuple[Element, ...] = ("delay", "onoff", "loss", "link")
"""mm-delay around mm-onoff around mm-loss around mm-link."""


def _mirror_uplink(data: dict[str, Any]) -> LinkSpec:
    uplink: LinkSpec = data["uplink"]
    return uplink.mirrored()


MOST_CROSS_PACKETS_PER_S = 1e6
"""10 Gbit/s of full packets: beyond, a run has no end."""


class EmulatorSpec(SpecModel):
    """A network path from senders to receivers: its delay, its uplink (data) and its downlink (ACKs)."""

    name: EmulatorName
    delay_ms: DelayMs  # one way, each direction; whole, unless timing is continuous
    uplink: LinkSpec
    downlink: LinkSpec = Field(default_factory=_mirror_uplink)
    timing: Literal["mahimahi", "continuous"] = "mahimahi"  # mahimahi's clock of 1 ms, or exact times
    nesting: Annotated[tuple[Element, ...], AsTuple] = DEFAULT_NESTING  # of the shells, outermost first
    once: bool = False  # traces are not repeated: after its last opportunity a direction is dead
    delay_steps: Annotated[tuple[DelayStep, ...], AsTuple] | None = None  # from `delay_ms` on
    delay_walk: DelayWalk | None = None  # from `delay_ms` on
    delay_period_s: PeriodSeconds = 60.0  # after it, steps or walk begin anew
    flows: Annotated[tuple[FlowSpec, ...], AsTuple] = ()  # none: one, from beginning to end
    cross_traffic: Annotated[tuple[CrossTraffic, ...], AsTuple] = ()

    @model_validator(mode="after")
    def _check_delay(self) -> "EmulatorSpec":
        if self.delay_steps is not None and self.delay_walk is not None:
            raise ValueError("has both of delay_steps and delay_walk; give at most one")
        walk = self.delay_walk
        if walk and not walk.low_ms <= self.delay_ms <= walk.high_ms:
            raise ValueError(f"delay_ms {self.delay_ms:g} is not within the bounds of delay_walk")
        steps = [step.delay_ms for step in self.delay_steps or ()]
        for delay_ms in (self.delay_ms, *steps):
            if self.timing == "mahimahi" and not float(delay_ms).is_integer():
                raise ValueError(f"delay_ms: {delay_ms} is not a whole number, which timing: mahimahi needs")
        self._varying_delay()
        return self

    @model_validator(mode="after")
    def _check_nesting(self) -> "EmulatorSpec":
        links = (self.uplink, self.downlink)
        used = {"delay", "link"}
        used |= {"loss"} if any(link.loss for link in links) else set()
        used |= {"onoff"} if any(link.onoff for link in links) else set()
        missing = [element for element in DEFAULT_NESTING if element in used - set(self.nesting)]
        if missing:
            raise ValueError(f"nesting lacks {missing[0]}, which the emulator has")
        if len(set(self.nesting)) < len(self.nesting):
            raise ValueError("nesting names an element twice")
        return self

    @model_validator(mode="after")
    def _check_cross_traffic(self) -> "EmulatorSpec":
        packets = sum(each.packets_per_s for each in self.cross_traffic)
        if packets > MOST_CROSS_PACKETS_PER_S:
            raise ValueError(
                f"cross_traffic: {packets:.3g} packets per s together, more than {MOST_CROSS_PACKETS_PER_S:g}"
            )
        return self

    @model_validator(mode="after")
    def _check_flows(self) -> "EmulatorSpec":
        if self.flows and all(flow.scheme is not None for flow in self.flows):
            raise ValueError("flows: each names a scheme; leave one without, for the scheme that is run")
        return self

    @model_validator(mode="after")
    def _check_once(self) -> "EmulatorSpec":
        if self.once and not (self.uplink.trace and self.downlink.trace):
            raise ValueError("once goes with traces, in both directions")
        return self

    def scaled(self, rate_factor: float, delay_factor: float) -> "EmulatorSpec":
        """Returns this emulator with other rates and delays, its queues as many BDPs as before.

        Delays are whole ms, at least 1. A trace stays what it is.
        """
        if self.uplink.trace is not None:
            rate_factor = 1.0
        delay_ms = max(1, round(self.delay_ms * delay_factor))
        queue_factor = rate_factor * delay_ms / max(1, self.delay_ms)
        changes: dict[str, object] = {
            "delay_ms": delay_ms,
            "uplink": self.uplink.scaled(rate_factor, queue_factor),
            "downlink": self.downlink.scaled(rate_factor, queue_factor),
        }
        if self.delay_steps is not None:
            changes["delay_steps"] = tuple(step.scaled(delay_factor) for step in self.delay_steps)
        if self.delay_walk is not None:
            changes["delay_walk"] = self.delay_walk.scaled(delay_factor)
        return self.model_copy(update=changes)

    def drawn(self, seed: int, *, begins: bool = True) -> "EmulatorSpec":
        """Returns one draw of this path, as a run meets it: what its seeds leave open, and where it begins.

        Args:
            seed: same seed, same draw.
            begins: whether to draw the place in the schedules at which a run begins; traces that are not
                repeated have no other than their beginning.
        """
        open_seed, place = _draw(seed)
        spec = self._seeded(open_seed) if self.is_random else self
        return spec._beginning_at(spec._begin_ms(place)) if begins and not self.once else spec

    @property
    def is_random(self) -> bool:
        """Whether its draws differ in more than where they begin."""
        walk = self.delay_walk
        links = self.uplink.is_random or self.downlink.is_random
        return links or bool(self.cross_traffic) or (walk is not None and walk.seed is None)

    def begin_ms(self, seed: int) -> int:
        """How far into its schedules the draw of this seed begins, of an emulator that is not random."""
        if self.begins_at_once:  # no draw, which takes longer than all else
            return 0
        return self._begin_ms(_draw(seed)[1])

    @property
    def begins_at_once(self) -> bool:
        """Whether its draws all begin where its schedules do."""
        return self.once or self._longest_period_ms() == 1

    def _seeded(self, seed: int) -> "EmulatorSpec":
        changes: dict[str, object] = {
            "uplink": self.uplink.drawn(seed),
            "downlink": self.downlink.drawn(seed),
        }
        if self.cross_traffic:
            changes["cross_traffic"] = tuple(
                traffic.drawn(seed + number) for number, traffic in enumerate(self.cross_traffic)
            )
        if self.delay_walk is not None and self.delay_walk.seed is None:
            changes["delay_walk"] = self.delay_walk.model_copy(update={"seed": seed})
        return self.model_copy(update=changes)

    def _begin_ms(self, place: float) -> int:
        return int(place * self._longest_period_ms())

    def _longest_period_ms(self) -> int:
        return max(link.schedule().period_ms for link in (self.uplink, self.downlink))

    def _beginning_at(self, begin_ms: int) -> "EmulatorSpec":
        begin_s = begin_ms / MS_PER_S
        links = {
            name: getattr(self, name).model_copy(update={"begin_s": begin_s})
            for name in ("uplink", "downlink")
            if getattr(self, name).begin_s != begin_s
        }
        return self.model_copy(update=links) if links else self

    @property
    def delay_varies(self) -> bool:
        """Whether propagation takes longer at one time than at another."""
        return self.delay_steps is not None or self.delay_walk is not None

    def before_link(self, element: Element) -> bool:
        """Whether data meet `element` before the link, ACKs behind it."""
        return element in self.nesting and self.nesting.index(element) > self.nesting.index("link")

    @property
    def learners(self) -> int:
        """Number of flows that name no scheme: those that a policy may run; 1 if no flows are given."""
        return sum(flow.scheme is None for flow in self.flows) if self.flows else 1

    def own_flow_seconds(self, seconds: float) -> float:
        """Returns how long the flow that is run over this emulator is there, of a run of so many s."""
        own = next((flow for flow in self.flows if flow.scheme is None), None)
        if own is None:
            return seconds
        return max(0.0, min(seconds, own.stop_s or seconds) - own.start_s)

    def check_own_flow_begins(self, seconds: float) -> None:
        """Raises InputError if the flow that is run over this emulator begins after a run of so many s."""
        if self.own_flow_seconds(seconds) <= 0:
            raise InputError(
                f"{self.name}: flows: the first without a scheme begins after the {seconds:g} s of a run"
            )

    def to_path(
        self,
        *,
        flows: Sequence[_core.Flow] = (),
        stall_probability: float = 0.0,
        stall_max_ms: float = 0.0,
    ) -> _core.Path:
        """Returns the twin of this emulator.

        Args:
            flows: that share it; none: those of the spec, or else one, which learns or follows the scheme it
                is run with.
            stall_probability: how often, per ms, the sender's host stalls.
            stall_max_ms: how long it then stalls at most.

        Raises:
            InputError: a trace cannot be read or is broken.
        """
        links = []
        for direction in ("uplink", "downlink"):
            try:
                links.append(
                    getattr(self, direction).to_link(once=self.once, exact=self.timing == "continuous")
                )
            except InputError as error:
                raise InputError(f"{self.name}: {direction}: {error}") from None
        unused = [element for element in DEFAULT_NESTING if element not in self.nesting]
        return _core.Path(
            self.delay_ms,
            *links,
            stall_probability=stall_probability,
            stall_max_ms=stall_max_ms,
            timing=self.timing,
            nesting=[*unused, *self.nesting],
            varying_delay_ms=self._varying_delay(),
            cross_traffic=[traffic.to_cross_traffic() for traffic in self.cross_traffic],
            flows=list(flows) or [flow.to_flow() for flow in self.flows],
        )

    def _varying_delay(self) -> _core.StepFunction | None:
        if self.delay_steps is not None:
            starts_s = [step.at_s for step in self.delay_steps]
            delays_ms = [step.delay_ms for step in self.delay_steps]
            return step_function(self.delay_ms, starts_s, delays_ms, self.delay_period_s)
        if self.delay_walk is None:
            return None
        bounds = (self.delay_walk.low_ms, self.delay_walk.high_ms)
        return walk_function(self.delay_ms, self.delay_walk, bounds, self.delay_period_s)


def _draw(seed: int) -> tuple[int, float]:
    """The seed of what a spec leaves open, and the place in [0, 1) of its schedules where a run begins."""
    generator = np.random.default_rng([_DRAW, seed])
    return int(generator.integers(2**63)), float(generator.random())
