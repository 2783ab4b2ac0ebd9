"""What a step is worth: one function per reward, and their table."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]  # one per flow
Info = dict[str, Floats]  # what `PathEnv` calls info, one per flow


def power(info: Info, capacity_mbps: Floats, propagation_rtt_ms: Floats) -> Floats:
    """Kleinrock's power, throughput / delay, as a share of the most the path could give; 0 in a silent step.

    Args:
        info: of the step, see `PathEnv`.
        capacity_mbps: mean rate of each uplink.
        propagation_rtt_ms: round-trip time of each path without any queue, at least 1.
    """
    step_power = info["throughput_mbps"] / np.maximum(info["delay_ms"], 1)
    return step_power * (propagation_rtt_ms / capacity_mbps)


REWARDS: dict[str, Callable[[Info, Floats, Floats], Floats]] = {"power": power}
