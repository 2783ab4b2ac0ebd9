"""A policy's throughput and delay over its preference, beside Copa over its delta and beside fixed windows.

The policy at every preference, Copa at every delta, and fixed windows run over random emulators, which no
training has seen, all with the same few seeds. Means over the seeds are compared. Differences below
NOISE_SHARE of a throughput or p95 delay, or below NOISE_MS of a p95 delay, do not count.
"""

import argparse
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from ccgym.configs.arguments import add_ray_argument, count
from ccgym.envs.specs.emulators import NamedEmulator, select_emulators
from ccgym.evaluation.metrics.intervals import share_interval
from ccgym.evaluation.schemes import select_schemes
from ccgym.evaluation.sessions.executors import open_executor
from ccgym.experiments.arguments import add_policy_argument, policy_file_of
from ccgym.experiments.check import Check, Links
from ccgym.experiments.difficulty import describe
from ccgym.experiments.json_text import json_text
from ccgym.oracle.preference import PREFERENCES
from ccgym.oracle.window import bdp_packets
from ccgym.training.rollouts import run_measured
from ccgym.training.runs.monitoring import FIXED_BDPS
from numpy.typing import NDArray

SECONDS = 30.0
UNSEEN_SEED = 779
SEEDS = 3
"""Runs of each setting on an emulator."""
COPA_DELTAS = (4.0, 2.0, 1.0, 0.5, 0.25, 0.1, 0.05, 0.02)
"""From little to much delay; 0.5 is Copa's default."""
NOISE_SHARE = 0.01
NOISE_MS = 1.0
LEAST_MBPS = 1e-3
"""Throughput that stands for none, so that ratios are finite."""
WANTED_SHARE = 0.95
"""Share of the emulators on which a promise must hold."""

WORST = 10

Figures = NDArray[np.float64]


@dataclass(frozen=True)
class Curve:
    """The runs of one scheme over one emulator at each of its settings; arrays are (settings, seeds)."""

    throughput_mbps: Figures
    p95_delay_ms: Figures
    utilisation: Figures

    @property
    def mbps(self) -> Figures:
        """Throughput of each setting, the mean over the seeds."""
        return np.asarray(self.throughput_mbps.mean(axis=1))

    @property
    def delay_ms(self) -> Figures:
        """p95 one-way delay of each setting, the mean over the seeds."""
        return np.asarray(self.p95_delay_ms.mean(axis=1))

    @property
    def is_monotone(self) -> bool:
        """Whether neither throughput nor delay falls from one setting to the next.

        A fall counts when it is greater than the noise and one standard error of the paired differences.
        """
        noise_mbps = NOISE_SHARE * self.mbps[:-1]
        return not (
            _falls(self.throughput_mbps, noise_mbps)
            or _falls(self.p95_delay_ms, _noise_ms(self.delay_ms[:-1]))
        )

    def shortfall(self, rival: "Curve") -> Figures:
        """By setting, how far its throughput is below the rival's at the same delay, as a share of that."""
        return 1 - self.mbps / rival.mbps_within(self.delay_ms - _noise_ms(self.delay_ms))

    def above(self, rival: "Curve") -> NDArray[np.bool_]:
        """By setting, whether it lies on the rival's curve or above it."""
        return self.shortfall(rival) <= NOISE_SHARE

    def mbps_within(self, delays_ms: Figures) -> Figures:
        """The most throughput within each of these delays, interpolated linearly between settings.

        Below the least delay of all settings it is nearly none; above the greatest it stays the same.
        """
        order = np.argsort(self.delay_ms)
        most_mbps = np.maximum.accumulate(self.mbps[order])
        return np.interp(delays_ms, self.delay_ms[order], most_mbps, left=LEAST_MBPS)


def _noise_ms(delays_ms: Figures) -> Figures:
    return np.maximum(NOISE_MS, NOISE_SHARE * delays_ms)


def _falls(figures: Figures, noise: Figures) -> bool:
    steps = np.diff(figures, axis=0)
    error = np.std(steps, axis=1, ddof=1) / np.sqrt(steps.shape[1]) if steps.shape[1] > 1 else 0.0
    return bool(np.any(steps.mean(axis=1) < -(noise + error)))


@dataclass(frozen=True)
class PreferenceRow:
    """The three curves over one emulator."""

    emulator: NamedEmulator
    preference: Curve
    copa: Curve
    fixed: Curve

    @property
    def shortfall(self) -> float:
        """The greatest shortfall of any setting behind either rival."""
        return float(max(self.preference.shortfall(rival).max() for rival in (self.copa, self.fixed)))

    def to_json(self) -> dict[str, Any]:
        """The measurements as means over the seeds, and the results."""
        curves = {"preference": self.preference, "copa": self.copa, "fixed": self.fixed}
        return {
            "emulator": self.emulator.label,
            "monotone": self.preference.is_monotone,
            "above_copa": self.preference.above(self.copa).tolist(),
            "above_fixed": self.preference.above(self.fixed).tolist(),
        } | {
            name: {
                "throughput_mbps": curve.mbps.tolist(),
                "p95_delay_ms": curve.delay_ms.tolist(),
            }
            for name, curve in curves.items()
        }


def _run_row(policy_file: Path, seeds: int, emulator: NamedEmulator) -> PreferenceRow:
    bdp = bdp_packets(emulator.spec)
    return PreferenceRow(
        emulator,
        _run([f"policy:{policy_file}:{preference}" for preference in PREFERENCES], seeds, emulator),
        _run([f"copa:{delta}" for delta in COPA_DELTAS], seeds, emulator),
        _run([f"fixed:{max(2.0, bdps * bdp):g}" for bdps in FIXED_BDPS], seeds, emulator),
    )


def _run(schemes: Sequence[str], seeds: int, emulator: NamedEmulator) -> Curve:
    measured = [
        [run_measured(emulator, scheme, SECONDS, seed=seed) for seed in range(seeds)] for scheme in schemes
    ]
    compared = np.array([[metrics.compared for metrics in setting] for setting in measured])
    used = np.array([[metrics.utilisation for metrics in setting] for setting in measured])
    return Curve(compared[:, :, 0], compared[:, :, 1], used)


def preference_rows(
    policy_file: Path, emulators: Sequence[NamedEmulator], seeds: int, executor: Executor
) -> list[PreferenceRow]:
    """A row for each emulator, with `seeds` runs of each setting, for a policy with a preference."""
    return list(executor.map(partial(_run_row, policy_file, seeds), emulators))


def preference_checks(rows: Sequence[PreferenceRow]) -> list[Check]:
    """The checks that the curve rises and lies above the others."""
    return [
        _share_check("the preference", "monotone", [row.preference.is_monotone for row in rows]),
        *(
            _share_check(
                f"the preference's whole curve beside {name}",
                "on or above it",
                [bool(row.preference.above(getattr(row, rival)).all()) for row in rows],
            )
            for rival, name in (("copa", "Copa, delta swept"), ("fixed", "fixed windows"))
        ),
    ]


def _share_check(name: str, wanted: str, held: Sequence[bool]) -> Check:
    interval = share_interval(sum(held), len(held))
    return Check(
        name,
        f"{wanted} on >= {WANTED_SHARE:.0%} of random emulators",
        f"{np.mean(held):.1%} ({interval.low:.1%} to {interval.high:.1%}) of {len(held)}",
        interval.at_least(WANTED_SHARE),
        Links.UNSEEN,
    )


def preference_lines(rows: Sequence[PreferenceRow]) -> list[str]:
    """As text, the curves over all emulators, then those where the policy's is farthest below another."""
    lines = [
        f"{'':12}{'link used':>12}{'p95 / one way':>16}{'on Copa or above':>19}{'on fixed or above':>20}"
    ]
    for scheme, settings in (("preference", PREFERENCES), ("copa", COPA_DELTAS), ("fixed", FIXED_BDPS)):
        for place, setting in enumerate(settings):
            line = f"{scheme:6}{setting:<6.3g}" + _mean_figures(rows, scheme, place)
            lines.append(line + (_shares_above(rows, place) if scheme == "preference" else ""))
    lines.append("farthest below Copa or fixed windows at the same delay:")
    worst = sorted(rows, key=lambda row: -row.shortfall)[:WORST]
    return lines + [
        f"{row.shortfall:6.1%}  {row.emulator.label}: {describe(row.emulator.spec)}" for row in worst
    ]


def _mean_figures(rows: Sequence[PreferenceRow], scheme: str, place: int) -> str:
    curves: list[Curve] = [getattr(row, scheme) for row in rows]
    used = np.mean([curve.utilisation[place] for curve in curves])
    delays = [
        curve.delay_ms[place] / float(row.emulator.spec.delay_ms)
        for curve, row in zip(curves, rows, strict=True)
    ]
    return f"{used:12.1%}{np.exp(np.mean(np.log(delays))):16.2f}"


def _shares_above(rows: Sequence[PreferenceRow], place: int) -> str:
    copa = np.mean([row.preference.above(row.copa)[place] for row in rows])
    fixed = np.mean([row.preference.above(row.fixed)[place] for row in rows])
    return f"{copa:19.1%}{fixed:20.1%}"


DESCRIPTION = (
    "Runs a policy at every preference in the twin, over random emulators that no training sees, beside "
    "Copa with its delta swept and fixed windows swept around the BDP. Exit code 1: on more than 5 % of the "
    "emulators, and on more than is known, a higher preference has less throughput or less p95 delay, or one "
    "of its points has less throughput than the other curve, interpolated, at the same delay. 1 % of "
    "throughput or delay, 1 ms of delay and, between preferences, one standard error of the differences over "
    "the seeds count for nothing."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments: which policy, on how many emulators, how often."""
    add_policy_argument(parser)
    parser.add_argument("--random", type=count, default=200, metavar="N", help="emulators (default: 200)")
    parser.add_argument(
        "--seeds", type=count, default=SEEDS, metavar="N", help=f"runs of each (default: {SEEDS})"
    )
    add_ray_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Runs all three curves over every emulator."""
    policy_file = policy_file_of(args.scheme)
    select_schemes(f"policy:{policy_file}:0.5")  # refuses a policy without a preference
    emulators = select_emulators(f"random:{args.random}:{UNSEEN_SEED}")
    with open_executor(args.ray) as executor:
        rows = preference_rows(policy_file, emulators, args.seeds, executor)
    checks = preference_checks(rows)
    if args.json:
        print(
            json_text(
                {"checks": [asdict(check) for check in checks], "rows": [row.to_json() for row in rows]}
            )
        )
    else:
        print("\n".join([*preference_lines(rows), *(check.line for check in checks)]))
    return 0 if all(check.passes for check in checks) else 1
