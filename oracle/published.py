"""The ideal windows published with Indigo for its 30 training emulators (Yan et al., ATC 2018, and its code).

Found by running fixed windows around the BDP in real-time emulators, in steps of 10 packets (5 at 5 Mbit/s).
"""

from collections.abc import Mapping

_DELAYS_MS = (10, 20, 40, 80)
_SYNTHETIC = {
    5: (15, 20, 35, 70),
    10: (20, 40, 70, 140),
    20: (50, 80, 140, 280),
    50: (110, 190, 350, 690),
    100: (210, 380, 710, 1370),
    200: (410, 760, 1410, 2760),
}
_CALIBRATED = {"nepal": 5, "mexico": 40, "brazil": 70, "india": 500, "china": 690, "california-mexico": 870}

PUBLISHED_WINDOWS: dict[str, int] = {
    f"synthetic/{rate_mbps}mbps-{delay_ms}ms": packets
    for rate_mbps, row in _SYNTHETIC.items()
    for delay_ms, packets in zip(_DELAYS_MS, row, strict=True)
} | {f"calibrated/{name}": packets for name, packets in _CALIBRATED.items()}
"""Packets, by the emulator's label."""


def mean_relative_deviation(windows: Mapping[str, int]) -> float:
    """Of `windows`, packets by the emulator's label, from the published ones."""
    deviations = [abs(packets / PUBLISHED_WINDOWS[label] - 1) for label, packets in windows.items()]
    return sum(deviations) / len(deviations)
