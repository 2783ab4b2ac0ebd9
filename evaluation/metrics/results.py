"""The results of an evaluation, read from its data directory or from one of Pantheon's."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ccgym.envs.errors import InputError, excerpt
from ccgym.envs.outside_files import absolute, read_bytes, read_json
from ccgym.evaluation.backends.tunnelled.remote_path import Network, RemotePathSpec
from ccgym.evaluation.run_files import (
    MOST_FLOWS,
    PANTHEON_METADATA,
    RunFiles,
    check_holds_runs,
    complete_runs,
    in_one_line,
    recorded_failures,
    recorded_link_logs,
    recorded_runs,
)
from ccgym.evaluation.session_file import network_of, read_session
from ccgym.evaluation.sessions.session import REFUSED, REFUSED_BEFORE

from .load_runs import Conditions, Failure, FlowResult, RunResult, load_runs

__all__ = ["Evaluation", "Failure", "FlowResult", "RunResult", "Scenario", "load_evaluation"]


_NUMBERS = {
    "runtime": (0.001, 1e6),
    "flows": (0, MOST_FLOWS),
    "interval": (0, 1e6),
    "run_times": (0, 10_000),
    "start_run_id": (0, 1e9),
}
"""Least and most of the numbers in Pantheon's metadata."""
_MOST_REASON_BYTES = 1 << 20
_MOST_PROMISED = 10_000
"""The most missing runs that are named one by one."""
_LONGEST_NAME = 200
"""Longest name of a scheme: names of files contain it."""


@dataclass(frozen=True)
class Scenario:
    """All runs over one emulator or path."""

    label: str
    backend: str
    description: str
    delay_ms: float
    """One-way propagation delay; 0 if it is unknown."""
    runs: list[RunResult]
    failures: list[Failure]
    seen: dict[str, str] = field(default_factory=dict)
    """For each learned scheme, whether it was trained on this: `train`, `validation`, `no`, `unknown`."""

    remarks: list[str] = field(default_factory=list)
    """Parts of its files that are missing or were corrected."""
    folder: Path = field(kw_only=True)
    """The folder of its files, which may be gone."""

    @property
    def is_unseen(self) -> bool:
        """Whether no learned scheme was trained on it."""
        return all(answer == "no" for answer in self.seen.values())

    @property
    def delivered(self) -> "Scenario":
        """The scenario with only the runs in which packets arrived: only these have delays."""
        return replace(self, runs=[run for run in self.runs if run.total.delivers])

    @property
    def flows(self) -> list[FlowResult]:
        """The flows of all runs."""
        return [flow for run in self.runs for flow in run.flows]


@dataclass(frozen=True)
class Evaluation:
    """Every scenario of a data directory, and the description of its session."""

    folder: Path
    session: dict[str, Any]
    scenarios: list[Scenario]

    @property
    def schemes(self) -> list[str]:
        """All schemes that ran or failed to, in the session's order."""
        seen = dict.fromkeys(self.session.get("schemes", {}))
        for scenario in self.scenarios:
            seen.update(dict.fromkeys(run.scheme for run in scenario.runs))
            seen.update(dict.fromkeys(failure.scheme for failure in scenario.failures))
        return list(seen)


def load_evaluation(folder: Path) -> Evaluation:
    """Reads and measures every run in `folder`: an evaluation of ours, or a data directory of Pantheon's.

    A broken or missing file costs only its own run, and is reported as a failure or a remark.

    Raises:
        InputError: the folder is neither, or no run in it can be read.
    """
    check_holds_runs(folder)
    ours = (folder / "session.json").is_file()
    evaluation = _load_session(folder) if ours else _load_pantheon(folder)
    return _checked_to_have_runs(evaluation)


def _checked_to_have_runs(evaluation: Evaluation) -> Evaluation:
    if any(scenario.runs for scenario in evaluation.scenarios):
        return evaluation
    failures = [failure for scenario in evaluation.scenarios for failure in scenario.failures]
    broken = [failure for failure in failures if not failure.recorded]
    if len(broken) < len(failures):
        return evaluation
    if broken:
        first = broken[0]
        raise InputError(
            f"{evaluation.folder}: no run in it can be read: {excerpt(first.scheme)} run {first.run}: "
            f"{excerpt(first.reason, 150)}"
        )
    raise InputError(f"{evaluation.folder}: holds no run: SCHEME_datalink_run1.log is missing")


def _load_session(folder: Path) -> Evaluation:
    session = read_session(folder / "session.json")
    scenarios = [_session_scenario(folder, session, *each) for each in session["emulators"].items()]
    return Evaluation(folder, session, scenarios)


def _session_scenario(
    folder: Path, session: dict[str, Any], label: str, fields: dict[str, Any]
) -> "Scenario":
    spec = network_of(fields)
    conditions = Conditions(
        schemes=session["schemes"],
        backend=session["backend"],
        seconds=session["seconds"],
        flows=session["flows"],
        interval_s=session["interval"],
        tunnel=session["tunnel"],
        delay_ms=spec.delay_ms,
        spec=spec,
    )
    seen = {scheme: links.get(label, "unknown") for scheme, links in session["seen"].items()}
    data = folder / "data" / label
    empty = Scenario(label, session["backend"], _describe(spec), spec.delay_ms, [], [], seen, folder=data)
    if not data.is_dir():
        return replace(empty, remarks=[f"{data} is missing"])
    promised = [
        files
        for files in complete_runs(data)
        if files.scheme in session["schemes"] and 1 <= files.run <= session["runs"]
    ]
    scenario = _scenario(empty, conditions, recorded_runs(data), promised)
    return replace(scenario, remarks=[*scenario.remarks, *_not_run(scenario, session)])


def _not_run(scenario: Scenario, session: dict[str, Any]) -> list[str]:
    """A remark on the runs that an interrupted evaluation has not run; empty if there are none."""
    ended = {(run.scheme, run.run) for run in scenario.runs}
    ended |= {(failure.scheme, failure.run) for failure in scenario.failures}
    planned = {(scheme, run) for scheme in session["schemes"] for run in range(1, session["runs"] + 1)}
    missing = len(planned - ended)
    return [f"{missing} of {len(planned)} runs have not been run"] if missing else []


def _load_pantheon(folder: Path) -> Evaluation:
    metadata, remarks = _metadata(folder)
    local = metadata.get("mode") == "local"
    link = f"mm-link {metadata.get('uplink_trace', '')} {metadata.get('downlink_trace', '')}"
    commands = [metadata.get("prepend_mm_cmds", ""), link, metadata.get("extra_mm_link_args", "")]
    description = (
        " ".join(str(part) for part in commands if part) if local else metadata.get("remote_desc", "")
    )
    backend = "mahimahi" if local else "path"
    runtime, flows = _number(metadata, "runtime"), _number(metadata, "flows")
    found = recorded_runs(folder)
    if flows == 0:
        found = recorded_link_logs(folder)
        remarks.append("run without tunnels (flows: 0): measured in mm-link's logs, without propagation")
    conditions = Conditions(
        schemes={},
        backend=backend,
        seconds=runtime,
        flows=None if flows is None else max(1, int(flows)),
        interval_s=_number(metadata, "interval") or 0.0,
        tunnel=True,
        delay_ms=0.0,
        spec=None,
    )
    name = absolute(folder).name
    scenario = Scenario(name, backend, str(description), 0, [], [], remarks=remarks, folder=folder)
    session = {"command": f"Pantheon {metadata.get('mode', '')}", "seconds": runtime, "pantheon": metadata}
    return Evaluation(folder, session, [_scenario(scenario, conditions, found, _promised(folder, metadata))])


def _metadata(folder: Path) -> tuple[dict[str, Any], list[str]]:
    """Pantheon's metadata of the test, and remarks; without metadata, path and length of runs are unknown."""
    try:
        metadata = _read_json(folder / PANTHEON_METADATA)
    except InputError as error:
        if not recorded_runs(folder):
            raise
        return {}, [f"{error}: path, length and number of flows are unknown"]
    odd = [name for name in _NUMBERS if metadata.get(name) is not None and _number(metadata, name) is None]
    remarks = [
        f"{PANTHEON_METADATA}: {name} is {excerpt(metadata[name])}, "
        f"should be {_NUMBERS[name][0]:g} to {_NUMBERS[name][1]:g}: taken as unknown"
        for name in odd
    ]
    if "cc_schemes" in metadata and _schemes(metadata) is None:
        remarks.append(
            f"{PANTHEON_METADATA}: cc_schemes should be names, with their runs {_MOST_PROMISED} at most: "
            "which runs are missing is unknown"
        )
    return metadata, remarks


def _number(metadata: dict[str, Any], name: str) -> float | None:
    """A number of the metadata; None: it is missing or implausible."""
    value, (least, most) = metadata.get(name), _NUMBERS[name]
    return float(value) if isinstance(value, int | float) and least <= value <= most else None


def _promised(folder: Path, metadata: dict[str, Any]) -> list[RunFiles]:
    """The runs that the metadata name."""
    first, runs = _number(metadata, "start_run_id"), _number(metadata, "run_times")
    numbers = range(int(first or 1), int(first or 1) + int(runs or 0))
    return [RunFiles(folder, scheme, number) for scheme in _schemes(metadata) or [] for number in numbers]


def _schemes(metadata: dict[str, Any]) -> list[str] | None:
    """The schemes of the metadata; None: they are not listed properly, or have too many runs to look for."""
    schemes, runs = metadata.get("cc_schemes"), _number(metadata, "run_times") or 0
    if not isinstance(schemes, list) or len(schemes) * max(1, runs) > _MOST_PROMISED:
        return None
    names = [each for each in schemes if isinstance(each, str) and 0 < len(each) <= _LONGEST_NAME]
    return list(dict.fromkeys(names)) if len(names) == len(schemes) else None


def _scenario(
    empty: Scenario, conditions: Conditions, found: list[RunFiles], promised: list[RunFiles]
) -> Scenario:
    """`empty` with the runs found, schemes in the session's order; promised runs not found are failures."""
    failed = recorded_failures(empty.folder)
    failures = [
        Failure(files.scheme, files.run, reason, recorded=True)
        for files, reason in zip(failed, map(_reason, failed), strict=True)
    ]
    loaded = list(load_runs(found, conditions))
    failures += [each for each in loaded if isinstance(each, Failure)]
    failures += [
        Failure(files.scheme, files.run, f"{files.data_log.name} is missing")
        for files in promised
        if files not in found and files not in failed
    ]
    rank = {scheme: index for index, scheme in enumerate(conditions.schemes)}
    runs = [each for each in loaded if isinstance(each, RunResult)]
    runs.sort(key=lambda run: (rank.get(run.scheme, len(rank)), run.run))
    remarks = [f"{run.scheme} run {run.run}: {remark}" for run in runs for remark in run.remarks]
    return replace(empty, runs=runs, failures=failures, remarks=[*empty.remarks, *remarks])


def _reason(files: RunFiles) -> str:
    try:
        text = read_bytes(files.failure, "the reason of a failure", _MOST_REASON_BYTES)
    except InputError as error:
        return str(error)
    reason = in_one_line(text.decode(errors="replace"))
    before = reason.startswith(REFUSED_BEFORE)
    return REFUSED + reason.removeprefix(REFUSED_BEFORE) if before else reason


def _describe(spec: Network) -> str:
    """A description of the spec in words."""
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
