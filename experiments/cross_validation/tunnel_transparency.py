"""Whether a tunnel changes the flows in it: kernel TCP inside and outside, both measured by mm-link.

The test is that of pantheon-tunnel's authors (Yan et al., ATC 2018): the two-sample Kolmogorov-Smirnov test
on throughput and p95 delay. The link counts outer packets of 1500 bytes in both cases, so the cost of the
smaller MTU inside is not in the throughput.
"""

import argparse
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np
from ccgym.envs.errors import InputError
from ccgym.envs.logs.flow_metrics import FlowMetrics, measure
from ccgym.envs.logs.link_log import read_link_log
from ccgym.evaluation.run_files import RunFiles
from ccgym.evaluation.sessions.run_plan import run_in_turns
from ccgym.evaluation.sessions.session import Plan, emulator_folder
from ccgym.experiments.arguments import add_evaluation_arguments
from ccgym.experiments.evaluations import plan_evaluation
from ccgym.experiments.json_text import json_text

LEVEL = 0.2
"""Significance level of all tests together: the probability of finding any difference if there is none.

The Pantheon paper has the same level for each single test.
"""
METRICS = ("throughput_mbps", "p95_delay_ms")


@dataclass(frozen=True)
class TransparencyRow:
    """One metric of one scheme over one emulator."""

    emulator: str
    scheme: str
    metric: str
    outside: float
    """Median over the runs."""
    inside: float
    runs_outside: int
    runs_inside: int
    distance: float
    """Greatest distance between the two empirical distributions."""
    p_value: float
    adjusted_p: float
    """p-value among all rows, by Holm's correction."""

    @property
    def agrees(self) -> bool:
        """Whether no significant difference was found."""
        return self.adjusted_p >= LEVEL


def compare(outside: Plan, outside_folder: Path, inside: Plan, inside_folder: Path) -> list[TransparencyRow]:
    """A row for each emulator, scheme and metric, from all complete runs."""
    rows = []
    for emulator in outside.emulators:
        for scheme in outside.schemes:
            samples = [
                _link_metrics(emulator_folder(folder, emulator.label), scheme.label, plan)
                for plan, folder in ((outside, outside_folder), (inside, inside_folder))
            ]
            if all(samples):
                rows += [_row(emulator.label, scheme.label, metric, *samples) for metric in METRICS]
    adjusted = holm([row.p_value for row in rows])
    return [replace(row, adjusted_p=each) for row, each in zip(rows, adjusted, strict=True)]


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values adjusted for multiple tests (Holm 1979): the least times their number, and so on."""
    adjusted, largest = [1.0] * len(p_values), 0.0
    for rank, index in enumerate(np.argsort(p_values)):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[index]))
        adjusted[index] = largest
    return adjusted


def least_runs(tests: int) -> int:
    """Fewest runs on either side that can show a difference, if all of one side exceed all of the other."""
    runs = 1
    while tests * 2 / math.comb(2 * runs, runs) >= LEVEL:
        runs += 1
    return runs


def _link_metrics(folder: Path, scheme: str, plan: Plan) -> list[FlowMetrics]:
    """The metrics of the flow of each complete run, from mm-link's log."""
    runs = [RunFiles(folder, scheme, run) for run in range(1, plan.runs + 1)]
    delay_ms = next(each.spec.delay_ms for each in plan.emulators if folder.match(each.label))
    return [
        measure(read_link_log(files.link_data_log).without_background(), delay_ms, seconds=plan.seconds)
        for files in runs
        if files.statistics.exists()
    ]


def _row(
    emulator: str, scheme: str, metric: str, outside: list[FlowMetrics], inside: list[FlowMetrics]
) -> TransparencyRow:
    ours, theirs = ([getattr(each, metric) for each in sample] for sample in (inside, outside))
    distance, p_value = kolmogorov_smirnov(ours, theirs)
    return TransparencyRow(
        emulator,
        scheme,
        metric,
        median(theirs),
        median(ours),
        len(theirs),
        len(ours),
        distance,
        p_value,
        p_value,
    )


def kolmogorov_smirnov(first: Sequence[float], second: Sequence[float]) -> tuple[float, float]:
    """The two-sample test: the distance of the empirical distributions, and its exact two-sided p-value.

    The p-value is the share of all orders of the pooled samples with at least this distance. Orders are
    lattice paths from (0, 0) to (n, m); those that stay nearer to the diagonal are counted (Hodges 1957).
    """
    n, m = len(first), len(second)
    pooled = np.sort(np.concatenate([first, second]))
    below = [np.searchsorted(np.sort(sample), pooled, side="right") for sample in (first, second)]
    # Scaled by n m, so that there is no rounding.
    apart = int(np.abs(below[0] * m - below[1] * n).max())
    paths = [1] + [0] * m
    for i in range(n + 1):
        for j in range(m + 1):
            if abs(i * m - j * n) >= apart:
                paths[j] = 0
            elif j > 0:
                paths[j] += paths[j - 1]
    return apart / (n * m), 1 - paths[m] / math.comb(n + m, n)


def transparency_lines(rows: list[TransparencyRow]) -> list[str]:
    """The table as text."""
    heads = f"{'outside':>9} {'inside':>9} {'runs':>7} {'D':>6} {'p':>6} {'Holm':>6}"
    lines = [f"{'emulator':28} {'scheme':14} {'metric':16} {heads}"]
    for row in rows:
        lines.append(
            f"{row.emulator:28} {row.scheme:14} {row.metric:16} {row.outside:9.2f} {row.inside:9.2f}"
            f" {row.runs_outside:3}/{row.runs_inside:3}"
            f" {row.distance:6.3f} {row.p_value:6.3f} {row.adjusted_p:6.3f}"
            + ("" if row.agrees else "  differs")
        )
    agree = sum(row.agrees for row in rows)
    return [*lines, f"{agree} of {len(rows)} show no difference (p >= {LEVEL} after Holm's correction)"]


DESCRIPTION = (
    "Runs kernel TCP inside and outside of the tunnel in turns, in real mahimahi, and compares "
    "throughput and p95 delay, as mm-link saw them, by the two-sample Kolmogorov-Smirnov test. Exit code "
    "1: one of them differs (p < 0.2, all tests together by Holm's correction)."
)

add_arguments = partial(
    add_evaluation_arguments, emulators="field", schemes="kernel-cubic,kernel-bbr", runs=20
)


def run(args: argparse.Namespace) -> int:
    """Runs what is left of both, then compares them."""
    outside = plan_evaluation(args, "mahimahi", args.schemes)
    tests = len(METRICS) * len(outside.emulators) * len(outside.schemes)
    if outside.runs < (least := least_runs(tests)):
        raise InputError(f"--runs {outside.runs}: too few to show a difference in {tests} tests: {least} can")
    inside = replace(outside, tunnel=True)
    folders = (args.out / "outside", args.out / "inside")
    run_in_turns([(outside, folders[0]), (inside, folders[1])])
    rows = compare(outside, folders[0], inside, folders[1])
    print(json_text([asdict(row) for row in rows]) if args.json else "\n".join(transparency_lines(rows)))
    return 0 if rows and all(row.agrees for row in rows) else 1
