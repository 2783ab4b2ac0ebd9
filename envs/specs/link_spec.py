"""One direction of a path: when it may deliver, what it loses, what waits in front of it."""

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Annotated

from ccgym.envs import _core
from ccgym.envs.errors import InputError
from pydantic import model_validator

from .queue_keys import QUEUE_KEYS, with_queue_keys
from .schedules import (
    cellular_schedule,
    constant_schedule,
    markov_schedule,
    poisson_schedule,
    schedule_from,
    trace_schedule,
)
from .spec_fields import (
    Arrivals,
    AsTuple,
    PeriodSeconds,
    PositiveMs,
    Probability,
    Queue,
    QueueLimit,
    RateMbps,
    RateOrNoneMbps,
    Seconds,
    Seed,
    SojournSeconds,
    SpecModel,
    TracePath,
)
from .variation_spec import MS_PER_S, RateStep, RateSteps, RateWalk, drawn_seed, step_function, walk_function

_CAPACITY = (
    "rate_mbps",
    "arrivals",
    "seed",
    "begin_s",
    "period_s",
    "rates_mbps",
    "mean_stay_ms",
    "rate_steps",
    "rate_walk",
    "trace",
)


DATA_IP_BYTES = 1464
"""A data packet as an IP packet; 1500 is what a delivery opportunity takes."""
DATA_TUN_BYTES = DATA_IP_BYTES + 4
"""The same packet as a queue counts it, with its TUN header."""


OPPORTUNITY_BITS = 12_000
MOST_OPPORTUNITIES = 5e7
"""Most opportunities of a generated schedule, which is kept in memory."""


class OnOff(SpecModel):
    """mm-onoff: packets alternately pass and are dropped; it begins on."""

    mean_on_s: SojournSeconds  # mean of exponential times
    mean_off_s: SojournSeconds


@with_queue_keys
class LinkSpec(SpecModel):
    """One direction of a path: when it may deliver, what it loses, what waits in front of it."""

    rate_mbps: RateMbps | None = None  # Mbit/s of 1500-byte packets; the mean if arrivals are cellular
    arrivals: Arrivals = "constant"  # how the opportunities of the rate are spaced
    seed: Seed | None = None  # fixes the arrivals of one recorded link; None: each run draws its own
    begin_s: Seconds = 0.0  # place in the schedule at which a run begins
    period_s: PeriodSeconds = 60.0  # after which random arrivals and steps repeat
    rates_mbps: Annotated[tuple[RateOrNoneMbps, ...], AsTuple] | None = None  # markov: between these
    mean_stay_ms: PositiveMs | None = None  # markov: mean of the exponential stay at each of them
    rate_steps: Annotated[Sequence[RateStep], RateSteps] | None = None  # from `rate_mbps` on
    rate_walk: RateWalk | None = None  # from `rate_mbps` on
    trace: TracePath | None = None  # mahimahi trace file
    loss: Probability = 0.0  # of each packet, independently
    onoff: OnOff | None = None
    queue: Queue = "infinite"
    packets: QueueLimit | None = None  # most packets that wait
    bytes: QueueLimit | None = None  # most bytes that wait, each packet with its 4-byte TUN header

    @model_validator(mode="after")
    def _check_capacity(self) -> "LinkSpec":
        if self.arrivals == "markov":
            self._check_markov()
        elif self.rates_mbps is not None or self.mean_stay_ms is not None:
            raise ValueError("rates_mbps and mean_stay_ms go with arrivals: markov")
        elif (self.rate_mbps is None) == (self.trace is None):
            given = "neither" if self.trace is None else "both"
            raise ValueError(f"has {given} of rate_mbps and trace; give exactly one")
        self._check_period()
        if self.trace is not None and self.arrivals != "constant":
            raise ValueError("arrivals goes with rate_mbps; a trace has its own arrivals")
        return self

    def _check_period(self) -> None:
        drawn = self.arrivals != "constant" or self.rate_steps or self.rate_walk
        rate_mbps = max(self.rates_mbps or (self.rate_mbps or 0.0,))
        opportunities = 1e6 * rate_mbps / OPPORTUNITY_BITS * self.period_s
        if drawn and opportunities > MOST_OPPORTUNITIES:
            raise ValueError(
                f"{rate_mbps:g} Mbit/s for period_s ({self.period_s:g}): {opportunities:.2g} opportunities, "
                f"more than {MOST_OPPORTUNITIES:.0g}"
            )

    def _check_markov(self) -> None:
        if self.rate_mbps is not None:
            raise ValueError("markov arrivals take rates_mbps instead of rate_mbps")
        if self.rates_mbps is None or self.mean_stay_ms is None:
            raise ValueError("markov arrivals need rates_mbps and mean_stay_ms")
        if len(self.rates_mbps) < 2 or not any(self.rates_mbps):
            raise ValueError("rates_mbps needs at least two rates, one of them above 0")

    @model_validator(mode="after")
    def _check_variation(self) -> "LinkSpec":
        given = [name for name in ("rate_steps", "rate_walk") if getattr(self, name) is not None]
        if len(given) == 2:
            raise ValueError("has both of rate_steps and rate_walk; give at most one")
        if given and (self.rate_mbps is None or self.arrivals == "cellular"):
            raise ValueError(f"{given[0]} goes with rate_mbps and constant or poisson arrivals")
        walk = self.rate_walk
        if walk and self.rate_mbps and not walk.low_mbps <= self.rate_mbps <= walk.high_mbps:
            raise ValueError(f"rate_mbps {self.rate_mbps} is not within the bounds of rate_walk")
        if given:
            self.varying_rate()
        return self

    @model_validator(mode="after")
    def _check_queue(self) -> "LinkSpec":
        _core.check_queue(
            self.queue,
            queue_packets=self.packets or 0,
            queue_bytes=self.bytes or 0,
            queue_parameters=self.queue_parameters,
        )
        return self

    def mirrored(self) -> "LinkSpec":
        """Returns the downlink that a file leaves out: same rate or trace, infinite queue, nothing lost."""
        return LinkSpec(**{name: getattr(self, name) for name in _CAPACITY})

    @property
    def varies(self) -> bool:
        """Whether the rate changes over time."""
        generated = self.arrivals in ("markov", "cellular")
        return generated or any((self.trace, self.rate_steps, self.rate_walk))

    @property
    def queue_parameters(self) -> dict[str, float]:
        """The parameters of the queue besides its limits."""
        given = {key: getattr(self, key) for key in QUEUE_KEYS}
        return {key: float(value) for key, value in given.items() if value is not None}

    @property
    def queue_packets(self) -> float:
        """How many data packets may wait; infinite if there is no limit."""
        return min(self.packets or math.inf, (self.bytes or math.inf) / DATA_TUN_BYTES)

    def scaled(self, rate_factor: float, queue_factor: float) -> "LinkSpec":
        """Returns this link with its rates and queue limits multiplied by these factors; a trace stays."""
        changes: dict[str, object] = {}
        for name in ("packets", "bytes"):
            if getattr(self, name) is not None:
                changes[name] = max(1, round(getattr(self, name) * queue_factor))
        if self.rate_mbps is not None:
            changes["rate_mbps"] = self.rate_mbps * rate_factor
        if self.rates_mbps is not None:
            changes["rates_mbps"] = tuple(rate * rate_factor for rate in self.rates_mbps)
        if self.rate_steps is not None:
            changes["rate_steps"] = RateSteps.of(self.rate_steps).scaled(rate_factor)
        if self.rate_walk is not None:
            changes["rate_walk"] = self.rate_walk.scaled(rate_factor)
        return self.model_copy(update=changes)

    def schedule(self, *, once: bool = False, exact: bool = False) -> _core.Schedule:
        """Returns the delivery opportunities of this link from the beginning; equal links share one schedule.

        Args:
            once: whether a trace is not repeated.
            exact: continuous timing: generated times are not rounded down to whole ms.

        Raises:
            InputError: the trace cannot be read or is broken, or a rate that steps or walks has too many
                opportunities.
        """
        try:
            whole = self._whole_schedule(once, exact)
        except ValueError as error:
            raise error if isinstance(error, InputError) else InputError(str(error)) from None
        return schedule_from(whole, round(MS_PER_S * self.begin_s)) if self.begin_s else whole

    def _whole_schedule(self, once: bool, exact: bool) -> _core.Schedule:
        seed = drawn_seed(self.seed)
        if self.trace is not None:
            return self._trace_schedule(once)
        if self.arrivals == "markov":
            assert self.rates_mbps is not None
            assert self.mean_stay_ms is not None
            return markov_schedule(self.rates_mbps, self.mean_stay_ms, seed, self.period_s, exact=exact)
        assert self.rate_mbps is not None
        if self.arrivals == "cellular":
            return cellular_schedule(self.rate_mbps, seed, self.period_s, exact=exact)
        if self.rate_steps or self.rate_walk:
            return _varying_schedule(self.model_copy(update={"begin_s": 0.0}), exact)
        if self.arrivals == "poisson":
            return poisson_schedule(self.rate_mbps, seed, self.period_s, exact=exact)
        return constant_schedule(self.rate_mbps)

    def _trace_schedule(self, once: bool) -> _core.Schedule:
        assert self.trace is not None
        if str(self.trace).startswith("$"):
            variable = self.trace.parts[0][1:] or "the variable after $"
            raise InputError(f"{self.trace}: set {variable} to the folder of the trace files; it is not set")
        return trace_schedule(self.trace, once=once)

    @property
    def is_random(self) -> bool:
        """Whether the opportunities depend on a seed that the spec leaves open."""
        walks = self.rate_walk is not None and self.rate_walk.seed is None
        return walks or (self.arrivals != "constant" and self.seed is None)

    def drawn(self, seed: int) -> "LinkSpec":
        """Returns this link with the seeds that it leaves open."""
        if not self.is_random:
            return self
        changes: dict[str, object] = {"seed": seed} if self.seed is None else {}
        if self.rate_walk is not None and self.rate_walk.seed is None:
            changes["rate_walk"] = self.rate_walk.model_copy(update={"seed": seed})
        return self.model_copy(update=changes)

    def varying_rate(self) -> _core.StepFunction:
        """Returns the rate in Mbit/s over time of a link with `rate_steps` or `rate_walk`."""
        assert self.rate_mbps is not None
        if self.rate_walk is None:
            steps = RateSteps.of(self.rate_steps or ())
            return step_function(self.rate_mbps, steps.at_s, steps.rate_mbps, self.period_s)
        bounds = (self.rate_walk.low_mbps, self.rate_walk.high_mbps)
        return walk_function(self.rate_mbps, self.rate_walk, bounds, self.period_s)

    def to_link(self, *, once: bool = False, exact: bool = False) -> _core.Link:
        """Returns the twin of this link.

        Args:
            once: a trace is not repeated.
            exact: see `schedule`.

        Raises:
            InputError: the trace cannot be read or is broken.
        """
        return _core.Link(
            self.schedule(once=once, exact=exact),
            queue=self.queue,
            queue_packets=self.packets or 0,
            queue_bytes=self.bytes or 0,
            queue_parameters=self.queue_parameters,
            loss=self.loss,
            mean_on_ms=MS_PER_S * self.onoff.mean_on_s if self.onoff else 0.0,
            mean_off_ms=MS_PER_S * self.onoff.mean_off_s if self.onoff else 0.0,
        )


@lru_cache(maxsize=2048)
def _varying_schedule(link: LinkSpec, exact: bool) -> _core.Schedule:
    poisson = link.arrivals == "poisson"
    return _core.Schedule.varying(
        link.varying_rate(), poisson=poisson, seed=drawn_seed(link.seed), exact=exact
    )
