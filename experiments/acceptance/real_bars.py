"""Checks of runs in real mahimahi against their bounds, with intervals over the runs."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from ccgym.evaluation.metrics.intervals import UNKNOWN, Interval, mean_interval
from ccgym.experiments.check import Check, all_met

BBR, COPA, CUBIC = "kernel-bbr", "copa", "kernel-cubic"
Figures = Sequence[tuple[float, float]]
"""Mbit/s and p95 one-way delay in ms of each run."""


@dataclass(frozen=True)
class Bar:
    """Bounds over one emulator, as shares of a rival's figures there, each alone."""

    emulator: str
    rival: str
    throughput: float
    """Least share of the rival's throughput; 0: any will do."""
    p95: float
    """Greatest share of the rival's p95 delay."""


BARS = (
    Bar("calibrated/india", BBR, 1.0, 0.9),
    Bar("calibrated/china", BBR, 1.0, 0.9),
    Bar("calibrated/california-mexico", BBR, 1.0, 0.65),
    Bar("calibrated/nepal", BBR, 0.9, 0.5),
    Bar("calibrated/mexico", BBR, 0.95, 0.33),
    Bar("calibrated/brazil", BBR, 0.98, 0.32),
    Bar("cellular/verizon-lte", COPA, 1.35, 1.2),
    Bar("cellular/tmobile-lte", COPA, 1.25, 1.2),
    Bar("cellular/att-lte-driving", COPA, 1.8, 2.0),
    Bar("cellular/verizon-lte", BBR, 0.0, 0.22),
    Bar("cellular/tmobile-lte", BBR, 0.0, 0.22),
    Bar("cellular/att-lte-driving", BBR, 0.0, 0.22),
)
FIELD_EMULATOR = "field/12mbps-30ms-90kb"
FIELD_MBPS, FIELD_P95_MS = 11.9, 36.0
SHARE = (0.3, 0.7)


@dataclass(frozen=True)
class Contest:
    """The counted part of one run beside a Cubic."""

    share: float
    """The policy's share of all that was delivered."""
    used: float
    """Share of the link that was used."""


def in_field(ours: Figures) -> Check:
    """The check over the field emulator, in absolute figures."""
    rates_mbps, delays_ms = zip(*ours, strict=True)
    return Check(
        f"real mahimahi, {FIELD_EMULATOR}",
        f">= {FIELD_MBPS:g} Mbit/s at p95 <= {FIELD_P95_MS:g} ms",
        f"{_text(rates_mbps, '.2f')} Mbit/s at {_text(delays_ms, '.1f')} ms, {_runs(ours)}",
        all_met(_interval(rates_mbps).at_least(FIELD_MBPS), _interval(delays_ms).at_most(FIELD_P95_MS)),
    )


def against(bar: Bar, ours: Figures, theirs: Figures) -> Check:
    """The check of one bar; runs are compared one by one."""
    shares, ratios = zip(*(np.divide(*pair) for pair in zip(ours, theirs, strict=True)), strict=True)
    wanted, measured = f"<= {bar.p95:g} x its p95", f"{_text(ratios, '.2f')} x its p95"
    met = _interval(ratios).at_most(bar.p95)
    if bar.throughput:
        wanted = f">= {bar.throughput:.0%} of its throughput at {wanted}"
        measured = f"{_text(shares, '.1%')} of its throughput at {measured}"
        met = all_met(_interval(shares).at_least(bar.throughput), met)
    mbps, p95_ms = np.mean(ours, axis=0)
    return Check(
        f"real mahimahi, {bar.emulator}: against {bar.rival}",
        wanted,
        f"{measured}; {mbps:.2f} Mbit/s at {p95_ms:.0f} ms, {_runs(ours)} each",
        met,
    )


def beside_cubic(emulator: str, contests: Sequence[Contest]) -> Check:
    """The check of the policy's share of a link beside a Cubic."""
    shares = [contest.share for contest in contests]
    used = np.mean([contest.used for contest in contests])
    low, high = SHARE
    return Check(
        f"real mahimahi, {emulator}: beside one {CUBIC}",
        f"{low:.0%} to {high:.0%} of the link",
        f"{_text(shares, '.1%')}, {used:.1%} used, {_runs(contests)}",
        _interval(shares).within(low, high),
    )


def _interval(values: Sequence[float]) -> Interval:
    return mean_interval(values) or UNKNOWN


def _text(values: Sequence[float], form: str) -> str:
    """The mean as text, with its interval if there is one."""
    interval = mean_interval(values)
    spread = "" if interval is None else f" ({interval.low:{form}} to {interval.high:{form}})"
    return f"{np.mean(values):{form}}{spread}"


def _runs(values: Sequence[object]) -> str:
    return "1 run" if len(values) == 1 else f"{len(values)} runs"
