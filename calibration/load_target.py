"""Reads what was measured on a path, from whatever file or folder it stands in."""

import csv
import math
from collections.abc import Iterable
from io import StringIO
from pathlib import Path
from typing import Any

from ccgym.envs.errors import InputError, excerpt
from ccgym.envs.outside_files import MOST_TEXT_BYTES, absolute, parse_yaml, read_bytes, read_json
from ccgym.evaluation.backends.backend import measured_end_to_end
from ccgym.evaluation.metrics.results import Evaluation, RunResult, load_evaluation
from ccgym.evaluation.run_files import PANTHEON_METADATA
from ccgym.evaluation.schemes import Kind, known_schemes, select_schemes

from .pantheon_report import is_report, read_report
from .scheme_names import stable_name
from .target import WITHOUT_FIGURES, Measured, Run, Target, checked_run, means

_COLUMNS = ("scheme", "throughput_mbps", "p95_delay_ms", "loss")
_OPTIONAL = ("throughput_spread_mbps", "p95_delay_spread_ms", "runs")
MOST_RUNS = 1_000_000
MOST_SPREAD = 1000.0
"""Largest standard deviation in means: so many runs of positive figures can have no larger one."""
_SHORT = 0.8
"""Share of the session: Pantheon discards a run whose flow lasted less."""


def load_target(path: Path) -> Target:
    """What was measured: a data directory, a report or a `pantheon_perf.json` of Pantheon's, or a table.

    Raises:
        InputError: it is none of these, or what it says is impossible.
    """
    if path.is_dir():
        perf = path / "pantheon_perf.json"
        whole = any((path / name).is_file() for name in ("session.json", PANTHEON_METADATA))
        return _of_perf(perf) if perf.is_file() and not whole else _of_folder(path)
    text = _text(path)
    if not text.strip():
        raise InputError(f"{path}: the file is empty; expected measurements of a path")
    if path.suffix == ".json":
        return _of_perf(path)
    return read_report(path, text) if is_report(text) else _of_table(path, text)


def _text(path: Path) -> str:
    try:
        return read_bytes(path, "the target", MOST_TEXT_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{path}: not a text file; expected measurements of a path") from None


def _of_folder(folder: Path) -> Target:
    evaluation = load_evaluation(folder)
    if len(evaluation.scenarios) != 1:
        labels = ", ".join(scenario.label for scenario in evaluation.scenarios) or "none"
        raise InputError(f"{folder}: holds {labels}; a target is the measurements of one path")
    scenario, seconds = evaluation.scenarios[0], float(evaluation.session.get("seconds") or 30.0)
    left_out: dict[str, str] = {}
    if scenario.failures:
        left_out[f"{len(scenario.failures)} runs"] = f"unreadable: {scenario.failures[0].reason}"
    whole = [run for run in scenario.delivered.runs if run.total.duration_ms >= 1000 * _SHORT * seconds]
    if len(whole) < len(scenario.runs):
        left_out[f"{len(scenario.runs) - len(whole)} short runs"] = (
            f"shorter than {100 * _SHORT:g} % of {seconds:g} s, or nothing came through"
        )
    schemes = dict.fromkeys(run.scheme for run in whole)
    controllers, without_controller = _controllers(evaluation, schemes)
    left_out |= without_controller
    flows = max((len(run.flows) for run in whole), default=1)
    tunnel = scenario.backend == "path" or bool(evaluation.session.get("tunnel"))
    ours = "backend" in evaluation.session
    return Target(
        absolute(folder).name,
        means([checked_run(_run(run, ours=ours), str(folder)) for run in whole], controllers),
        left_out,
        seconds,
        flows,
        float(evaluation.session.get("interval") or 0.0),
        at_link=ours and not measured_end_to_end(scenario.backend, flows, tunnel),
    )


def _run(run: RunResult, *, ours: bool) -> Run:
    total = run.total
    if ours:
        return Run(run.scheme, total.throughput_mbps, total.p95_delay_ms, total.loss)
    return Run(run.scheme, total.pantheon_throughput_mbps, total.pantheon_p95_delay_ms, total.pantheon_loss)


def _controllers(evaluation: Evaluation, schemes: Iterable[str]) -> tuple[dict[str, str], dict[str, str]]:
    """The controllers of the twin by scheme, and the reasons by those schemes that have none."""
    controllers, reasons = {}, {}
    for scheme in schemes:
        controller, reason = _controller(evaluation, scheme)
        if controller is None:
            reasons[scheme] = reason
        else:
            controllers[scheme] = controller
    return controllers, reasons


def _controller(evaluation: Evaluation, scheme: str) -> tuple[str | None, str]:
    """The controller of the twin for a scheme of a data directory, or None and the reason."""
    if "backend" in evaluation.session:
        return _our_controller(evaluation.session["schemes"][scheme].get("name", scheme))
    return stable_name(scheme)


def _our_controller(name: str) -> tuple[str | None, str]:
    """The controller of the twin for a scheme by our own names."""
    controller, _ = stable_name(name)
    if controller:
        return controller, ""
    known = {scheme.name for scheme in known_schemes() if scheme.kind in (Kind.NATIVE, Kind.POLICY)}
    if name.partition(":")[0] not in known:
        return None, "not among our schemes"
    try:
        return select_schemes(name)[0].controller, ""
    except InputError as error:
        return None, str(error)


def _of_perf(path: Path) -> Target:
    """Pantheon's {scheme: {run: {"all": {"tput", "delay", "loss"}}}}."""
    content = read_json(path, "the target", MOST_TEXT_BYTES)
    if not isinstance(content, dict):
        raise InputError(f"{path}: expected Pantheon's {{scheme: {{run: {{all: {{tput, delay, loss}}}}}}}}")
    runs, broken = [], 0
    for scheme, of_scheme in content.items():
        for figures in of_scheme.values() if isinstance(of_scheme, dict) else [None]:
            run = _perf_run(scheme, figures)
            broken += run is None
            runs += [] if run is None else [checked_run(run, str(path))]
    if not runs:
        raise InputError(f"{path}: no run in it has figures under all: tput, delay, loss")
    names = {run.scheme: stable_name(run.scheme) for run in runs}
    left_out = {scheme: reason for scheme, (ours, reason) in names.items() if ours is None}
    if broken:
        left_out[f"{broken} runs"] = WITHOUT_FIGURES
    of_schemes = [each for each in content.values() if isinstance(each, dict)]
    flows = max(len(each) - 1 for own in of_schemes for each in own.values() if isinstance(each, dict))
    controllers = {scheme: ours for scheme, (ours, _) in names.items() if ours is not None}
    return Target(path.stem, means(runs, controllers), left_out, flows=max(1, flows))


def _perf_run(scheme: str, figures: Any) -> Run | None:
    total = figures.get("all") if isinstance(figures, dict) else None
    if not isinstance(total, dict):
        return None
    try:
        if any(isinstance(figure, bool) for figure in total.values()):
            return None
        loss = None if total.get("loss") is None else float(total["loss"])
        run = Run(scheme, float(total["tput"]), float(total["delay"]), loss)
        return None if run.throughput_mbps == 0 else run
    except (KeyError, TypeError, ValueError, OverflowError):
        return None


def _of_table(path: Path, text: str) -> Target:
    """A row for each scheme: CSV with a head line, or YAML: scheme to figures."""
    rows = _csv_rows(path, text) if path.suffix == ".csv" else _yaml_rows(path, text)
    measured, left_out = [], {}
    seen: set[str] = set()
    for row in rows:
        scheme = str(row.get("scheme", "")).strip()
        if not scheme:
            raise InputError(f"{path}: a row without a scheme")
        kind, colon, arguments = scheme.partition(":")  # of which some are paths
        key = f"{kind.lower()}{colon}{arguments}"
        if key in seen:
            raise InputError(f"{path}: scheme {excerpt(scheme)} is named twice; expected one row each")
        seen.add(key)
        known = _known(path, row)
        controller, reason = _our_controller(scheme)
        if controller is None:
            left_out[excerpt(scheme)] = reason
        else:
            measured.append(_measured(path, scheme, controller, known))
    return Target(path.stem, tuple(measured), left_out)


def _csv_rows(path: Path, text: str) -> list[dict[str, Any]]:
    reader = csv.DictReader(StringIO(text), strict=True)
    try:
        rows = [dict(row) for row in reader]
    except csv.Error as error:
        raise InputError(f"{path}:{reader.line_num}: not valid CSV: {error}") from None
    head = [name or "" for name in reader.fieldnames or ()]
    if not set(_COLUMNS[:3]) <= set(head):
        raise InputError(
            f"{path}: its columns are {excerpt(', '.join(head))}; expected {', '.join(_COLUMNS)}"
        )
    twice = next((name for name in head if head.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"{path}: its head line has the column {excerpt(twice)!r} twice")
    if any(None in row for row in rows):
        raise InputError(f"{path}: a row has more than the {len(head)} values of its head line")
    return [{key: value for key, value in row.items() if value not in (None, "")} for row in rows]


def _yaml_rows(path: Path, text: str) -> list[dict[str, Any]]:
    content = parse_yaml(text, str(path))
    if not isinstance(content, dict) or not all(isinstance(row, dict) for row in content.values()):
        raise InputError(
            f"{path}: neither a report of Pantheon's nor a table of scheme: {{{', '.join(_COLUMNS[1:])}}}"
        )
    return [{"scheme": scheme, **row} for scheme, row in content.items()]


def _known(path: Path, row: dict[str, Any]) -> dict[str, float]:
    """The figures of a row, as numbers."""
    unknown = row.keys() - {*_COLUMNS, *_OPTIONAL}
    if unknown:
        raise InputError(
            f"{path}: {excerpt(row['scheme'])}: unknown key {excerpt(sorted(map(str, unknown))[0])}; "
            f"known: {', '.join((*_COLUMNS, *_OPTIONAL))}"
        )
    missing = [name for name in _COLUMNS[1:3] if name not in row]
    if missing:
        raise InputError(f"{path}: {excerpt(row['scheme'])}: {missing[0]} is missing")
    known = {}
    for key, value in row.items():
        if key == "scheme":
            continue
        try:
            known[key] = math.nan if isinstance(value, bool) else float(value)
        except (TypeError, ValueError, OverflowError):
            known[key] = math.nan
        if not math.isfinite(known[key]) or (key in _OPTIONAL and known[key] < 0):
            raise InputError(
                f"{path}: {excerpt(row['scheme'])}: expected a number as {key}, got {excerpt(value)}"
            )
    return known


def _measured(path: Path, scheme: str, controller: str, known: dict[str, float]) -> Measured:
    run = Run(scheme, known["throughput_mbps"], known["p95_delay_ms"], known.get("loss"))
    checked_run(run, str(path))
    runs = int(known.get("runs", 1))
    if runs != known.get("runs", 1) or not 1 <= runs <= MOST_RUNS:
        raise InputError(
            f"{path}: {excerpt(scheme)}: runs {known['runs']:g}; expected a whole number, 1 to {MOST_RUNS}"
        )
    for name, spread in zip(_COLUMNS[1:3], _OPTIONAL, strict=False):
        if known.get(spread, 0) > MOST_SPREAD * known[name]:
            raise InputError(
                f"{path}: {excerpt(scheme)}: {spread} {known[spread]:g} is above {MOST_SPREAD:g} times the "
                "mean"
            )
    errors = [
        known[name] / math.sqrt(runs) if name in known else None
        for name in ("throughput_spread_mbps", "p95_delay_spread_ms")
    ]
    return Measured(
        scheme, controller, run.throughput_mbps, run.p95_delay_ms, run.loss, errors[0], errors[1], runs
    )
