"""Metrics of one flow from the log of the link it crossed.

Definitions are Pantheon's, with two defects mended: capacity and throughput are taken over the same window,
and packets still in flight at the end do not count as lost. Where the mended figure differs, `pantheon_*`
gives Pantheon's own.
"""

import math
from dataclasses import dataclass

import numpy as np

from .event_log import Array
from .link_log import LinkLog

OPPORTUNITY_IP_BYTES = 1500
"""Bytes of one delivery opportunity, without the TUN header."""
STARVES_BELOW = 0.8
"""A flow that delivers for less than this share of its time starves: it was silent for the rest."""
STARVED_MBPS, STARVED_DELAY_MS = 8 * OPPORTUNITY_IP_BYTES / 1e6 / 30, 30_000.0
"""Figures by which a flow that got nothing through is compared: one packet in 30 s, after 30 s."""


@dataclass(frozen=True)
class FlowMetrics:
    """One flow; rates in Mbit/s of IP bytes, delays one way in ms including propagation.

    If nothing was delivered, the throughput is 0 and every delay NaN.
    """

    throughput_mbps: float
    mean_delay_ms: float
    p95_delay_ms: float
    """Nearest rank."""
    p99_delay_ms: float
    loss: float
    """Share of the bytes sent that never reached the receiver, in [0, 1]."""
    capacity_mbps: float
    """Rate that the link could have delivered in the flow's window; 0: the log has no opportunities."""
    utilisation: float
    """throughput / capacity; 0 where the capacity is unknown."""
    queueing_delay_ms: float
    """Mean one-way delay above propagation."""
    power: float
    """throughput / p95 delay, Mbit/s per ms; where nothing came through, of a starved flow's figures."""
    start_ms: float
    """When the flow's window begins, on the log's clock."""
    duration_ms: float
    pantheon_throughput_mbps: float
    pantheon_capacity_mbps: float
    pantheon_utilisation: float
    pantheon_p95_delay_ms: float
    pantheon_loss: float
    completions: float = 0.0
    """Number of times that a flow has sent all its data, once or with each answer."""
    mean_completion_ms: float = math.nan
    """Until the last ACK; NaN: none has ended."""
    p95_completion_ms: float = math.nan

    @property
    def delivers(self) -> bool:
        """Whether anything came through, so that there are delays."""
        return not math.isnan(self.p95_delay_ms)

    @property
    def compared(self) -> tuple[float, float]:
        """Throughput and p95 delay, above 0 in any case."""
        if self.delivers:
            return self.throughput_mbps, self.p95_delay_ms
        return STARVED_MBPS, STARVED_DELAY_MS


class NothingToMeasureError(ValueError):
    """The log has no flow: nothing got through."""


def measure(
    log: LinkLog,
    delay_ms: float,
    *,
    seconds: float | None = None,
    loss_probability: float = 0.0,
    run_s: float | None = None,
) -> FlowMetrics:
    """The metrics of the flow in `log`.

    The window reaches from the first to the last departure of a data packet: one at least half as large as
    the largest, which leaves handshakes out. Of a flow that starves it is all the time that it ran.

    Args:
        log: the direction of the link that carried the data.
        delay_ms: one-way propagation delay outside the link.
        seconds: the window ends so long after its beginning at the latest.
        loss_probability: of a loss stage behind the link, which the log does not see.
        run_s: how long the flow tried to send, if only the network can have kept it from sending; None: it
            may have ended by itself.

    Raises:
        NothingToMeasureError: no window: fewer than two instants at which data packets left the link, and no
            `run_s`.
        ValueError: packets that hold nothing, or that arrived before they were sent.
    """
    if loss_probability == 1:
        log = log.without_departures()
    start_ms, end_ms = _data_window(log, seconds, run_s)
    delays_ms, throughput_mbps, p95_ms = _within(log, start_ms, end_ms, delay_ms)
    capacity_mbps = _capacity_mbps(log, start_ms, end_ms)
    link_loss = _loss(log, end_ms)
    log_throughput_mbps = _mbps(_ip_bytes(log, log.departure_bytes), _span_ms(log.departure_ms))
    log_capacity_mbps = _mbps(len(log.opportunity_ms) * OPPORTUNITY_IP_BYTES, _span_ms(log.opportunity_ms))
    return FlowMetrics(
        throughput_mbps=throughput_mbps,
        mean_delay_ms=_mean(delays_ms),
        p95_delay_ms=p95_ms,
        p99_delay_ms=_nearest_percentile(delays_ms, 99),
        loss=1 - (1 - link_loss) * (1 - loss_probability),
        capacity_mbps=capacity_mbps,
        utilisation=_ratio(throughput_mbps, capacity_mbps),
        queueing_delay_ms=_mean(delays_ms) - delay_ms,
        power=throughput_mbps / p95_ms if len(delays_ms) else STARVED_MBPS / STARVED_DELAY_MS,
        start_ms=start_ms,
        duration_ms=end_ms - start_ms,
        pantheon_throughput_mbps=log_throughput_mbps,
        pantheon_capacity_mbps=log_capacity_mbps,
        pantheon_utilisation=_ratio(log_throughput_mbps, log_capacity_mbps),
        pantheon_p95_delay_ms=_nearest_percentile(log.departure_delay_ms + delay_ms, 95),
        pantheon_loss=_loss_of_log(log),
        completions=float(len(log.completion_ms)),
        mean_completion_ms=_mean(log.completion_ms),
        p95_completion_ms=_nearest_percentile(log.completion_ms, 95),
    )


def throughput_and_delay(log: LinkLog, delay_ms: float) -> tuple[float, float]:
    """Throughput and p95 delay as in `measure`, faster, for comparisons of thousands of runs.

    Raises:
        NothingToMeasureError, ValueError: see `measure`.
    """
    _, throughput_mbps, p95_ms = _within(log, *_data_window(log, None, None), delay_ms)
    return throughput_mbps, p95_ms


def _within(log: LinkLog, start_ms: float, end_ms: float, delay_ms: float) -> tuple[Array, float, float]:
    """Delays, throughput and p95 delay of the departures in a window."""
    inside = (log.departure_ms >= start_ms) & (log.departure_ms <= end_ms)
    delays_ms = log.departure_delay_ms[inside] + delay_ms
    throughput_mbps = _mbps(_ip_bytes(log, log.departure_bytes[inside]), end_ms - start_ms)
    p95_ms = _nearest_percentile(delays_ms, 95)
    if len(delays_ms) and not (throughput_mbps > 0 and p95_ms > 0):
        raise ValueError(
            f"a flow of {throughput_mbps:g} Mbit/s and p95 delay {p95_ms:g} ms: both should be above 0"
        )
    return delays_ms, throughput_mbps, p95_ms


def _data_window(log: LinkLog, seconds: float | None, run_s: float | None) -> tuple[float, float]:
    data_ms = log.departure_ms[log.departure_bytes >= log.departure_bytes.max(initial=0) / 2]
    if run_s is not None and _span_ms(data_ms) < 1000 * STARVES_BELOW * run_s:
        begin_ms = float(log.arrival_ms[0]) if len(log.arrival_ms) else 0.0
        return begin_ms, begin_ms + 1000 * run_s
    if not len(data_ms) or data_ms[0] == data_ms[-1]:
        raise NothingToMeasureError(f"no flow to measure: {len(data_ms)} data packets left the link")
    start_ms, end_ms = float(data_ms[0]), float(data_ms[-1])
    return start_ms, end_ms if seconds is None else min(end_ms, start_ms + 1000 * seconds)


def _capacity_mbps(log: LinkLog, start_ms: float, end_ms: float) -> float:
    inside = (log.opportunity_ms >= start_ms) & (log.opportunity_ms <= end_ms)
    return _mbps(int(np.count_nonzero(inside)) * OPPORTUNITY_IP_BYTES, end_ms - start_ms)


def _loss(log: LinkLog, end_ms: float) -> float:
    """Share of the bytes that arrived before the last one to depart until `end_ms`, and did not depart.

    The queue is first in, first out: what arrived before a packet that departed has departed or is lost.
    """
    departed = log.departure_ms <= end_ms
    if not departed.any():
        return 1.0 if len(log.arrival_ms) else 0.0
    if log.unrecorded_bytes:  # so many that those in flight do not count
        return _loss_of_log(log)
    departures = _keys(
        log.departure_ms[departed], log.departure_bytes[departed], log.departure_delay_ms[departed]
    )
    # Packets of one instant and one size look alike: the last to depart is the n-th such arrival.
    same_arrivals = np.flatnonzero(_keys(log.arrival_ms, log.arrival_bytes) == departures[-1])
    same_departures = np.count_nonzero(departures == departures[-1])
    if len(same_arrivals) < same_departures:
        raise ValueError(f"the departure at {log.departure_ms[departed][-1]} ms has no arrival")
    last_arrival = same_arrivals[same_departures - 1]
    arrived_bytes = _ip_bytes(log, log.arrival_bytes[: last_arrival + 1])
    return 1 - _ratio(_ip_bytes(log, log.departure_bytes[departed]), arrived_bytes)


def _loss_of_log(log: LinkLog) -> float:
    """Share of all bytes that arrived and did not depart."""
    arrived_bytes = _ip_bytes(log, log.arrival_bytes) + log.unrecorded_bytes
    return 1 - _ratio(_ip_bytes(log, log.departure_bytes), arrived_bytes)


def _keys(times_ms: Array, sizes_bytes: Array, delays_ms: Array | float = 0.0) -> Array:
    """One integer per packet: its arrival in us and its size."""
    arrivals_us = np.rint(1000 * np.asarray(times_ms, np.float64)) - np.rint(
        1000 * np.asarray(delays_ms, np.float64)
    )
    return arrivals_us.astype(np.int64) * 65536 + sizes_bytes


def _ip_bytes(log: LinkLog, sizes_bytes: Array) -> int:
    return int(sizes_bytes.sum(dtype=np.int64)) - log.header_bytes * len(sizes_bytes)


def _mbps(total_bytes: int, duration_ms: float) -> float:
    return 8 * total_bytes / (1000 * duration_ms) if duration_ms else 0.0


def _span_ms(times_ms: Array) -> float:
    return float(times_ms[-1] - times_ms[0]) if len(times_ms) else 0.0


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


def _mean(values: Array) -> float:
    return float(values.mean()) if len(values) else math.nan


def _nearest_percentile(values: Array, percent: float) -> float:
    return float(np.percentile(values, percent, method="nearest")) if len(values) else math.nan
