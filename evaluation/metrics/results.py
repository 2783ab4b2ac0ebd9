"""What an evaluation measured, read back from its data directory, or from one of Pantheon's."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ccgym.envs.errors import InputError
from ccgym.envs.logs.flow_metrics import FlowMetrics
from ccgym.envs.outside_files import read_json
from ccgym.envs.specs.emulator_spec import EmulatorSpec
from ccgym.evaluation.backends.backend import unseen_loss
from ccgym.evaluation.backends.remote_path import Network, RemotePathSpec
from ccgym.evaluation.run_files import RunFiles, read_merged_log, recorded_failures, recorded_runs

from .fairness import Fairness
from .measured_run import measure_run, read_measured_run
from .time_series import TimeSeries, time_series


@dataclass(frozen=True)
class FlowResult:
    """One flow of one run."""

    scheme: str
    """What the run flew: a scheme, or a mix."""
    run: int
    flow: int
    """From 1, in the order in which they began."""
    flow_scheme: str
    """What this flow flew."""
    metrics: FlowMetrics
    series: TimeSeries | None
    """None where the logs were not kept."""


@dataclass(frozen=True)
class RunResult:
    """One run of a scheme or a mix."""

    scheme: str
    run: int
    flows: list[FlowResult]
    total: FlowMetrics
    """Of all flows together."""
    fairness: Fairness | None


@dataclass(frozen=True)
class Failure:
    """A run that gave no figures."""

    scheme: str
    run: int
    reason: str


@dataclass(frozen=True)
class Scenario:
    """All runs over one emulator or path."""

    label: str
    backend: str
    description: str
    delay_ms: float
    """One-way propagation; 0 where it is unknown."""
    runs: list[RunResult]
    failures: list[Failure]
    seen: dict[str, str] = field(default_factory=dict)
    """Of each learned scheme, whether it was trained on this: `train`, `validation`, `no`, `unknown`."""

    @property
    def is_unseen(self) -> bool:
        """Whether it was in no training of any scheme."""
        return all(answer == "no" for answer in self.seen.values())

    @property
    def flows(self) -> list[FlowResult]:
        """Of all runs."""
        return [flow for run in self.runs for flow in run.flows]


@dataclass(frozen=True)
class Evaluation:
    """Every scenario of a data directory, and what the session said of itself."""

    folder: Path
    session: dict[str, Any]
    scenarios: list[Scenario]

    @property
    def schemes(self) -> list[str]:
        """All schemes that flew or failed to, in the session's order."""
        seen = dict.fromkeys(self.session.get("schemes", {}))
        for scenario in self.scenarios:
            seen.update(dict.fromkeys(run.scheme for run in scenario.runs))
            seen.update(dict.fromkeys(failure.scheme for failure in scenario.failures))
        return list(seen)


def load_evaluation(folder: Path) -> Evaluation:
    """Reads and measures every run in `folder`: an evaluation of ours, or a data directory of Pantheon's.

    Raises:
        InputError: it is neither, or a log in it is broken.
    """
    if (folder / "session.json").is_file():
        return _load_session(folder)
    if (folder / "pantheon_metadata.json").is_file():
        return _load_pantheon(folder)
    raise InputError(f"{folder}: neither session.json (of `ccgym eval`) nor pantheon_metadata.json is in it")


def _load_session(folder: Path) -> Evaluation:
    session = _read_json(folder / "session.json")
    scenarios = []
    for label, fields in session["emulators"].items():
        remote = "remote" in fields
        spec = RemotePathSpec.model_validate(fields) if remote else EmulatorSpec.model_validate(fields)
        conditions = _Conditions(
            session["schemes"],
            session["backend"],
            session["seconds"],
            session.get("interval", 0.0),
            session.get("tunnel", False),
            spec,
        )
        seen = {scheme: links.get(label, "unknown") for scheme, links in session.get("seen", {}).items()}
        empty = Scenario(label, session["backend"], _describe(spec), spec.delay_ms, [], [], seen)
        scenarios.append(_scenario(folder / "data" / label, empty, conditions))
    return Evaluation(folder, session, scenarios)


def _load_pantheon(folder: Path) -> Evaluation:
    metadata = _read_json(folder / "pantheon_metadata.json")
    local = metadata.get("mode") == "local"
    link = f"mm-link {metadata.get('uplink_trace', '')} {metadata.get('downlink_trace', '')}"
    commands = [metadata.get("prepend_mm_cmds", ""), link, metadata.get("extra_mm_link_args", "")]
    description = " ".join(part for part in commands if part) if local else metadata.get("remote_desc", "")
    backend = "mahimahi" if local else "path"
    scenario = Scenario(folder.resolve().name, backend, description, 0, [], [])
    runtime = metadata.get("runtime")
    conditions = _Conditions({}, backend, runtime, metadata.get("interval", 0), True, None)
    session = {"command": f"Pantheon {metadata.get('mode', '')}", "seconds": runtime}
    return Evaluation(folder, session, [_scenario(folder, scenario, conditions)])


@dataclass(frozen=True)
class _Conditions:
    """Under which a scenario was flown, as far as measuring depends on it."""

    schemes: dict[str, Any]
    """As session.json describes them."""
    backend: str
    seconds: float | None
    interval_s: float
    tunnel: bool
    spec: Network | None

    def flow_scheme(self, scheme: str, flow: int) -> str:
        """What flow number `flow` of a run of `scheme` flies."""
        members = self.schemes.get(scheme, {}).get("members", [scheme])
        return str(members[(flow - 1) % len(members)])

    def unseen_loss(self, flows: int) -> float:
        """See `backend.unseen_loss`."""
        return 0.0 if self.spec is None else unseen_loss(self.spec, self.backend, flows, self.tunnel)


def _scenario(folder: Path, empty: Scenario, conditions: _Conditions) -> Scenario:
    """`empty` with the runs found in `folder`, schemes in the order of the session."""
    failures = [
        Failure(files.scheme, files.run, files.failure.read_text().strip())
        for files in recorded_failures(folder)
    ]
    runs = []
    for files in recorded_runs(folder):
        try:
            runs.append(_load_run(files, empty.delay_ms, conditions))
        except InputError:
            raise
        except ValueError as error:
            failures.append(Failure(files.scheme, files.run, str(error)))
    rank = {scheme: place for place, scheme in enumerate(conditions.schemes)}
    runs.sort(key=lambda run: (rank.get(run.scheme, len(rank)), run.run))
    return replace(empty, runs=runs, failures=failures)


def _load_run(files: RunFiles, delay_ms: float, conditions: _Conditions) -> RunResult:
    """Measured from its logs; without them, the figures it left."""
    series: list[TimeSeries | None]
    if files.data_log.exists():
        logs = [log.shifted(-delay_ms) for log in read_merged_log(files.data_log).values()]
        measured = measure_run(
            logs,
            delay_ms,
            seconds=conditions.seconds,
            interval_s=conditions.interval_s,
            unseen_loss=conditions.unseen_loss(len(logs)),
        )
        series = [time_series(log, own, delay_ms) for log, own in zip(logs, measured.flows, strict=True)]
    else:
        measured = read_measured_run(files.measured)
        series = [None] * len(measured.flows)
    flows = [
        FlowResult(files.scheme, files.run, number, conditions.flow_scheme(files.scheme, number), *own)
        for number, own in enumerate(zip(measured.flows, series, strict=True), 1)
    ]
    return RunResult(files.scheme, files.run, flows, measured.total, measured.fairness)


def _describe(spec: Network) -> str:
    """The spec in a reader's words."""
    if isinstance(spec, RemotePathSpec):
        ends = ["this machine", spec.destination.rpartition("@")[2]]
        return "a real path, " + " to ".join(ends if spec.direction == "up" else reversed(ends))
    link = spec.uplink
    if link.trace:
        rate = f"trace {Path(link.trace).name}"
    elif link.rates_mbps:
        rate = f"{min(link.rates_mbps):g} to {max(link.rates_mbps):g} Mbit/s"
    else:
        rate = f"{link.rate_mbps:g} Mbit/s"
    if link.arrivals != "constant":
        rate += f" {link.arrivals}"
    limits = [f"{link.packets} packets" if link.packets else "", f"{link.bytes} bytes" if link.bytes else ""]
    queue = " ".join([link.queue, *filter(None, limits)])
    parts = [
        rate,
        f"{spec.delay_ms} ms one way",
        f"{queue} queue",
        f"loss {100 * link.loss:g} %" if link.loss else "",
    ]
    return ", ".join(part for part in parts if part)


def _read_json(path: Path) -> dict[str, Any]:
    content = read_json(path, "the description")
    if not isinstance(content, dict):
        raise InputError(f"{path}: expected a JSON object")
    return content
