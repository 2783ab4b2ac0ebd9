"""A session: schemes x emulators x runs, run in random order, kept in Pantheon's data directory.

    DIR/session.json                                   what was asked, and on what it ran
    DIR/data/GROUP/NAME/pantheon_metadata.json         one folder per emulator, in Pantheon's layout
    DIR/data/GROUP/NAME/SCHEME_datalink_run1.log ...   see run_files

Without logs, a run leaves its figures only: SCHEME_measured_run1.json.

A run is complete once its statistics page exists; after an interruption only the other runs are run.
"""

import json
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from ccgym.envs.errors import InputError, OutsideError, excerpt, is_of_system
from ccgym.envs.host.processor_time import processor_time
from ccgym.envs.logs.flow_metrics import OPPORTUNITY_IP_BYTES, FlowMetrics, NothingToMeasureError
from ccgym.envs.logs.link_log import LinkLog
from ccgym.envs.specs.digest import spec_digest
from ccgym.envs.specs.emulator_spec import EmulatorSpec
from ccgym.envs.specs.emulators import NamedEmulator
from ccgym.envs.specs.schedules import opportunities_through
from ccgym.evaluation.backends.backend import (
    Backend,
    EmulatorsOrPaths,
    PlannedFlow,
    run_seconds,
    unseen_loss,
)
from ccgym.evaluation.backends.tunnelled.clock_offset import remote_offset_ms
from ccgym.evaluation.backends.tunnelled.remote_path import NamedPath, Network, RemotePathSpec
from ccgym.evaluation.completions import write_completions
from ccgym.evaluation.host_load import write_others_cores
from ccgym.evaluation.isolation import with_memory_limit
from ccgym.evaluation.metrics.measured_run import MeasuredRun, measure_run, write_measured_run
from ccgym.evaluation.report.statistics_page import statistics_page
from ccgym.evaluation.run_files import (
    PANTHEON_METADATA,
    RunFiles,
    in_one_line,
    replaced_text,
    write_merged_log,
)
from ccgym.evaluation.schemes import Scheme
from ccgym.evaluation.session_file import read_session

from .pantheon_metadata import pantheon_metadata
from .provenance import provenance

SCHEMA = 1
REFUSED = "cannot run here: "
"""The reason of a run that was never tried begins like this."""
REFUSED_BEFORE = "cannot fly here: "
"""The same in folders of earlier versions."""
OUT_OF_MEMORY = "out of memory: what it sent is more than its log can hold: try --no-logs"
PACKET_LOG_BYTES = 150
"""Memory for each packet of a run at its peak, when the log is measured: 110 were seen at 1 Gbit/s."""
SHORTEST_FLOW = 0.8
"""A flow of a program that lasted less than this share of its time is a failed run."""
_FIXED = ("backend", "seconds", "seed", "flows", "interval", "tunnel")


@dataclass(frozen=True)
class Plan:
    """The plan of an evaluation: which runs to make, and how."""

    emulators: EmulatorsOrPaths
    schemes: list[Scheme]
    runs: int
    seconds: float
    seed: int
    backend: str
    command: str
    """The command line as the user typed it."""
    flows: int = 1
    """Number of flows of each run; a mix has at least one for each of its members."""
    interval_s: float = 0.0
    """Time between the starts of a run's flows, which end together."""
    tunnel: bool = False
    """Whether every flow goes through an instrumented tunnel of its own."""
    keep_logs: bool = True

    def __post_init__(self) -> None:
        for scheme in self.schemes:
            latest_s = (len(scheme.line_up(self.flows)) - 1) * self.interval_s
            if latest_s >= self.seconds:
                raise InputError(
                    f"--interval {self.interval_s:g}: the last flow of {scheme.label} would begin after "
                    f"{latest_s:g} s, when the run of {self.seconds:g} s is over"
                )
        if any(len(scheme.line_up(self.flows)) == 1 for scheme in self.schemes):
            for emulator in self.emulators:
                if isinstance(emulator.spec, EmulatorSpec):
                    emulator.spec.check_own_flow_begins(self.seconds)

    def flows_of(self, scheme: Scheme) -> list[PlannedFlow]:
        """The flows of a run of `scheme`."""
        return [
            PlannedFlow(member, index * self.interval_s, self.seconds - index * self.interval_s)
            for index, member in enumerate(scheme.line_up(self.flows))
        ]


@dataclass(frozen=True)
class PlannedRun:
    """One run of the plan."""

    emulator: NamedEmulator | NamedPath
    scheme: Scheme
    run: int

    def seed(self, session_seed: int) -> int:
        """The seed of the run, the same for all schemes: they meet the same draw of the network."""
        entropy = [session_seed, self.run, *self.emulator.label.encode()]
        return int(np.random.SeedSequence(entropy).generate_state(1, np.uint64)[0])

    def drawn_spec(self, seed: int, *, begins: bool) -> Network:
        """The network of this run, its own draw of the emulator. `begins`: whether the start is drawn too.

        In real time the place in a trace where a run begins cannot be chosen.
        """
        spec = self.emulator.spec
        return spec.drawn(seed, begins=begins) if isinstance(spec, EmulatorSpec) else spec

    def files(self, folder: Path) -> RunFiles:
        """The files of this run."""
        return RunFiles(emulator_folder(folder, self.emulator.label), self.scheme.label, self.run)


@dataclass(frozen=True)
class Outcome:
    """The end of a run: metrics, or the reason why it failed."""

    planned: PlannedRun
    metrics: FlowMetrics | None
    failure: str

    @property
    def refused(self) -> bool:
        """Whether the run was never tried."""
        return self.failure.startswith(REFUSED)


def log_bytes(spec: Network, seconds: float) -> float:
    """Memory that the log of a run takes; 0 where it cannot be foretold."""
    if not isinstance(spec, EmulatorSpec):
        return 0.0
    packets_per_s = 1e6 * spec.uplink.schedule().mean_rate_mbps / (8 * OPPORTUNITY_IP_BYTES)
    packets_per_s += sum(each.packets_per_s for each in spec.cross_traffic)
    return PACKET_LOG_BYTES * packets_per_s * seconds


def emulator_folder(folder: Path, label: str) -> Path:
    """The folder of the runs over one emulator."""
    return folder / "data" / label


def open_session(plan: Plan, folder: Path) -> list[PlannedRun]:
    """Prepares the folder, new or interrupted, and returns the runs that are left, in their order.

    Raises:
        InputError: the folder holds another evaluation.
    """
    path = folder / "session.json"
    described = _describe(plan)
    if path.exists():
        described = _continued(path, described)
    elif folder.exists() and any(folder.iterdir()):
        raise InputError(f"{folder} is not empty and holds no evaluation to go on with: choose another --out")
    for emulator in plan.emulators:
        emulator_folder(folder, emulator.label).mkdir(parents=True, exist_ok=True)
    with replaced_text(path) as stream:
        json.dump(described, stream, indent=2)
    for emulator in plan.emulators:
        with replaced_text(emulator_folder(folder, emulator.label) / PANTHEON_METADATA) as stream:
            metadata = pantheon_metadata(
                emulator.spec,
                sorted(described["schemes"]),
                runs=described["runs"],
                flows=plan.flows,
                interval_s=plan.interval_s,
                seconds=plan.seconds,
            )
            json.dump(metadata, stream, indent=4, sort_keys=True)
    return [planned for planned in _planned_runs(plan) if not planned.files(folder).statistics.is_file()]


def run_session(
    plan: Plan, folder: Path, planned_runs: list[PlannedRun], backend: Backend
) -> Iterator[Outcome]:
    """Runs the planned runs one after the other; a failed run is an outcome too, and the next run follows."""
    for planned in planned_runs:
        yield carry_out(plan, folder, planned, backend)


def carry_out(plan: Plan, folder: Path, planned: PlannedRun, backend: Backend) -> Outcome:
    """Runs one run; an error becomes its outcome."""
    files = planned.files(folder)
    refused = backend.refusal(planned.emulator.spec, planned.scheme.line_up(plan.flows))
    if refused is not None:
        return failed(planned, files, REFUSED + refused)
    try:
        metrics = _run(plan, planned, files, backend).total
    except MemoryError:
        outside = planned.scheme.has_outside_code  # its own, or the log of what it sent
        return failed(planned, files, with_memory_limit(OUT_OF_MEMORY) if outside else OUT_OF_MEMORY)
    except Exception as error:  # it must not cost the other runs
        if not is_of_system(error) and not isinstance(error, InputError | OutsideError):  # a bug of ours
            traceback.print_exc()
        reason = str(error) or type(error).__name__
        if planned.scheme.has_outside_code:
            reason = with_memory_limit(reason)
        return failed(planned, files, reason)
    files.failure.unlink(missing_ok=True)
    return Outcome(planned, metrics, "")


def failed(planned: PlannedRun, files: RunFiles, reason: str) -> Outcome:
    """Writes the reason why a run failed, as one line for tables; returns the outcome."""
    reason = in_one_line(reason)
    with replaced_text(files.failure) as stream:
        stream.write(reason + "\n")
    return Outcome(planned, None, reason)


def _run(plan: Plan, planned: PlannedRun, files: RunFiles, backend: Backend) -> MeasuredRun:
    started, before = time.time(), processor_time()
    logs, measured = run_planned(plan, planned, files, backend)
    if backend.in_real_time:
        write_others_cores(files.load, processor_time().others_cores_since(before))
    if plan.keep_logs and any(log.unrecorded_bytes for log in logs):
        raise MemoryError
    ended = time.time()
    header = logs[0].header
    if plan.keep_logs:
        init_ms = 1000 * started if header is None else header.init_timestamp_ms
        write_merged_log(files.data_log, logs, planned.emulator.spec.delay_ms, init_ms)
        write_completions(files.completions, logs)
    else:
        write_measured_run(measured, files.measured)
    spec = planned.emulator.spec
    receives_here = isinstance(spec, RemotePathSpec) and spec.direction == "down"
    offset_ms = remote_offset_ms(files.clock, receives_here=receives_here)
    with replaced_text(files.statistics) as stream:
        stream.write(statistics_page(measured, started, ended, offset_ms))
    return measured


def run_planned(
    plan: Plan, planned: PlannedRun, files: RunFiles, backend: Backend
) -> tuple[list[LinkLog], MeasuredRun]:
    """Runs one run; returns the link's log of each flow, and the figures.

    Raises:
        OutsideError: nothing can be measured, or a flow ended much too early.
    """
    seed, flows = planned.seed(plan.seed), plan.flows_of(planned.scheme)
    spec = planned.drawn_spec(seed, begins=not backend.in_real_time)
    logs = backend.run(spec, flows, seed, files)
    try:
        measured = measure_run(
            logs,
            spec.delay_ms,
            seconds=plan.seconds,
            begins_s=[flow.start_s for flow in flows],
            unseen_loss=unseen_loss(spec, plan.backend, len(flows), plan.tunnel),
            run_s=run_seconds(spec, backend.name, plan.seconds),
        )
    except NothingToMeasureError as error:
        raise OutsideError(str(error)) from None
    expected_s = _expected_s(spec, plan.seconds) if backend.in_real_time else 0.0
    if measured.total.duration_ms < 1000 * SHORTEST_FLOW * expected_s:
        lasted_s = measured.total.duration_ms / 1000
        raise OutsideError(f"the flow lasted {lasted_s:.1f} s of {round(expected_s, 1):g} s")
    return logs, measured


def _expected_s(spec: Network, seconds: float) -> float:
    """How long the run's first flow should last in the log, in s; the link may be silent at either end."""
    if not isinstance(spec, EmulatorSpec):
        return seconds
    if spec.uplink.onoff or spec.downlink.onoff or spec.downlink.varies:
        return 0.0  # it may end early by chance, or for want of ACKs
    opportunities_ms = opportunities_through(spec.uplink.schedule(once=spec.once), 1000 * seconds)
    silent_s = seconds - float(np.ptp(opportunities_ms)) / 1000 if len(opportunities_ms) else 0.0
    return max(0.0, spec.own_flow_seconds(seconds) - silent_s)


def _planned_runs(plan: Plan) -> list[PlannedRun]:
    """All runs in rounds: each round has every scheme over every emulator once, in random order."""
    order = np.random.default_rng(plan.seed)
    planned_runs = []
    for run in range(1, plan.runs + 1):
        this_round = [
            PlannedRun(emulator, scheme, run) for emulator in plan.emulators for scheme in plan.schemes
        ]
        planned_runs += [this_round[index] for index in order.permutation(len(this_round))]
    return planned_runs


def _describe(plan: Plan) -> dict[str, Any]:
    digests = {emulator.label: _digest(emulator.spec) for emulator in plan.emulators}
    return {
        "schema": SCHEMA,
        "command": plan.command,
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "backend": plan.backend,
        "seconds": plan.seconds,
        "runs": plan.runs,
        "seed": plan.seed,
        "flows": plan.flows,
        "interval": plan.interval_s,
        "tunnel": plan.tunnel,
        "schemes": {
            scheme.label: {
                **({"name": scheme.name} if scheme.name != scheme.label else {}),
                "kind": scheme.kind.value,
                "flies": scheme.fingerprint(),
                **({"members": [member.label for member in scheme.members]} if scheme.members else {}),
            }
            for scheme in plan.schemes
        },
        "emulators": {
            emulator.label: emulator.spec.model_dump(mode="json", exclude_none=True)
            for emulator in plan.emulators
        },
        "digests": digests,
        "seen": {scheme.label: scheme.seen(digests) for scheme in plan.schemes if scheme.is_learned},
        "provenance": provenance(),
    }


def _digest(spec: Network) -> str:
    """The digest of an emulator; empty for a real path, which no training has seen."""
    return spec_digest(spec) if isinstance(spec, EmulatorSpec) else ""


def _continued(path: Path, described: dict[str, Any]) -> dict[str, Any]:
    """The session of `path`, extended by the runs, schemes and emulators that the plan adds."""
    before = read_session(path)
    for key in _FIXED:
        if before[key] != described[key]:
            raise InputError(
                f"{path}: this one has {key} {excerpt(before[key])}, not {described[key]}: "
                "choose another --out"
            )
    for key in ("schemes", "emulators", "digests"):
        for label, value in described[key].items():
            if before[key].setdefault(label, value) != value:
                raise InputError(
                    f"{path}: {label} has changed since this evaluation began: choose another --out"
                )
    for label, seen in described["seen"].items():
        before["seen"].setdefault(label, {}).update(seen)
    return {**before, "runs": max(before["runs"], described["runs"])}
