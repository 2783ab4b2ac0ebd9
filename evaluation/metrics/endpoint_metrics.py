"""Metrics at the two ends of a flow, from a run of the twin or of ns-3: windows, round trips, ...

They are the metrics of ccperf, for a transport that sends greedily and never repeats a packet: a packet that
it gives up counts as a retransmission.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from ccgym.envs.logs.event_log import Array
from ccgym.envs.logs.link_log import TUN_HEADER_BYTES

BIN_MS = 100.0
SRTT_GAIN = 1 / 8
"""RFC 6298."""
DELIVERY_GAIN = 1 / 8
REORDERING_PACKETS = 3
"""A packet is given up once so many packets sent after it have been acknowledged."""
_CUT = 0.75
"""A window that falls below this share of the one before counts as a reduction."""
_COLLAPSED_PACKETS = 2.0


@dataclass(frozen=True)
class EndpointMetrics:
    """The metrics of one flow; means are over bins of 100 ms, rates in Mbit/s of IP bytes."""

    mean_throughput_mbps: float
    cov_throughput: float
    """Standard deviation / mean over the bins."""
    mean_sending_rate_mbps: float
    mean_delivery_rate_mbps: float
    """Rate of acknowledged bytes, at the sender."""
    mean_cwnd_packets: float
    mean_in_flight_packets: float
    cov_in_flight: float
    mean_srtt_ms: float
    mean_queueing_delay_ms: float
    """Smoothed round trip less its minimum."""
    mean_interdelivery_ms: float
    """Time between packets at the receiver, smoothed."""
    network_power: float
    """Mean of throughput / smoothed RTT, in Mbit/s per s."""
    utility_proportional: float
    """Mean of ln(throughput in Mbit/s), over bins in which anything arrived."""
    utility_minimum_delay: float
    """Mean of -1 / (throughput in Mbit/s), over the same bins: minimum potential delay."""
    mean_recovery_ms: float
    """From the sending of the first lost packet to the ACK of the first one sent after the reduction."""
    completion_s: float
    """From sending the first packet to the last ACK."""
    given_up_packets: float
    timeouts: float
    """Number of times that the window fell to one packet."""


def endpoint_metrics(record: Any, return_ms: float, seconds: float) -> EndpointMetrics:
    """The metrics of a flow alone on its path, whose ACKs take `return_ms`.

    Raises:
        ValueError: fewer than two packets came through.
    """
    received = ~np.isnan(record.received_ms)
    if np.count_nonzero(received) < 2:
        raise ValueError("no flow to measure: fewer than two packets came through")
    received_ms = record.received_ms[received]
    sent_bytes = record.arrival_bytes - TUN_HEADER_BYTES
    received_bytes = record.departure_bytes[received] - TUN_HEADER_BYTES
    acked_ms = received_ms + return_ms
    srtt_ms = _smoothed(acked_ms - record.departed_sent_ms[received], SRTT_GAIN)
    edges_ms = np.arange(0, seconds * 1000 + 1, BIN_MS)
    throughput_mbps = _rate_mbps(received_ms, received_bytes, edges_ms)
    srtt_of_bin_ms = srtt_ms[np.clip(np.searchsorted(acked_ms, edges_ms[1:]) - 1, 0, len(srtt_ms) - 1)]
    in_flight = _in_flight(record, received, acked_ms, edges_ms)
    busy = throughput_mbps > 0
    return EndpointMetrics(
        mean_throughput_mbps=float(throughput_mbps.mean()),
        cov_throughput=float(throughput_mbps.std() / throughput_mbps.mean()),
        mean_sending_rate_mbps=float(_rate_mbps(record.sent_ms, sent_bytes, edges_ms).mean()),
        mean_delivery_rate_mbps=float(_rate_mbps(acked_ms, received_bytes, edges_ms).mean()),
        mean_cwnd_packets=float(record.cwnd_packets.mean()),
        mean_in_flight_packets=float(in_flight.mean()),
        cov_in_flight=float(in_flight.std() / in_flight.mean()),
        mean_srtt_ms=float(srtt_ms.mean()),
        mean_queueing_delay_ms=float((srtt_ms - srtt_ms.min()).mean()),
        mean_interdelivery_ms=float(_smoothed(np.diff(received_ms), DELIVERY_GAIN).mean()),
        network_power=float((1000 * throughput_mbps / srtt_of_bin_ms)[busy].mean()),
        utility_proportional=float(np.log(throughput_mbps[busy]).mean()),
        utility_minimum_delay=float((-1 / throughput_mbps[busy]).mean()),
        mean_recovery_ms=_recovery_ms(record, received, acked_ms),
        completion_s=float((acked_ms[-1] - record.sent_ms[0]) / 1000),
        given_up_packets=float(record.lost_packets),
        timeouts=float(_collapses(record.cwnd_packets)),
    )


def _rate_mbps(times_ms: Array, sizes_bytes: Array, edges_ms: Array) -> Array:
    rate_mbps: Array = np.histogram(times_ms, edges_ms, weights=sizes_bytes)[0] * 8 / (1000 * BIN_MS)
    return rate_mbps


def _smoothed(values: Array, gain: float) -> Array:
    smoothed = np.empty(len(values))
    mean = float(values[0])
    for index, value in enumerate(values.tolist()):
        mean += gain * (value - mean)
        smoothed[index] = mean
    return smoothed


def _in_flight(record: Any, received: Array, acked_ms: Array, edges_ms: Array) -> Array:
    """Packets in flight at the end of each bin: sent, and neither acknowledged nor given up."""
    lost_ms = _lost_sent_ms(record, received)
    later = np.searchsorted(record.departed_sent_ms[received], lost_ms, side="right") + REORDERING_PACKETS - 1
    given_up_ms = np.where(later < len(acked_ms), acked_ms[np.minimum(later, len(acked_ms) - 1)], np.inf)
    gone_ms = np.sort(np.concatenate([acked_ms, given_up_ms]))
    at = edges_ms[1:]
    sent: Array = np.searchsorted(np.sort(record.sent_ms), at) - np.searchsorted(gone_ms, at)
    return sent


def _lost_sent_ms(record: Any, received: Array) -> Array:
    """Sending times of the packets that never arrived."""
    sent_ms, count = np.unique(record.sent_ms, return_counts=True)
    arrived_ms, arrived = np.unique(record.departed_sent_ms[received], return_counts=True)
    count[np.searchsorted(sent_ms, arrived_ms)] -= arrived
    lost_ms: Array = np.repeat(sent_ms, np.maximum(count, 0))
    return lost_ms


def _recovery_ms(record: Any, received: Array, acked_ms: Array) -> float:
    window = record.cwnd_packets
    cuts_ms = record.cwnd_ms[1:][window[1:] < _CUT * window[:-1]]
    lost_ms, sent_ms = _lost_sent_ms(record, received), record.departed_sent_ms[received]
    recoveries, before_ms = [], 0.0
    for cut_ms in cuts_ms.tolist():
        lost = lost_ms[(lost_ms >= before_ms) & (lost_ms < cut_ms)]
        after = int(np.searchsorted(sent_ms, cut_ms))
        if len(lost) and after < len(acked_ms):
            recoveries.append(float(acked_ms[after] - lost[0]))
        before_ms = cut_ms
    return float(np.mean(recoveries)) if recoveries else float("nan")


def _collapses(window: Array) -> int:
    collapsed = window < _COLLAPSED_PACKETS
    return int(np.count_nonzero(collapsed[1:] & ~collapsed[:-1]))
