"""The rewards of a step: one function each, and their table."""

from collections.abc import Callable

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

Floats = NDArray[np.float64]  # one per flow
Info = dict[str, Floats]  # what `PathEnv` calls info, one per flow
Reward = Callable[[Info, Floats, Floats], Floats]
"""A reward: maps info of a step, mean rates of the uplinks in Mbit/s and base RTTs in ms to rewards."""

_AURORA_PACKET_BITS = 8 * 1500
_COPA_DELTA = 0.5
_LEAST_THROUGHPUT_MBPS = 1e-3  # of a silent step, for a finite logarithm


def power(info: Info, capacity_mbps: Floats, propagation_rtt_ms: Floats) -> Floats:
    """Kleinrock's power, throughput / delay, as a share of the most the path could give; 0 in a silent step.

    Args:
        info: info of the step, see `PathEnv`.
        capacity_mbps: mean rate of each uplink.
        propagation_rtt_ms: round-trip time of each path without any queue, at least 1.
    """
    step_power = info["throughput_mbps"] / np.maximum(info["delay_ms"], 1)
    return step_power * (propagation_rtt_ms / capacity_mbps)


def aurora(info: Info, _capacity_mbps: Floats, _propagation_rtt_ms: Floats) -> Floats:
    """10 throughput - 1000 latency - 2000 loss (packets of 1500 bytes per s; s; share of packets lost).

    Jay et al., ICML 2019, section 4.1. The latency of a silent step is 0.
    """
    packets_per_s = info["throughput_mbps"] * (1e6 / _AURORA_PACKET_BITS)
    return 10 * packets_per_s - 1000 * (info["delay_ms"] * 1e-3) - 2000 * info["loss"]


def copa(info: Info, _capacity_mbps: Floats, propagation_rtt_ms: Floats) -> Floats:
    """ln(throughput in Mbit/s) - 0.5 ln(RTT in ms), which Copa's senders maximise.

    Arun and Balakrishnan, NSDI 2018, section 2, with its default delta. A silent step counts as 1 kbit/s at
    the propagation round-trip time.
    """
    throughput_mbps = np.maximum(info["throughput_mbps"], _LEAST_THROUGHPUT_MBPS)
    rtt_ms = np.where(info["delay_ms"] > 0, info["delay_ms"], propagation_rtt_ms)
    return np.log(throughput_mbps) - _COPA_DELTA * np.log(np.maximum(rtt_ms, 1))


VECTOR = "vector"


def vector(info: Info, _capacity_mbps: Floats, propagation_rtt_ms: Floats) -> NDArray[np.float32]:
    """Three rewards, each better if larger: throughput in Mbit/s, -(RTT in ms), -(share of packets lost).

    A vector reward as in MO-Gymnasium: (flows, 3) float32. A silent step has the propagation RTT.
    """
    rtt_ms = np.where(info["delay_ms"] > 0, info["delay_ms"], propagation_rtt_ms)
    return np.stack([info["throughput_mbps"], -rtt_ms, -info["loss"]], axis=1).astype(np.float32)


def vector_space() -> spaces.Box:
    """The space of `vector`."""
    low, high = np.array([0, -np.inf, -1], np.float32), np.array([np.inf, 0, 0], np.float32)
    return spaces.Box(low, high, dtype=np.float32)


REWARDS: dict[str, Reward] = {
    "power": power,
    "aurora": aurora,
    "copa": copa,
    VECTOR: vector,  # type: ignore[dict-item]  # several numbers for each flow
}
