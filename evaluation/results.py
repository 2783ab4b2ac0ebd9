"""What an evaluation measured, read back from its data directory, or from one of Pantheon's."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ccgym.envs.emulator_spec import EmulatorSpec
from ccgym.envs.errors import InputError
from ccgym.envs.flow_metrics import FlowMetrics, measure
from ccgym.envs.link_log import LinkLog

from .run_files import RunFiles, read_merged_log, recorded_failures, recorded_runs
from .time_series import TimeSeries, time_series


@dataclass(frozen=True)
class FlowResult:
    """One flow of one run."""

    scheme: str
    run: int
    flow: int
    metrics: FlowMetrics
    series: TimeSeries


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
    flows: list[FlowResult]
    failures: list[Failure]


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
            seen.update(dict.fromkeys(flow.scheme for flow in scenario.flows))
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
        spec = EmulatorSpec.model_validate_json(json.dumps(fields))
        scenarios.append(
            _scenario(
                folder / "data" / label,
                Scenario(label, session["backend"], _describe(spec), spec.delay_ms, [], []),
                session["schemes"],
                session["seconds"],
                spec.uplink.loss,
            )
        )
    return Evaluation(folder, session, scenarios)


def _load_pantheon(folder: Path) -> Evaluation:
    metadata = _read_json(folder / "pantheon_metadata.json")
    local = metadata.get("mode") == "local"
    link = f"mm-link {metadata.get('uplink_trace', '')} {metadata.get('downlink_trace', '')}"
    commands = [metadata.get("prepend_mm_cmds", ""), link, metadata.get("extra_mm_link_args", "")]
    description = " ".join(part for part in commands if part) if local else metadata.get("remote_desc", "")
    scenario = Scenario(folder.resolve().name, "mahimahi" if local else "path", description, 0, [], [])
    session = {"command": f"Pantheon {metadata.get('mode', '')}", "seconds": metadata.get("runtime")}
    return Evaluation(folder, session, [_scenario(folder, scenario, [], metadata.get("runtime"), 0)])


def _scenario(
    folder: Path, empty: Scenario, schemes: Iterable[str], seconds: float | None, loss: float
) -> Scenario:
    """`empty` with the runs found in `folder`, schemes in the order of `schemes`."""
    failures = [
        Failure(files.scheme, files.run, files.failure.read_text().strip())
        for files in recorded_failures(folder)
    ]
    flows = []
    for files in recorded_runs(folder):
        try:
            flows += _measure_run(files, empty.delay_ms, seconds, loss)
        except InputError:
            raise
        except ValueError as error:
            failures.append(Failure(files.scheme, files.run, str(error)))
    rank = {scheme: place for place, scheme in enumerate(schemes)}
    flows.sort(key=lambda flow: (rank.get(flow.scheme, len(rank)), flow.run, flow.flow))
    return replace(empty, flows=flows, failures=failures)


def _measure_run(files: RunFiles, delay_ms: float, seconds: float | None, loss: float) -> list[FlowResult]:
    results = []
    for flow, log in read_merged_log(files.data_log).items():
        at_link = _before_propagation(log, delay_ms)
        metrics = measure(at_link, delay_ms, seconds=seconds, loss_probability=loss)
        results.append(
            FlowResult(files.scheme, files.run, flow, metrics, time_series(at_link, metrics, delay_ms))
        )
    return results


def _before_propagation(log: LinkLog, delay_ms: float) -> LinkLog:
    return replace(
        log, departure_ms=log.departure_ms - delay_ms, departure_delay_ms=log.departure_delay_ms - delay_ms
    )


def _describe(spec: EmulatorSpec) -> str:
    """The spec in a reader's words."""
    link = spec.uplink
    rate = f"trace {Path(link.trace).name}" if link.trace else f"{link.rate_mbps:g} Mbit/s"
    if link.arrivals == "poisson":
        rate += " Poisson"
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
    try:
        content = json.loads(path.read_text())
    except (OSError, json.JSONDecodeError) as error:
        raise InputError(f"{path}: not a readable JSON file: {error}") from None
    if not isinstance(content, dict):
        raise InputError(f"{path}: expected a JSON object")
    return content
