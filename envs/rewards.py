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
        propagation_rtt_ms: round-trip time of each path without any queue.
    """
    share = info["throughput_mbps"] / capacity_mbps
    stretch = np.maximum(info["delay_ms"], 1) / np.maximum(propagation_rtt_ms, 1)
    return np.where(share > 0, share / stretch, 0.0)


REWARDS: dict[str, Callable[[Info, Floats, Floats], Floats]] = {"power": power}
