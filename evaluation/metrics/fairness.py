"""How evenly the flows of a run share the link: Jain's index (Jain, Chiu, Hawe 1984) over time."""

from dataclasses import dataclass

import numpy as np
from ccgym.envs.logs.event_log import Array
from ccgym.envs.logs.flow_metrics import FlowMetrics
from ccgym.envs.logs.link_log import LinkLog

from .time_series import BIN_MS


@dataclass(frozen=True)
class Fairness:
    """Jain's index of the throughputs of the flows that have begun, per bin of 500 ms; 1: all are equal."""

    bin_s: list[float]
    """End of each bin in which at least two flows run, in s since the run's window began."""
    jain: list[float]
    """Jain's index of each of these bins, from 1 / flows to 1."""

    @property
    def mean(self) -> float:
        """Mean over the bins."""
        return float(np.mean(self.jain))


def fairness(flows: list[LinkLog], metrics: list[FlowMetrics], total: FlowMetrics) -> Fairness | None:
    """Jain's index over time of flows that run to the end of `total`'s window; None: no two share a bin."""
    edges_ms = total.start_ms + BIN_MS * np.arange(int(total.duration_ms // BIN_MS) + 1)
    if len(flows) < 2 or len(edges_ms) < 2:
        return None
    delivered = np.array([_delivered(flow, edges_ms) for flow in flows])
    begun = np.array([edges_ms[:-1] >= flow.start_ms for flow in metrics])
    shared = (begun.sum(axis=0) >= 2) & ((delivered * begun).sum(axis=0) > 0)
    if not shared.any():
        return None
    jain = jain_index(np.where(begun, delivered, np.nan)[:, shared])
    return Fairness(np.round((edges_ms[1:] - edges_ms[0]) / 1000, 3)[shared].tolist(), jain.tolist())


def jain_index(shares: Array) -> Array:
    """(sum x)^2 / (n sum x^2) of each column of `shares`, shape (flows, bins); NaN entries do not count.

    >>> jain_index(np.array([[6.0, 12.0], [6.0, 0.0]])).tolist()
    [1.0, 0.5]
    """
    present = np.count_nonzero(~np.isnan(shares), axis=0)
    index: Array = np.nansum(shares, axis=0) ** 2 / (present * np.nansum(shares**2, axis=0))
    return index


def _delivered(flow: LinkLog, edges_ms: Array) -> Array:
    sizes = flow.departure_bytes - flow.header_bytes
    return np.histogram(flow.departure_ms, edges_ms, weights=sizes)[0]
