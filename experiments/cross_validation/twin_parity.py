"""The twin beside real mahimahi: the same controller over the same emulator, in both.

A link's schedule begins with its shell, a flow some time later, once its programs run. How much later varies
from run to run, and on a varying link it decides which part of the schedule the flow meets. So each run in
real mahimahi is repeated in the twin from the same ms of the schedule, which the real link's log gives. Where
within that ms a flow began matters to some controllers, so the twin runs from several places in it.

The twin passes if throughput and p95 one-way delay agree within the bounds below. The lateness of the real
shells, by their own logs, is shown beside it and is no part of the comparison.
"""

import argparse
import os
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import median

from ccgym.envs.logs.flow_metrics import FlowMetrics
from ccgym.envs.logs.link_log import read_link_log
from ccgym.envs.specs.emulator_spec import EmulatorSpec
from ccgym.evaluation.backends.backend import PlannedFlow, unseen_loss
from ccgym.evaluation.backends.tunnelled.remote_path import Network
from ccgym.evaluation.backends.twin_backend import TwinBackend
from ccgym.evaluation.metrics.measured_run import measure_run
from ccgym.evaluation.metrics.results import Evaluation, FlowResult
from ccgym.evaluation.run_files import RunFiles
from ccgym.evaluation.schemes import Scheme
from ccgym.evaluation.sessions.lateness import SMALLEST_DATA_BYTES, p95_lateness_ms
from ccgym.evaluation.sessions.session import Plan, PlannedRun, emulator_folder
from ccgym.experiments.arguments import add_evaluation_arguments
from ccgym.experiments.evaluations import evaluate, plan_evaluation
from ccgym.experiments.json_text import json_text

THROUGHPUT_SHARE = 0.03
DELAY_SHARE = 0.05
PHASES = 5
"""Number of evenly spaced places within a ms from which the twin runs."""
DELAY_MS = 2.0
"""The p95 delay may differ by DELAY_SHARE or DELAY_MS, whichever is more."""


@dataclass(frozen=True)
class ParityRow:
    """Medians over the runs of one scheme on one emulator; those of the twin are also over the phases."""

    emulator: str
    scheme: str
    twin_mbps: float
    real_mbps: float
    twin_p95_ms: float
    real_p95_ms: float
    real_late_ms: float | None
    """95th percentile of the real shells' lateness over a round trip; None if it is unknown."""

    @property
    def throughput_error(self) -> float:
        """Error of the twin's throughput, as a share of the real one."""
        return self.twin_mbps / self.real_mbps - 1

    @property
    def delay_error_ms(self) -> float:
        """Error of the twin's p95 one-way delay."""
        return self.twin_p95_ms - self.real_p95_ms

    @property
    def agrees(self) -> bool:
        """Whether both errors are within the bounds above."""
        allowed_ms = max(DELAY_MS, DELAY_SHARE * self.real_p95_ms)
        return abs(self.throughput_error) <= THROUGHPUT_SHARE and abs(self.delay_error_ms) <= allowed_ms


def compare(plan: Plan, real: Evaluation, executor: Executor) -> list[ParityRow]:
    """A row for every scheme and emulator of the plan that the twin can run and that ran in `real`."""
    reals = dict(_planned_runs(real))
    emulators = {emulator.label: emulator for emulator in plan.emulators}
    schemes = {scheme.label: scheme for scheme in plan.schemes}
    delays_ms = {scenario.label: scenario.delay_ms for scenario in real.scenarios}
    planned_runs = {
        key: [PlannedRun(emulators[key[0]], schemes[key[1]], flow.run) for flow in flows]
        for key, flows in reals.items()
        if _twin_runs(emulators[key[0]].spec, schemes[key[1]])
    }
    twins = {
        key: [
            executor.submit(_run_likewise, plan, planned, real.folder, phase / PHASES)
            for planned in group
            for phase in range(PHASES)
        ]
        for key, group in planned_runs.items()
    }
    return [
        ParityRow(
            *key,
            median(planned.result().throughput_mbps for planned in twins[key]),
            median(flow.metrics.throughput_mbps for flow in reals[key]),
            median(planned.result().p95_delay_ms for planned in twins[key]),
            median(flow.metrics.p95_delay_ms for flow in reals[key]),
            _lateness_ms(real.folder, key[0], reals[key], delays_ms[key[0]]),
        )
        for key in twins
    ]


def _twin_runs(spec: Network, scheme: Scheme) -> bool:
    return TwinBackend().refusal(spec, [scheme]) is None


def _run_likewise(plan: Plan, planned: PlannedRun, real: Path, phase_ms: float) -> FlowMetrics:
    """Repeats a run of `real` in the twin, from `phase_ms` after the beginning of its ms."""
    seed, files = planned.seed(plan.seed), planned.files(real)
    spec = planned.drawn_spec(seed, begins=False)  # the real shells' draw
    assert isinstance(spec, EmulatorSpec)
    start_s = begun_s(files, spec) + phase_ms / 1000
    flow = PlannedFlow(planned.scheme, start_s, plan.seconds)
    logs = TwinBackend().run(spec, [flow], seed, files)
    loss = unseen_loss(spec, "twin", flows=1, tunnel=False)
    return measure_run(logs, spec.delay_ms, seconds=plan.seconds, unseen_loss=loss).total


def begun_s(files: RunFiles, spec: EmulatorSpec) -> float:
    """When the sender of a run in real mahimahi began to send, in s since the schedule of its link began.

    Raises:
        InputError: the link's log is missing or broken.
    """
    log = read_link_log(files.link_data_log)
    assert log.header is not None
    data_ms = log.arrival_ms[log.arrival_bytes >= SMALLEST_DATA_BYTES]
    before_ms = spec.delay_ms if spec.before_link("delay") else 0
    return max(0.0, float(data_ms[0]) - log.header.base_ms - before_ms) / 1000


def _lateness_ms(folder: Path, label: str, flows: list[FlowResult], delay_ms: float) -> float | None:
    """Median over the runs of their p95 lateness in ms; None if it is unknown."""
    runs = [RunFiles(emulator_folder(folder, label), flow.scheme, flow.run) for flow in flows]
    told = [p95_lateness_ms(run.link_data_log, run.link_ack_log, delay_ms) for run in runs]
    known = [late_ms for late_ms in told if late_ms is not None]
    return median(known) if known else None


def _planned_runs(evaluation: Evaluation) -> Iterator[tuple[tuple[str, str], list[FlowResult]]]:
    for scenario in evaluation.scenarios:
        for scheme in evaluation.schemes:
            flows = [flow for flow in scenario.flows if flow.scheme == scheme]
            if flows:
                yield (scenario.label, scheme), flows


def parity_lines(rows: list[ParityRow]) -> list[str]:
    """The table as text."""
    lines = [_line("emulator", "scheme", "Mbit/s: twin", "real", "", "p95 ms: twin", "real", "p95 late ms")]
    lines += [
        _line(
            row.emulator,
            row.scheme,
            f"{row.twin_mbps:.2f}",
            f"{row.real_mbps:.2f}",
            f"{row.throughput_error:+.1%}",
            f"{row.twin_p95_ms:.0f}",
            f"{row.real_p95_ms:.0f}",
            "-" if row.real_late_ms is None else f"{row.real_late_ms:.0f}",
        )
        + ("" if row.agrees else "  differs")
        for row in rows
    ]
    return [*lines, f"{sum(row.agrees for row in rows)} of {len(rows)} agree"]


def _line(emulator: str, scheme: str, *figures: str) -> str:
    return f"{emulator:28} {scheme:12}" + "".join(f"{figure:>14}" for figure in figures)


DESCRIPTION = (
    "Runs the same controllers over the same emulators in real mahimahi, and each run again in the "
    "twin, begun at the same time of its link's schedule. Exit code 1: one of them differs by more than 3 "
    "% of throughput, or 5 % and 2 ms of p95 one-way delay. The last column tells how late the real "
    "shells were over a round trip, from their own logs."
)

EMULATORS = (
    "field,calibrated,synthetic/5mbps-10ms,synthetic/20mbps-40ms,synthetic/50mbps-20ms,"
    "validation/14mbps-30ms,validation/6mbps-poisson,pathological/policer-12mbps-10ms,"
    "pathological/ack-10-per-200ms,pathological/buffer-0.33bdp,"
    "varying/rate-steps,varying/cellular-like"
)

add_arguments = partial(
    add_evaluation_arguments, emulators=EMULATORS, schemes="fixed:60,reno,copa,indigo2", runs=3
)


def run(args: argparse.Namespace) -> int:
    """Runs what is left in real mahimahi, then the same in the twin."""
    real = evaluate(args, "mahimahi", args.schemes)
    with ThreadPoolExecutor(os.cpu_count()) as executor:
        rows = compare(plan_evaluation(args, "mahimahi", args.schemes), real, executor)
    print(json_text([asdict(row) for row in rows]) if args.json else "\n".join(parity_lines(rows)))
    return 0 if rows and all(row.agrees for row in rows) else 1
