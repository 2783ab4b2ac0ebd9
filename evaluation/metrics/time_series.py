"""Time series of a flow: throughput and capacity in bins, and the delay of its packets."""

from dataclasses import dataclass, replace

import numpy as np
from ccgym.envs.logs.event_log import Array
from ccgym.envs.logs.flow_metrics import OPPORTUNITY_IP_BYTES, FlowMetrics
from ccgym.envs.logs.link_log import LinkLog

BIN_MS = 500.0
DELAY_BUCKETS = 1000
"""Number of buckets: of each, the packets with the least and the most delay are kept."""


@dataclass(frozen=True)
class TimeSeries:
    """Times in s since the flow's window began; rates of IP bytes in Mbit/s; one-way delays in ms."""

    bin_s: Array
    """End of each bin, shape (bins,)."""
    sent_mbps: Array
    """Rate into the link."""
    throughput_mbps: Array
    """Rate out of the link."""
    capacity_mbps: Array
    """Rate of delivery opportunities; empty if the log has none."""
    delay_s: Array
    """When each kept packet left the link, shape (packets,)."""
    delay_ms: Array

    def thinned(self, packets: int) -> "TimeSeries":
        """The same series with about so many packets at most."""
        kept = _extremes(self.delay_ms, max(1, packets // 2))
        return replace(self, delay_s=self.delay_s[kept], delay_ms=self.delay_ms[kept])


def time_series(log: LinkLog, metrics: FlowMetrics, delay_ms: float) -> TimeSeries:
    """The series of the flow in `log` over the window of `metrics`; `delay_ms`: propagation."""
    edges_ms = metrics.start_ms + BIN_MS * np.arange(max(1, int(metrics.duration_ms // BIN_MS)) + 1)
    sizes = log.departure_bytes - log.header_bytes
    arrived, _ = np.histogram(log.arrival_ms, edges_ms, weights=log.arrival_bytes - log.header_bytes)
    delivered, _ = np.histogram(log.departure_ms, edges_ms, weights=sizes)
    offered, _ = np.histogram(log.opportunity_ms, edges_ms)
    inside = (log.departure_ms >= edges_ms[0]) & (log.departure_ms <= metrics.start_ms + metrics.duration_ms)
    kept = np.flatnonzero(inside)[_extremes(log.departure_delay_ms[inside], DELAY_BUCKETS)]
    return TimeSeries(
        (edges_ms[1:] - edges_ms[0]) / 1000,
        8 * arrived / (1000 * BIN_MS),
        8 * delivered / (1000 * BIN_MS),
        8 * OPPORTUNITY_IP_BYTES * offered / (1000 * BIN_MS) if len(log.opportunity_ms) else np.zeros(0),
        (log.departure_ms[kept] - edges_ms[0]) / 1000,
        log.departure_delay_ms[kept] + delay_ms,
    )


def _extremes(values: Array, count: int) -> Array:
    """Indices of the least and the greatest value of every one of `count` buckets, in order."""
    if len(values) <= 2 * count:
        return np.arange(len(values))
    buckets = np.array_split(np.arange(len(values)), count)
    kept = [[bucket[np.argmin(values[bucket])], bucket[np.argmax(values[bucket])]] for bucket in buckets]
    return np.unique(kept)
