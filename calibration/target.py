"""The target of a calibration: the figures measured on a path."""

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from ccgym.envs.errors import InputError, excerpt
from ccgym.envs.host.memory import check_memory
from ccgym.envs.specs.link_spec import OPPORTUNITY_BITS
from ccgym.evaluation.run_files import MOST_FLOWS
from ccgym.evaluation.sessions.session import PACKET_LOG_BYTES

FEWEST_SCHEMES = 4
"""A fit of fewer, with its four parameters, has to be asked for explicitly."""

HIGHEST_MBPS, SHORTEST_DELAY_MS, LONGEST_DELAY_MS = 10_000.0, 1.0, 60_000.0
"""The limits of emulators: their clock counts ms."""
MOST_RATIO = 1000.0
"""Largest ratio of the figures of two schemes on one path: beyond it one of them has another unit."""
_MOST_NAMED = 150

WITHOUT_FIGURES = "without figures, or nothing came through"
"""Why runs of an archive are left out."""


@dataclass(frozen=True)
class Run:
    """The figures of one run of a scheme."""

    scheme: str
    """Its name in the source."""
    throughput_mbps: float
    p95_delay_ms: float
    loss: float | None
    """In [0, 1]; None where the source does not tell."""


@dataclass(frozen=True)
class Measured:
    """A scheme's mean figures over its runs, with their standard errors."""

    scheme: str
    controller: str
    """The controller that runs it in the twin."""
    throughput_mbps: float
    p95_delay_ms: float
    loss: float | None
    throughput_error: float | None
    """Standard errors of both means; None: unknown, as of a single run."""
    delay_error: float | None
    runs: int


@dataclass(frozen=True)
class Target:
    """All that was measured on a path."""

    name: str
    measured: tuple[Measured, ...]
    left_out: dict[str, str]
    """Schemes, or runs, that the fit does not use, and why."""
    seconds: float = 30.0
    flows: int = 1
    interval_s: float = 0.0
    """Time between the starts of two flows."""
    at_link: bool = False
    """Throughput counts what left the link, before a loss stage behind it; otherwise what was received."""

    @property
    def schemes(self) -> list[str]:
        """Names in the order of the source."""
        return [measured.scheme for measured in self.measured]


def checked_run(run: Run, where: str) -> Run:
    """`run`, if its figures are possible.

    Raises:
        InputError: it cannot.
    """
    figures = f"{where}: {excerpt(run.scheme)}"
    if not math.isfinite(run.throughput_mbps) or run.throughput_mbps < 0:
        raise InputError(f"{figures}: throughput {run.throughput_mbps:g} Mbit/s; expected one above 0")
    if run.throughput_mbps == 0:
        raise InputError(f"{figures}: throughput 0 Mbit/s, nothing came through; leave the scheme out")
    if run.throughput_mbps > HIGHEST_MBPS:
        raise InputError(
            f"{figures}: throughput {run.throughput_mbps:g} Mbit/s is above {HIGHEST_MBPS:g} Mbit/s, "
            "the highest rate of an emulator; expected Mbit/s"
        )
    if not math.isfinite(run.p95_delay_ms) or run.p95_delay_ms <= 0:
        raise InputError(
            f"{figures}: p95 delay {run.p95_delay_ms:g} ms; one-way delays are above 0: "
            "correct the offset between the clocks of both ends"
        )
    if run.p95_delay_ms < SHORTEST_DELAY_MS:
        raise InputError(
            f"{figures}: p95 delay {run.p95_delay_ms:g} ms is below {SHORTEST_DELAY_MS:g} ms, "
            "the clock of an emulator; expected ms, not s"
        )
    if run.p95_delay_ms > LONGEST_DELAY_MS:
        raise InputError(f"{figures}: p95 delay {run.p95_delay_ms:g} ms is above a minute; expected ms")
    if run.loss is not None and not 0 <= run.loss <= 1:
        raise InputError(f"{figures}: loss {run.loss:g}; expected a share from 0 to 1")
    if run.loss == 1 and run.throughput_mbps > 0:
        raise InputError(f"{figures}: loss 1, all, with throughput {run.throughput_mbps:g} Mbit/s")
    return run


def means(runs: Iterable[Run], controllers: dict[str, str]) -> tuple[Measured, ...]:
    """Means, one for each scheme that has a controller and got anything through."""
    by_scheme: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        if run.scheme in controllers:
            by_scheme[run.scheme].append(run)
    return tuple(_mean(scheme, controllers[scheme], own) for scheme, own in by_scheme.items())


def _mean(scheme: str, controller: str, runs: list[Run]) -> Measured:
    rates = np.array([run.throughput_mbps for run in runs])
    delays = np.array([run.p95_delay_ms for run in runs])
    losses = [run.loss for run in runs if run.loss is not None]
    several = len(runs) > 1
    return Measured(
        scheme,
        controller,
        float(rates.mean()),
        float(delays.mean()),
        float(np.mean(losses)) if losses else None,
        float(rates.std(ddof=1) / math.sqrt(len(runs))) if several else None,
        float(delays.std(ddof=1) / math.sqrt(len(runs))) if several else None,
        len(runs),
    )


def check_target(target: Target, *, few: bool) -> Target:
    """`target`, if it is enough for a fit.

    Raises:
        InputError: it has too few schemes, or one that got nothing through.
    """
    count = len(target.measured)
    if not count:
        named = ", ".join(f"{name} ({reason})" for name, reason in target.left_out.items()) or "no scheme"
        raise InputError(
            f"{target.name}: nothing in common with `ccgym schemes`: {excerpt(named, _MOST_NAMED)}"
        )
    if count < FEWEST_SCHEMES and not few:
        raise InputError(
            f"{target.name}: only {count} of its schemes are ours as well ({', '.join(target.schemes)}); "
            f"a fit needs {FEWEST_SCHEMES}, or say --few"
        )
    for measured in target.measured:
        if measured.throughput_mbps * 1e6 * target.seconds < OPPORTUNITY_BITS:
            raise InputError(
                f"{target.name}: {excerpt(measured.scheme)}: throughput {measured.throughput_mbps:g} Mbit/s, "
                f"less than a packet in {target.seconds:g} s; leave the scheme out"
            )
    _check_flows(target)
    _check_ratio(target, "throughput", "Mbit/s", {row.scheme: row.throughput_mbps for row in target.measured})
    _check_ratio(target, "p95 delay", "ms", {row.scheme: row.p95_delay_ms for row in target.measured})
    fastest_mbps = max(row.throughput_mbps for row in target.measured)
    packets = fastest_mbps * 1e6 / OPPORTUNITY_BITS * target.seconds
    check_memory(PACKET_LOG_BYTES * packets, f"{target.name}: a run at {fastest_mbps:g} Mbit/s")
    return target


def _check_flows(target: Target) -> None:
    if not 1 <= target.flows <= MOST_FLOWS:
        raise InputError(f"{target.name}: {target.flows} flows; expected 1 to {MOST_FLOWS}")
    last_s = (target.flows - 1) * target.interval_s
    if not 0 <= last_s < target.seconds:
        raise InputError(
            f"{target.name}: the last of {target.flows} flows would begin after {last_s:g} s of a test of "
            f"{target.seconds:g} s"
        )


def _check_ratio(target: Target, name: str, unit: str, figures: dict[str, float]) -> None:
    low, high = min(figures, key=figures.__getitem__), max(figures, key=figures.__getitem__)
    if figures[high] > MOST_RATIO * figures[low]:
        raise InputError(
            f"{target.name}: {name} {figures[low]:g} of {excerpt(low, 40)} and {figures[high]:g} {unit} of "
            f"{excerpt(high, 40)} are no figures of one path; are both in {unit}?"
        )
