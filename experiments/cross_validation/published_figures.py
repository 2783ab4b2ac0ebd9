"""Figures that others measured of our schemes on emulators of ccgym.

Rates in Mbit/s of IP bytes, one-way delays in ms with propagation, unless said otherwise. A range is over
several runs.
"""

from dataclasses import dataclass

from .copa import PATHS as GENERIC_CC_PATHS

Range = tuple[float, float]

PANTHEON_2020 = "Pantheon report, 2020-05-31, 5 runs"
MVFST_RL = "mvfst-rl, issue 15, 3 runs"
CCPERF = "ccperf, experiment 79: NewReno of ns-3, 15 s"
KERNEL = "kernel 6.18 in mahimahi, measured for this project"
GENERIC_CC = "genericCC in mahimahi, measured for this project"


@dataclass(frozen=True)
class Published:
    """The published figures of one scheme on an emulator of `ccgym emulators`."""

    scheme: str
    emulator: str
    mbps: Range
    p95_delay_ms: Range | None
    source: str


def _one(scheme: str, emulator: str, mbps: float, p95_delay_ms: float, source: str) -> Published:
    return Published(scheme, emulator, (mbps, mbps), (p95_delay_ms, p95_delay_ms), source)


FIELD = "field/12mbps-30ms-90kb"

PUBLISHED = (
    Published("bbr", "cellular/verizon-lte", (6.78, 7.03), (196, 276), PANTHEON_2020),
    Published("allegro", "cellular/verizon-lte", (1.83, 4.46), (62, 1395), PANTHEON_2020),
    _one("bbr", FIELD, 11.69, 67.85, MVFST_RL),
    _one("cubic", FIELD, 11.92, 88.64, MVFST_RL),
    _one("ledbat", FIELD, 11.33, 89.38, MVFST_RL),
    Published("reno", "calibrated/nepal", (0.41, 0.41), None, CCPERF),
    _one("cubic", "calibrated/nepal", 0.41, 203, KERNEL),
    _one("cubic", "calibrated/mexico", 2.64, 698, KERNEL),
    _one("cubic", "calibrated/brazil", 3.01, 1852, KERNEL),
    _one("cubic", "calibrated/india", 99.15, 46, KERNEL),
    _one("cubic", "calibrated/china", 10.36, 55, KERNEL),
    _one("cubic", "calibrated/california-mexico", 111.99, 90, KERNEL),
    _one("cubic", FIELD, 11.95, 89, KERNEL),
    _one("cubic", "cellular/verizon-lte", 7.43, 3085, KERNEL),
    _one("cubic", "cellular/tmobile-lte", 4.22, 6306, KERNEL),
    _one("cubic", "cellular/att-lte-driving", 3.50, 12064, KERNEL),
    _one("bbr", "calibrated/nepal", 0.57, 371, KERNEL),
    _one("bbr", "calibrated/mexico", 2.56, 607, KERNEL),
    _one("bbr", "calibrated/brazil", 2.92, 674, KERNEL),
    _one("bbr", "calibrated/india", 97.56, 46, KERNEL),
    _one("bbr", "calibrated/china", 74.62, 65, KERNEL),
    _one("bbr", "calibrated/california-mexico", 108.66, 92, KERNEL),
    _one("bbr", FIELD, 11.70, 78, KERNEL),
    _one("bbr", "cellular/verizon-lte", 7.07, 337, KERNEL),
    _one("bbr", "cellular/tmobile-lte", 3.76, 526, KERNEL),
    _one("bbr", "cellular/att-lte-driving", 3.31, 1850, KERNEL),
    *(_one("copa", path, *figures, GENERIC_CC) for path, figures in GENERIC_CC_PATHS.items()),
    _one("copa", "cellular/verizon-lte", 4.96, 52, GENERIC_CC),
    _one("copa", "cellular/tmobile-lte", 2.70, 68, GENERIC_CC),
    _one("copa", "cellular/att-lte-driving", 1.69, 132, GENERIC_CC),
)
