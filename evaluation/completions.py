"""Completion times of the flows or answers of a run, kept beside its logs, which do not contain them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from ccgym.envs.errors import InputError, excerpt
from ccgym.envs.logs.event_log import Array
from ccgym.envs.logs.link_log import LinkLog
from ccgym.envs.outside_files import read_json
from ccgym.evaluation.run_files import replaced_text

_LONGEST_MS = 1e12


def write_completions(path: Path, flows: Sequence[LinkLog]) -> None:
    """Writes the times of each flow in ms, in the order of the flows; writes nothing if there are none."""
    if not any(len(flow.completion_ms) for flow in flows):
        return
    with replaced_text(path) as stream:
        json.dump([np.round(flow.completion_ms, 3).tolist() for flow in flows], stream)
        stream.write("\n")


def read_completions(path: Path) -> dict[int, Array]:
    """Reads the times by the number of the flow, from 1; empty: none were written.

    Raises:
        InputError: the file is something else.
    """
    if not path.exists():
        return {}
    content: Any = read_json(path, "the completion times")
    try:
        if not isinstance(content, list):
            raise TypeError("there should be a list for each flow")
        flows = {number: np.array(times, np.float64) for number, times in enumerate(content, 1)}
        if not all(map(_are_times, flows.values())):
            raise ValueError("each flow should have a list of times in ms, above 0")
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{path}: not the completion times of a run: {excerpt(error)}") from None
    return flows


def _are_times(values: Array) -> bool:
    return values.ndim == 1 and bool(((values > 0) & (values < _LONGEST_MS)).all())
