"""What is known to miss its tolerance, and how far: only what is worse than that makes an exit code of 1."""

import re
from collections.abc import Mapping

KNOWN: Mapping[str, tuple[str, float]] = {
    # policy-checks, evidence: indigo2
    "24 synthetic links, ideal host": (">=", 19),
    "24 synthetic links, host stalls": (">=", 17),
    "ATT-LTE-driving-2016.down, ideal way back": (">=", 90),
    "TMobile-LTE-short.up, ideal way back": (">=", 90),
    "Verizon-LTE-short.up, ideal way back": (">=", 94),
    "links at twice the rate or delay of training's": (">=", 0.8),
    "after the rate falls or rises by 4": ("<=", 0),
    "frontier share on unseen emulators against copa, reno, cubic, vegas, ledbat, bbr, vivace": (">=", 93),
    "ten flows join and leave each second": (">=", 0.93),
    "2 to 16 flows on unseen links": (">=", 0.9),
    "two flows on unseen links, one of 8 times the RTT": (">=", 0.88),
    # competition, evidence
    "beside cubic": (">=", 38),
    "beside reno": ("<=", 52),
    "beside bbr": (">=", 36),
    "beside copa": ("<=", 55),
    "beside 4 cubic": ("<=", 34),
    # completion-times, evidence
    "short flows of 150 kB, alone": (">=", 65),
    "short flows of 1500 kB, alone": (">=", 55),
    "short flows of 15 kB, beside one long cubic": (">=", 80),
    "short flows of 150 kB, beside one long cubic": (">=", 70),
    "short flows of 1500 kB, beside one long cubic": (">=", 50),
    # replay-rate-trace
    "cov_throughput_l4": (">=", 0.4),
    "mean_network_power_l4 (Mbit/s per s)": ("<=", 4.0),
    "total_retransmissions_l4": ("<=", 50),
    "total_rtos_l4": (">=", 0),
    # california-stanford, verizon-lte
    "order of 10 schemes by throughput (Spearman)": (">=", 0.5),
    "order of 10 schemes by p95 delay (Spearman)": (">=", 0.2),
    "bbr: p95 ms": ("<=", 420),
    "allegro: Mbit/s": (">=", 0.5),
    "allegro: p95 ms": (">=", 28),
    # copa-fairness, copa-pantheon
    "one PCC flow: of the link": (">=", 70),
    "median Jain, 1 s apart: BBR": ("<=", 0.92),
    "median Jain, 1 s apart: PCC": (">=", 0.44),
    "median Jain, 5 s apart: BBR": ("<=", 0.97),
    "median Jain, 5 s apart: PCC": (">=", 0.66),
    "median Jain, 5 s apart: PCC Vivace": (">=", 0.58),
    "wired: BBR's queueing delay / Copa's": (">=", 1.4),
    # pantheon-emulators
    "calibrated/california-mexico: three flows of indigo2, 10 s apart, mean Jain's index": (">=", 0.75),
}
"""By name: the first number of what is measured is no worse than this."""


def expectation(name: str) -> str:
    """What is expected of a requirement that is known to miss, for people; empty: that it is held."""
    return " {} {:g}".format(*KNOWN[name]) if name in KNOWN else ""


def as_expected(name: str, measured: str) -> bool:
    """Whether a requirement that is missed does so no worse than is known."""
    number = re.search(r"[-+]?\d+(\.\d+)?", measured)
    if name not in KNOWN or number is None:
        return False
    sign, bound = KNOWN[name]
    return float(number[0]) >= bound if sign == ">=" else float(number[0]) <= bound
