"""The figures of a run: of each flow, of all flows together, and their fairness."""

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ccgym.envs.errors import InputError, excerpt
from ccgym.envs.logs.flow_metrics import FlowMetrics, NothingToMeasureError, measure
from ccgym.envs.logs.link_log import LinkLog, merged_log
from ccgym.envs.outside_files import read_json
from ccgym.evaluation.run_files import replaced_text

from .fairness import Fairness, fairness

_MOST = 1e15
"""The largest figure: beyond it a mean of several would have no digits left."""


@dataclass(frozen=True)
class MeasuredRun:
    """Metrics of one run."""

    flows: list[FlowMetrics]
    """Metrics of each flow, in the order in which flows began."""
    total: FlowMetrics
    """Metrics of all packets together; for a single flow, its own."""
    fairness: Fairness | None


def measure_run(
    logs: list[LinkLog],
    delay_ms: float,
    *,
    seconds: float | None,
    begins_s: Sequence[float] = (0.0,),
    unseen_loss: float,
    run_s: float | None = None,
) -> MeasuredRun:
    """Measures the flows of a run; see `measure`.

    Args:
        logs: the log of each flow, with delays within the link.
        delay_ms: one-way propagation delay outside the link.
        seconds: from the beginning of the first flow to the end of all flows.
        begins_s: when each flow begins, in s after the first planned flow.
        unseen_loss: loss probability of a stage behind the place where the logs were taken.
        run_s: how long the first flow tried to send; None: it may have ended by itself.

    Raises:
        NothingToMeasureError: a flow has nothing to measure.
    """
    flows = []
    for index, (log, begin_s) in enumerate(zip(logs, begins_s, strict=True)):
        own_s = None if seconds is None else seconds - begin_s
        try:
            own_run_s = None if run_s is None else max(0.0, run_s - begin_s)
            flows.append(measure(log, delay_ms, seconds=own_s, loss_probability=unseen_loss, run_s=own_run_s))
        except NothingToMeasureError as error:
            raise NothingToMeasureError(
                f"flow {index + 1}: {error}" if len(logs) > 1 else str(error)
            ) from None
    if len(flows) == 1:
        return MeasuredRun(flows, flows[0], None)
    total = measure(merged_log(logs), delay_ms, seconds=seconds, loss_probability=unseen_loss, run_s=run_s)
    return MeasuredRun(flows, total, fairness(logs, flows, total))


def write_measured_run(run: MeasuredRun, path: Path) -> None:
    """Writes the figures of a run whose logs are not kept."""
    content = {
        "flows": [_to_json(flow) for flow in run.flows],
        "total": _to_json(run.total),
        "fairness": None if run.fairness is None else asdict(run.fairness),
    }
    with replaced_text(path) as stream:
        json.dump(content, stream, allow_nan=False)
        stream.write("\n")


def read_measured_run(path: Path) -> MeasuredRun:
    """Reads what `write_measured_run` wrote.

    Raises:
        InputError: the file is something else, or of another version.
    """
    content: Any = read_json(path, "the figures")
    try:
        return MeasuredRun(
            [_from_json(flow) for flow in content["flows"]],
            _from_json(content["total"]),
            None if content["fairness"] is None else _fairness_of(content["fairness"]),
        )
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise InputError(f"{path}: not the figures of a run: {excerpt(error)}") from None


def _to_json(metrics: FlowMetrics) -> dict[str, float | None]:
    return {name: None if math.isnan(value) else value for name, value in asdict(metrics).items()}


def _fairness_of(content: dict[str, list[float]]) -> Fairness:
    read = Fairness([float(end_s) for end_s in content["bin_s"]], [float(index) for index in content["jain"]])
    if len(read.bin_s) != len(read.jain) or not all(0 < index < 1.001 for index in read.jain):
        raise ValueError("fairness should be an index above 0, up to 1, for each bin")
    return read


def _from_json(figures: dict[str, float | None]) -> FlowMetrics:
    values = {name: math.nan if value is None else float(value) for name, value in figures.items()}
    metrics = FlowMetrics(**values)
    if any(abs(value) > _MOST for value in values.values()) or not all(each > 0 for each in metrics.compared):
        raise ValueError(f"throughput and p95 delay should be above 0, and no figure beyond {_MOST:g}")
    return metrics
