"""The metrics that controllers publish, as a table for plots."""

from pathlib import Path
from typing import Any

import numpy as np
from ccgym.envs import _core
from ccgym.envs.outside_files import replace_file

from .event_log import Array


def metrics_table(record: _core.FlowRecord) -> tuple[list[str], Array]:
    """The metrics of a flow's controller, every 10 ms while the flow was active.

    Returns:
        The columns' names, `time_ms`, `cwnd_packets` and each metric with its unit in brackets, and the rows,
        float64 (samples, columns).
    """
    heads, columns = ["time_ms", "cwnd_packets"], [record.cwnd_ms, record.cwnd_packets]
    for name, (unit, values) in record.metrics.items():
        heads.append(f"{name} [{unit}]" if unit else name)
        columns.append(values)
    return heads, np.column_stack(columns)


def write_metrics(record: _core.FlowRecord, file: Path) -> None:
    """Writes `metrics_table` as tab-separated values, a head above them."""
    heads, rows = metrics_table(record)
    settings: dict[str, Any] = {"fmt": "%.9g", "delimiter": "\t", "header": "\t".join(heads), "comments": ""}
    replace_file(file, lambda fresh: np.savetxt(fresh, rows, **settings))
