"""Reads and measures the runs of a data directory one by one; of broken runs what is readable."""

import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from functools import partial
from multiprocessing import get_context
from typing import Any

import numpy as np
from ccgym.envs.host.termination import starting_deaf_to_interrupts
from ccgym.envs.logs.flow_metrics import FlowMetrics
from ccgym.envs.logs.link_log import LinkLog
from ccgym.evaluation.backends.backend import run_seconds, unseen_loss
from ccgym.evaluation.backends.tunnelled.remote_path import Network
from ccgym.evaluation.completions import read_completions
from ccgym.evaluation.host_load import busy_remarks
from ccgym.evaluation.run_files import FlowLogs, RunFiles, read_lone_link_log, read_merged_log

from .fairness import Fairness
from .measured_run import MeasuredRun, measure_run, read_measured_run
from .time_series import TimeSeries, time_series

SHORT = 0.8
"""Share of its time: Pantheon's analysis leaves out runs that lasted less."""
WORTH_WORKERS_BYTES = 64 << 20
"""Size of logs from which workers are used: smaller ones are read before a worker has started."""


@dataclass(frozen=True)
class FlowResult:
    """One flow of one run."""

    scheme: str
    """The scheme of the run, or its mix."""
    run: int
    flow: int
    """Number of the flow from 1, in the order in which flows began."""
    flow_scheme: str
    """The scheme of this flow."""
    metrics: FlowMetrics
    series: TimeSeries | None
    """None if the logs were not kept."""


@dataclass(frozen=True)
class RunResult:
    """One run of a scheme or a mix."""

    scheme: str
    run: int
    flows: list[FlowResult]
    total: FlowMetrics
    """Metrics of all flows together."""
    fairness: Fairness | None
    remarks: list[str] = field(default_factory=list)
    """Parts of its logs that are missing or were corrected."""


@dataclass(frozen=True)
class Failure:
    """A run without figures."""

    scheme: str
    run: int
    reason: str
    recorded: bool = False
    """Whether the failure was recorded when it ran; otherwise files are missing or broken."""


@dataclass(frozen=True)
class Conditions:
    """The conditions of a scenario's runs, as far as the measurement depends on them."""

    schemes: dict[str, Any]
    """The session's entry for each scheme."""
    backend: str
    seconds: float | None
    flows: int | None
    interval_s: float
    tunnel: bool
    delay_ms: float
    spec: Network | None

    def flow_scheme(self, scheme: str, flow: int) -> str:
        """The scheme of flow number `flow` in a run of `scheme`."""
        members = self._members(scheme)
        return str(members[(flow - 1) % len(members)])

    def flows_of(self, scheme: str) -> int | None:
        """The number of flows of a run of `scheme`; None: unknown."""
        return None if self.flows is None else max(self.flows, len(self._members(scheme)))

    def unseen_loss(self, flows: int) -> float:
        """See `backend.unseen_loss`."""
        return 0.0 if self.spec is None else unseen_loss(self.spec, self.backend, flows, self.tunnel)

    @property
    def run_s(self) -> float | None:
        """See `backend.run_seconds`."""
        return run_seconds(self.spec, self.backend, self.seconds)

    def _members(self, scheme: str) -> list[Any]:
        members: list[Any] = self.schemes.get(scheme, {}).get("members", [scheme])
        return members


def load_runs(found: list[RunFiles], conditions: Conditions) -> Iterator[RunResult | Failure]:
    """Yields each run of `found`, or its failure; large logs are read on all cores, one a core at a time."""
    size = sum(files.data_log.stat().st_size for files in found if files.data_log.exists())
    workers = min(len(os.sched_getaffinity(0)), len(found))
    if workers < 2 or size < WORTH_WORKERS_BYTES:
        yield from map(partial(_load_or_fail, conditions), found)
        return
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as executor:
        with starting_deaf_to_interrupts():
            loaded = executor.map(partial(_load_or_fail, conditions), found)
        yield from loaded


def _load_or_fail(conditions: Conditions, files: RunFiles) -> RunResult | Failure:
    try:
        return _load_run(files, conditions)
    except ValueError as error:  # also InputError: one broken log costs only its own run
        return Failure(files.scheme, files.run, str(error))


def _load_run(files: RunFiles, conditions: Conditions) -> RunResult:
    """Measures a run from its logs, or reads the figures that it left without logs."""
    if files.data_log.exists():
        return _from_logs(read_merged_log(files.data_log), files, conditions)
    if files.measured.exists():
        measured = read_measured_run(files.measured)
        return _result(files, conditions, dict(enumerate([None] * len(measured.flows), 1)), measured, [])
    return _from_logs(read_lone_link_log(files.link_data_log), files, conditions)


def _from_logs(read: FlowLogs, files: RunFiles, conditions: Conditions) -> RunResult:
    delay_ms, completions = conditions.delay_ms, read_completions(files.completions)
    logs = {
        number: replace(log.shifted(-delay_ms), completion_ms=completions.get(number, log.completion_ms))
        for number, log in _measured(read, files, conditions).items()
    }
    if not logs:
        raise ValueError("no flow to measure: no data packets came through")
    _check_clocks(list(logs.values()), delay_ms)
    measured = measure_run(
        list(logs.values()),
        delay_ms,
        seconds=conditions.seconds,
        begins_s=[(number - 1) * conditions.interval_s for number in logs],
        unseen_loss=conditions.unseen_loss(len(logs)),
        run_s=None if read.remarks else conditions.run_s,
    )
    series: dict[int, TimeSeries | None] = {
        number: time_series(log, metrics, delay_ms)
        for (number, log), metrics in zip(logs.items(), measured.flows, strict=True)
    }
    planned = range(1, 1 + (conditions.flows_of(files.scheme) or 0))
    empty = sorted({*planned, *read.flows} - logs.keys())
    return _result(
        files,
        conditions,
        series,
        measured,
        [*read.remarks, *map("flow {} has no packets".format, empty), *_too_short(measured, conditions)],
    )


def _measured(read: FlowLogs, files: RunFiles, conditions: Conditions) -> dict[int, LinkLog]:
    """The flows that can be measured, by number: those with packets; in the twin also those that starved.

    Starved flows count only if the log is complete.
    """
    nothing_at_all = not read.flows and not len(read.silent_flow.opportunity_ms)
    if conditions.run_s is None or read.remarks or nothing_at_all:
        return {number: log for number, log in read.flows.items() if _has_packets(log)}
    return {
        number: read.flows.get(number, read.silent_flow)
        for number in range(1, 1 + (conditions.flows_of(files.scheme) or 0))
    }


def _has_packets(log: LinkLog) -> bool:
    return len(log.departure_ms) > 1 and bool(log.departure_ms[0] < log.departure_ms[-1])


def _check_clocks(logs: list[LinkLog], delay_ms: float) -> None:
    """Raises ValueError if, by the clocks of both ends, most packets arrived before they were sent."""
    delays_ms = np.concatenate([log.departure_delay_ms for log in logs]) + delay_ms
    if not len(delays_ms):
        return
    p95_ms = float(np.percentile(delays_ms, 95, method="nearest"))
    if p95_ms <= 0:
        arrived = sum(int(log.departure_bytes.sum()) for log in logs)
        lasted_ms = max(log.departure_ms[-1] for log in logs) - min(log.departure_ms[0] for log in logs)
        raise ValueError(
            f"{8 * arrived / (1000 * lasted_ms):.2f} Mbit/s came through, but their p95 one-way delay is "
            f"{p95_ms:.1f} ms: the clocks of both ends differ"
        )


def _too_short(run: MeasuredRun, conditions: Conditions) -> list[str]:
    seconds, lasted_s = conditions.seconds, run.total.duration_ms / 1000
    if seconds is None or lasted_s >= SHORT * seconds or conditions.spec is not None:
        return []
    return [f"lasted {lasted_s:.1f} s of {seconds:g} s: Pantheon's own analysis leaves it out"]


def _result(
    files: RunFiles,
    conditions: Conditions,
    series: dict[int, TimeSeries | None],
    measured: MeasuredRun,
    remarks: list[str],
) -> RunResult:
    flows = [
        FlowResult(
            scheme=files.scheme,
            run=files.run,
            flow=number,
            flow_scheme=conditions.flow_scheme(files.scheme, number),
            metrics=metrics,
            series=of_flow,
        )
        for (number, of_flow), metrics in zip(series.items(), measured.flows, strict=True)
    ]
    remarks = [*remarks, *busy_remarks(files.load)]
    return RunResult(files.scheme, files.run, flows, measured.total, measured.fairness, remarks)
