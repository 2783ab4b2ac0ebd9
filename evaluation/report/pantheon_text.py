"""The report as text in Pantheon's layout: the test, the table, and the statistics of every run."""

import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ccgym.envs.logs.flow_metrics import FlowMetrics
from ccgym.envs.outside_files import read_bytes
from ccgym.evaluation.metrics.results import Evaluation, RunResult, Scenario
from ccgym.evaluation.metrics.summary import mean_of_known
from ccgym.evaluation.run_files import RunFiles, replaced_text

from .statistics_page import page_head, page_under

MISSING = "N/A"
_MOST_PAGE_BYTES = 1 << 20


def write_text(evaluation: Evaluation, scenario: Scenario, path: Path) -> None:
    """Writes report.txt of one scenario; `ccgym calibrate` reads it back."""
    table = table_rows(evaluation, scenario)
    widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
    lines = [
        "ccgym report, in the layout of a Pantheon Report",
        "",
        *opening(evaluation, scenario),
        "",
        *("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)) for row in table),
        "",
    ]
    for run in scenario.runs:
        lines += [f"Run {run.run}: Statistics of {run.scheme}", "", statistics(scenario, run), ""]
    with replaced_text(path) as stream:
        stream.write("\n".join(lines))


def opening(evaluation: Evaluation, scenario: Scenario) -> list[str]:
    """The opening lines: what was tested, and on which system."""
    session = evaluation.session
    schemes, runs = _counts(evaluation, scenario)
    flows = max((len(run.flows) for run in scenario.runs), default=1)
    seconds, interval = session.get("seconds"), _interval(session)
    place = "Tested in mahimahi" if scenario.backend == "mahimahi" else f"Tested in: {scenario.backend}"
    running = f"running {flows} flow{'' if flows == 1 else 's'}" + (
        f" with {interval:g}-second interval between two flows" if interval else ""
    )
    lines = [
        f"Generated at {time.strftime('%Y-%m-%d %H:%M:%S', time.gmtime())} (UTC).",
        f"{place}: {scenario.description}".rstrip(": "),
        f"Repeated the test of {schemes} congestion control scheme{'' if schemes == 1 else 's'} "
        f"{runs} time{'' if runs == 1 else 's'}.",
        f"Each test lasted for {seconds:g} seconds {running}." if seconds else f"Each test was {running}.",
    ]
    facts = session.get("provenance", {})
    if facts:
        lines += ["", "System info:", *(f"{name} = {fact}" for name, fact in facts.items())]
    git = session.get("pantheon", {}).get("git_summary", "")
    if git:
        lines += ["", "Git summary:", *str(git).splitlines()]
    return lines


def _counts(evaluation: Evaluation, scenario: Scenario) -> tuple[int, int]:
    numbers = [each.run for each in scenario.runs] + [each.run for each in scenario.failures]
    return len(_schemes(evaluation, scenario)), max(numbers, default=0)


def _schemes(evaluation: Evaluation, scenario: Scenario) -> list[str]:
    """The schemes that ran in the scenario or should have."""
    here = {run.scheme for run in scenario.runs} | {failure.scheme for failure in scenario.failures}
    return [scheme for scheme in evaluation.schemes if scheme in here]


def _interval(session: dict[str, Any]) -> float:
    value = session.get("interval", session.get("pantheon", {}).get("interval"))
    return float(value) if isinstance(value, int | float) else 0.0


def table_rows(evaluation: Evaluation, scenario: Scenario) -> list[list[str]]:
    """Pantheon's table: its heads, then a row for each scheme with the means of each flow over the runs."""
    flows = sorted({flow.flow for run in scenario.runs for flow in run.flows}) or [1]
    heads = ("avg tput (Mbit/s)", "95th-%ile delay (ms)", "loss rate (%)")
    rows = [["scheme", "# runs", *(f"mean {head}, flow {flow}" for head in heads for flow in flows)]]
    for scheme in _schemes(evaluation, scenario):
        runs = [run for run in scenario.runs if run.scheme == scheme]
        rows.append([scheme, str(len(runs)), *_cells(runs, flows)])
    return rows


def _cells(runs: list[RunResult], flows: list[int]) -> Iterator[str]:
    for name, factor in (("throughput_mbps", 1), ("p95_delay_ms", 1), ("loss", 100)):
        for number in flows:
            own = [flow.metrics for run in runs for flow in run.flows if flow.flow == number]
            mean = factor * mean_of_known([getattr(metrics, f"pantheon_{name}") for metrics in own])
            yield MISSING if math.isnan(mean) else f"{mean:.2f}"


def statistics(scenario: Scenario, run: RunResult) -> str:
    """The statistics page of a run, with the times of its own page."""
    page = RunFiles(scenario.folder, run.scheme, run.run).statistics
    text = read_bytes(page, "the page", _MOST_PAGE_BYTES) if page.is_file() else b""
    head = page_head(text.decode(errors="replace"))
    flows: dict[int, FlowMetrics] = {flow.flow: flow.metrics for flow in run.flows}
    return page_under(head, flows, run.total, time.time()).strip("\n")
