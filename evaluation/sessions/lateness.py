"""Measures from the shells' own logs how late real shells were.

mm-link logs when a packet should leave, not when it does, but reads the clock when an ACK arrives at the
other direction. Between the two lie twice the propagation delay and every lateness: of the link's exit, of
both passes of mm-delay, and of the receiver. In the twin all of these are 0.
"""

from pathlib import Path

import numpy as np
from ccgym.envs.logs.event_log import Array
from ccgym.envs.logs.link_log import LinkLog, read_link_log

SMALLEST_DATA_BYTES = 1000
"""Data packets are larger than this, ACKs smaller."""


def lateness_ms(data: LinkLog, acks: LinkLog, delay_ms: float) -> Array | None:
    """How late the ACK of each packet that left the uplink was, in ms, shape (packets,).

    Args:
        data: log of the uplink with one of our own flows, whose receiver answers each packet at once.
        acks: log of the downlink of the same shell, with mm-delay around it.
        delay_ms: one-way propagation delay.

    Returns:
        None if not every packet was answered, as on a lossy path: packets and ACKs cannot be paired.
    """
    assert data.header is not None
    assert acks.header is not None
    apart_ms = acks.header.init_timestamp_ms - data.header.init_timestamp_ms
    left_ms = data.departure_ms[data.departure_bytes >= SMALLEST_DATA_BYTES].astype(np.int64)
    ack_bytes = _commonest(acks.arrival_bytes)
    answered_ms = acks.arrival_ms[acks.arrival_bytes == ack_bytes].astype(np.int64) + apart_ms
    if len(left_ms) == 0 or len(answered_ms) != len(left_ms):
        return None
    late_ms: Array = answered_ms - left_ms - round(2 * delay_ms)
    return None if late_ms.min() < -1 else late_ms  # both clocks show whole ms


def _commonest(sizes: Array) -> int:
    values, counts = np.unique(sizes, return_counts=True)
    return int(values[np.argmax(counts)]) if len(values) else 0


def p95_lateness_ms(data_log: Path, ack_log: Path, delay_ms: float) -> float | None:
    """The 95th percentile of `lateness_ms` of a run, in ms.

    Raises:
        InputError: a log is broken.
    """
    if not (data_log.is_file() and ack_log.is_file()):
        return None
    late_ms = lateness_ms(read_link_log(data_log), read_link_log(ack_log), delay_ms)
    return None if late_ms is None else float(np.percentile(late_ms, 95))
