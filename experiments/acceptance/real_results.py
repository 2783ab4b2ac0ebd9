"""The runs of a policy in real mahimahi, read back from their folder, and the checks that they make."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from ccgym.envs.errors import InputError
from ccgym.envs.logs.flow_metrics import OPPORTUNITY_IP_BYTES
from ccgym.evaluation.host_load import BUSY_CORES, read_others_cores
from ccgym.evaluation.metrics.load_runs import RunResult
from ccgym.evaluation.metrics.results import Scenario, load_evaluation
from ccgym.evaluation.run_files import RunFiles, read_merged_log
from ccgym.evaluation.session_file import label_of_policy, read_session
from ccgym.experiments.check import Check
from ccgym.experiments.link_origin import origin_by_answers

from .real_bars import BARS, BBR, COPA, CUBIC, FIELD_EMULATOR, Contest, against, beside_cubic, in_field

FIELD, CELLULAR, CONTESTED = "field", "cellular", "contested"
RIVALS: Mapping[str, tuple[str, ...]] = {FIELD: (), "calibrated": (BBR,), CELLULAR: (BBR, COPA)}
"""By group of emulators, each of which is an evaluation: the rivals, each alone as the policy is."""


@dataclass(frozen=True)
class RealResults:
    """The results of all runs of one policy."""

    checks: list[Check]
    session: dict[str, Any]
    """The description of the session."""
    most_others_cores: float
    """Most cores that other programs took during a run."""


@dataclass(frozen=True)
class _Cell:
    """The runs of one scheme, or of the policy and a Cubic together, over one emulator."""

    folder: Path
    runs: list[RunResult]
    seen: str
    """Whether the scheme was trained on the emulator, as the evaluation says."""

    @property
    def figures(self) -> list[tuple[float, float]]:
        return [run.total.compared for run in self.runs]

    @property
    def others_cores(self) -> list[float]:
        return [read_others_cores(self._files(run).load) or 0.0 for run in self.runs]

    def contests(self, seconds: float) -> list[Contest]:
        return [contest_of(self._files(run).data_log, run.total.start_ms, seconds) for run in self.runs]

    def _files(self, run: RunResult) -> RunFiles:
        return RunFiles(self.folder, run.scheme, run.run)


def contest_of(log: Path, start_ms: float, seconds: float) -> Contest:
    """The second half of a run of `seconds`; in its merged log the Cubic is flow 1 and the policy flow 2.

    Raises:
        InputError: the log is broken.
    """
    counted_ms = (start_ms + 500 * seconds, start_ms + 1000 * seconds)
    read = read_merged_log(log)
    flows = [read.flows.get(number, read.silent_flow) for number in (1, 2)]
    cubics, ours = (
        float(np.histogram(flow.departure_ms, counted_ms, weights=flow.departure_bytes)[0][0])
        for flow in flows
    )
    opportunities = np.histogram(read.silent_flow.opportunity_ms, counted_ms)[0][0]
    usable = max(1, opportunities) * OPPORTUNITY_IP_BYTES
    return Contest(share=ours / max(1.0, cubics + ours), used=(cubics + ours) / usable)


def policy_label(folder: Path, policy_file: Path) -> str:
    """The label of this policy's runs in a folder.

    Raises:
        InputError: there are no runs of it.
    """
    _check_holds(folder, FIELD)
    session = read_session(folder / FIELD / "session.json")
    label = label_of_policy(session, policy_file)
    if label is None:
        others = ", ".join(session["schemes"])
        raise InputError(f"{folder}: holds runs of another policy ({others}) than {policy_file}")
    return label


def _check_holds(folder: Path, name: str) -> None:
    if not (folder / name / "session.json").is_file():
        raise InputError(
            f"{folder}: holds no runs of `ccgym reproduce real-mahimahi`: {name}/session.json is missing"
        )


def read_results(folder: Path, policy: str) -> RealResults:
    """Reads all runs of the policy with this label.

    Raises:
        InputError: a run is missing.
    """
    cells: dict[tuple[str, str], _Cell] = {}
    for group, rivals in RIVALS.items():
        if group != CELLULAR or (folder / group).exists():
            cells |= _read(folder, group, (policy, *rivals))[0]
    if (FIELD_EMULATOR, policy) not in cells:
        raise InputError(f"{folder}: {FIELD} has other emulators than `ccgym reproduce real-mahimahi` runs")
    contested, session = _read(folder, CONTESTED, (f"{CUBIC}+{policy}",))
    checks = [*_checks_alone(cells, policy), *_checks_contested(contested, session["seconds"])]
    others_cores = [cores for cell in (*cells.values(), *contested.values()) for cores in cell.others_cores]
    return RealResults(checks, session, max(others_cores))


def _read(
    folder: Path, name: str, schemes: tuple[str, ...]
) -> tuple[dict[tuple[str, str], _Cell], dict[str, Any]]:
    """The cells of an evaluation by emulator and scheme, and its session."""
    _check_holds(folder, name)
    evaluation = load_evaluation(folder / name)
    missing = [
        text
        for scenario in evaluation.scenarios
        for scheme in schemes
        for text in _missing(scenario, scheme, evaluation.session["runs"])
    ]
    if missing:
        raise InputError(
            f"{folder}: runs of {name} are missing, {len(missing)} in all, as {missing[0]}: "
            f"`ccgym reproduce real-mahimahi --out {folder}` goes on"
        )
    cells = {
        (scenario.label, scheme): _Cell(
            scenario.folder,
            [run for run in scenario.runs if run.scheme == scheme],
            scenario.seen.get(scheme, "no"),
        )
        for scenario in evaluation.scenarios
        for scheme in schemes
    }
    return cells, evaluation.session


def _missing(scenario: Scenario, scheme: str, runs: int) -> list[str]:
    there = {run.run for run in scenario.runs if run.scheme == scheme}
    reasons = {each.run: f" ({each.reason})" for each in scenario.failures if each.scheme == scheme}
    return [
        f"{scenario.label} {scheme} run {run}{reasons.get(run, '')}"
        for run in range(1, runs + 1)
        if run not in there
    ]


def _checks_alone(cells: Mapping[tuple[str, str], _Cell], policy: str) -> Iterator[Check]:
    field = cells[FIELD_EMULATOR, policy]
    yield _told(in_field(field.figures), field)
    for bar in BARS:
        if (bar.emulator, bar.rival) in cells:
            ours, theirs = cells[bar.emulator, policy], cells[bar.emulator, bar.rival]
            yield _told(against(bar, ours.figures, theirs.figures), ours, theirs)


def _checks_contested(cells: Mapping[tuple[str, str], _Cell], seconds: float) -> Iterator[Check]:
    for (emulator, _), cell in cells.items():
        yield _told(beside_cubic(emulator, cell.contests(seconds)), cell)


def _told(check: Check, *cells: _Cell) -> Check:
    """The check, with the kind of its links and the number of its runs during which the machine was busy."""
    check = replace(check, links=origin_by_answers([cell.seen for cell in cells]))
    loads = [cores for cell in cells for cores in cell.others_cores]
    busy = sum(cores > BUSY_CORES for cores in loads)
    if not busy:
        return check
    note = f"busy machine beside {busy} of {len(loads)}: others took up to {max(loads):.1f} cores"
    return replace(check, measured=f"{check.measured}; {note}")
