"""`report.csv`: a row for each flow of each run, and one of all flows together where a run has several."""

import csv
from collections.abc import Iterator
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from ccgym.envs.logs.flow_metrics import FlowMetrics
from ccgym.evaluation.metrics.results import Evaluation, RunResult
from ccgym.evaluation.metrics.summary import known
from ccgym.evaluation.run_files import replaced_text

_HEAD = ("emulator", "backend", "scheme", "run", "flow", "flow_scheme", "jain_index")


def write_table(evaluation: Evaluation, path: Path) -> None:
    """Writes `report.csv`."""
    with replaced_text(path) as stream:
        columns = [*_HEAD, *(field.name for field in fields(FlowMetrics))]
        writer = csv.DictWriter(stream, columns, lineterminator="\n")
        writer.writeheader()
        for scenario in evaluation.scenarios:
            place = {"emulator": scenario.label, "backend": scenario.backend}
            writer.writerows(place | row for run in scenario.runs for row in _rows(run))


def _rows(run: RunResult) -> Iterator[dict[str, Any]]:
    whose = {"scheme": run.scheme, "run": run.run}
    for flow in run.flows:
        yield whose | {"flow": flow.flow, "flow_scheme": flow.flow_scheme} | _figures(flow.metrics)
    if len(run.flows) > 1:
        index = "" if run.fairness is None else run.fairness.mean
        yield whose | {"flow": "all", "flow_scheme": "", "jain_index": index} | _figures(run.total)


def _figures(metrics: FlowMetrics) -> dict[str, float | None]:
    return {name: known(value) for name, value in asdict(metrics).items()}
