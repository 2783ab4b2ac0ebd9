"""The ideal window of an emulator at every moment, for any preference: what training imitates.

In closed form, so that thousands of emulators cost no search:

- an even link, or one whose rate steps: what it delivers in the round trip of an empty path, and a short
  standing queue; on a slow one as many packets as there are opportunities within a round trip;
- Poisson arrivals: the fixed window that is best in expectation over all seeds (poisson_window.py);
- any other link that varies: clairvoyant. At time t the ideal window is what the link has delivered since the
  packet whose ACK has just come back left it, and what it will deliver within the next VARYING_QUEUE_MS.

Where chance decides, in the latter two, the queue is shorter on a short path, where it is most of the delay.
The preference (preference.py) stretches the queues, and weighs delay against throughput where chance decides.
How these windows compare with those that `window.py` finds by running: tests/oracle/test_ideal.py.
"""

import math

import numpy as np
from ccgym.envs import _core
from ccgym.envs.errors import InputError
from ccgym.envs.specs.emulators import EmulatorSpec, LinkSpec
from ccgym.envs.specs.link_spec import DATA_TUN_BYTES
from numpy.typing import NDArray

from .poisson_window import poisson_window
from .preference import allowance

STEP_MS = 10.0
"""Resolution of an ideal window in time."""
STEADY_QUEUE_MS = 3.4
STEADY_QUEUE_SHARE = 0.015
"""Standing queue at the default preference: the sum of so many ms and this share of the one-way delay."""
VARYING_QUEUE_MS = 26.0
"""Standing queue at the default preference on links whose rate varies."""
SHARED_QUEUE_MS = 4.0
"""Added where flows share a link, at 1 packet per ms for each flow; inverse to the root of that rate."""
POISSON_DELAY_WEIGHT = 0.42
"""Weight of a relative change of the p95 delay beside one of the throughput, at the default preference."""
SHORT_PATH_MS = 20.0
LEAST_CHANCE_QUEUE = 0.35
"""Where chance decides: the part of the queue that is left on a path without delay; from SHORT_PATH_MS one
way on it is the whole queue. 26 ms are eight times a path of 3 ms: a policy trained with a whole queue
everywhere had a mean ln(throughput / p95 delay) 0.13 lower on the Poisson and varying links below 8 ms of
`random:validation:1000:990105`, for 2 % more throughput."""
QUEUE_SHARE = 0.6
"""The part of a limited queue that may be used: the rest is for bursts."""
CONTESTED_QUEUE_SHARE = 0.75
"""How full a loss-based flow keeps a limited queue on average."""
LEAST_WINDOW_PACKETS = 2.0
OPPORTUNITY_BYTES = 1504
"""With the TUN header."""
PACKETS_PER_OPPORTUNITY = OPPORTUNITY_BYTES / DATA_TUN_BYTES
"""Data packets, with the TUN header as well."""
ACKS_PER_OPPORTUNITY = 20
CLOCK_MS = 1.0
"""The clock of mahimahi's links: a packet that is just in time may be just too late."""

Windows = NDArray[np.float64]


def refuse_unread(spec: EmulatorSpec, *, shared: bool = False) -> None:
    """Raises InputError for the first key of `spec` that the closed forms do not read.

    Where the path is `shared`, the caller knows the flows.
    """
    links = (spec.uplink, spec.downlink)
    unread = {
        "delay_steps": spec.delay_steps is not None,
        "delay_walk": spec.delay_walk is not None,
        "onoff": any(link.onoff is not None for link in links),
        "cross_traffic": bool(spec.cross_traffic),
        "flows": bool(spec.flows) and not shared,
        "once": spec.once,
    }
    for key, given in unread.items():
        if given:
            raise InputError(
                f"{spec.name}: {key}: the oracle's labels do not take it into account; train on emulators "
                f"without {key}"
            )


def ideal_windows(spec: EmulatorSpec, preference: float, steps: int) -> Windows:
    """Ideal windows in packets, (steps,), at the times STEP_MS / 2, 3 STEP_MS / 2, ... of a flow.

    Raises:
        InputError: see `refuse_unread`.
    """
    refuse_unread(spec)
    if spec.uplink.varies:
        windows = _clairvoyant(spec, preference, steps)
    else:
        windows = np.full(steps, _steady(spec, preference))
    return np.maximum(windows, LEAST_WINDOW_PACKETS)


def _steady(spec: EmulatorSpec, preference: float) -> float:
    packets_per_ms = _packets_per_ms(spec)
    round_trip_ms = 2.0 * spec.delay_ms
    if spec.downlink != spec.uplink.mirrored() or spec.uplink.arrivals == "poisson":
        round_trip_ms += _ack_wait_ms(spec.downlink)
    queue_packets = float(spec.uplink.queue_packets)
    queue_ms = _steady_queue_ms(spec) * allowance(preference)
    if spec.uplink.arrivals == "poisson":
        return poisson_window(
            packets_per_ms,
            round_trip_ms,
            queue_packets,
            free_ms=spec.delay_ms + queue_ms,
            delay_weight=POISSON_DELAY_WEIGHT / (allowance(preference) * _chance_queue_share(spec)),
        )
    waiting = min(packets_per_ms * queue_ms, QUEUE_SHARE * queue_packets)
    return max(packets_per_ms * round_trip_ms + waiting, _opportunities_per_round_trip(spec))


def _steady_queue_ms(spec: EmulatorSpec) -> float:
    return STEADY_QUEUE_MS + STEADY_QUEUE_SHARE * spec.delay_ms


def _chance_queue_share(spec: EmulatorSpec) -> float:
    """The part of the queue that is used, relative to a path that is not short."""
    return LEAST_CHANCE_QUEUE + (1 - LEAST_CHANCE_QUEUE) * min(1.0, spec.delay_ms / SHORT_PATH_MS)


def _opportunities_per_round_trip(spec: EmulatorSpec) -> int:
    """Of an even link, data and ACKs waiting for theirs included: fewer packets leave some unused."""
    gap_ms = OPPORTUNITY_BYTES * 8e-3 / spec.uplink.schedule().mean_rate_mbps
    ack_wait_ms = gap_ms if spec.downlink == spec.uplink.mirrored() else _ack_wait_ms(spec.downlink)
    return math.ceil((2 * spec.delay_ms + ack_wait_ms + CLOCK_MS) / gap_ms)


def shared_windows(
    spec: EmulatorSpec,
    preference: float,
    present: NDArray[np.int64],
    extra_delay_ms: Windows,
    *,
    contested: bool,
) -> Windows:
    """The fair shares of flows on an even link, (flows, steps), while `present` (steps,) of them are there.

    Each flow has its part of the rate. The queue that they keep together is longer the smaller that part is:
    one queue for all, and a target that falls with the rate, have only one equilibrium (Copa, NSDI 2018). On
    a contested link another flow fills the queue, and the share of it has to be taken as well.

    Raises:
        InputError: see `refuse_unread`.
    """
    refuse_unread(spec, shared=True)
    share = _packets_per_ms(spec) / present
    queue_ms = _steady_queue_ms(spec) + np.where(present > 1, SHARED_QUEUE_MS / np.sqrt(share), 0.0)
    queue_ms = np.minimum(
        queue_ms * allowance(preference), QUEUE_SHARE * spec.uplink.queue_packets / _packets_per_ms(spec)
    )
    if contested:
        queue_ms = np.full_like(
            queue_ms, CONTESTED_QUEUE_SHARE * spec.uplink.queue_packets / _packets_per_ms(spec)
        )
    round_trips_ms = 2.0 * (spec.delay_ms + extra_delay_ms)
    return np.maximum(share * (round_trips_ms[:, None] + queue_ms), LEAST_WINDOW_PACKETS)


def _packets_per_ms(spec: EmulatorSpec) -> float:
    data = spec.uplink.schedule().mean_rate_mbps / 12 * PACKETS_PER_OPPORTUNITY
    acks = spec.downlink.schedule().mean_rate_mbps / 12 * ACKS_PER_OPPORTUNITY
    return min(data, acks)


def _ack_wait_ms(link: LinkSpec) -> float:
    """How long an ACK waits for an opportunity on average."""
    gaps_ms = np.diff(link.schedule().opportunities_ms().astype(np.float64))
    return float((gaps_ms**2).sum() / (2 * gaps_ms.sum())) if gaps_ms.any() else 0.0


def _clairvoyant(spec: EmulatorSpec, preference: float, steps: int) -> Windows:
    now_ms: Windows = (np.arange(steps, dtype=np.float64) + 0.5) * STEP_MS
    even = spec.uplink.rate_steps is not None and spec.uplink.arrivals == "constant"
    queue_ms = _steady_queue_ms(spec) if even else VARYING_QUEUE_MS * _chance_queue_share(spec)
    queue_ms *= allowance(preference)
    data = spec.uplink.schedule()
    delivered = _count(data, now_ms)
    if even:
        within = _within_round_trip(spec, now_ms)
    else:
        acked_ms = _last_opportunity(spec.downlink, now_ms) - 2 * spec.delay_ms
        within = delivered - _count(data, acked_ms)
    waiting = np.minimum(_count(data, now_ms + queue_ms) - delivered, QUEUE_SHARE * spec.uplink.queue_packets)
    return PACKETS_PER_OPPORTUNITY * (within + waiting)


def _within_round_trip(spec: EmulatorSpec, now_ms: Windows) -> Windows:
    """Opportunities from the one that took the latest ACK to the one for the packet which that ACK let go."""
    data = spec.uplink.schedule()
    ack_ms = _last_opportunity(spec.downlink, now_ms - 2 * spec.delay_ms)
    return _count(data, ack_ms + 2 * spec.delay_ms) + 1 - _count(data, ack_ms - 1)


def _last_opportunity(link: LinkSpec, times_ms: Windows) -> Windows:
    return link.schedule().last_through(times_ms.astype(np.int64)).astype(np.float64)


def _count(schedule: _core.Schedule, times_ms: Windows) -> Windows:
    return schedule.count_through(times_ms.astype(np.int64)).astype(np.float64)
