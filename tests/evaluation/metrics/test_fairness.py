"""Jain's index, on shares whose index is known, and over the time of a run."""

import math
from pathlib import Path

import numpy as np
import pytest
from ccgym.envs.logs.link_log import LinkLog
from ccgym.evaluation.metrics.fairness import jain_index
from ccgym.evaluation.metrics.measured_run import (
    MeasuredRun,
    measure_run,
    read_measured_run,
    write_measured_run,
)


@pytest.mark.parametrize(
    ("shares", "index"),
    [
        ([5, 5, 5], 1),
        ([9, 0, 0], 1 / 3),
        # (2 + 1)^2 / (2 (4 + 1))
        ([2, 1], 0.9),
        ([2, 1, math.nan], 0.9),
    ],
)
def test_index_of_known_shares(shares: list[float], index: float) -> None:
    assert jain_index(np.array(shares, float)[:, None]).tolist() == pytest.approx([index])


def steady_flow(begin_ms: int, gap_ms: int, end_ms: int = 4000) -> LinkLog:
    """A packet of 1500 IP bytes every `gap_ms`; each waits 1 ms."""
    times = np.arange(begin_ms, end_ms, gap_ms, dtype=np.int32)
    sizes = np.full(len(times), 1504, np.int32)
    ones = np.ones(len(times), np.int32)
    return LinkLog(times, sizes, times + 1, sizes, ones, np.arange(4000, dtype=np.int32))


@pytest.fixture
def run() -> MeasuredRun:
    """A flow of 6 Mbit/s for 4 s, and one of 3 Mbit/s that joins it for the second half."""
    logs = [steady_flow(0, 2), steady_flow(2000, 4)]
    return measure_run(logs, 10, seconds=4, begins_s=[0, 2], unseen_loss=0)


def test_index_is_that_of_the_flows_that_have_begun(run: MeasuredRun) -> None:
    assert run.fairness is not None
    assert run.fairness.bin_s == [2.5, 3.0, 3.5]
    assert run.fairness.jain == pytest.approx([0.9] * 3, abs=0.002)
    assert run.fairness.mean == pytest.approx(0.9, abs=0.002)


def test_total_is_over_the_window_of_all_flows(run: MeasuredRun) -> None:
    assert [flow.throughput_mbps for flow in run.flows] == pytest.approx([6, 3], rel=0.01)
    # 6 Mbit/s over 4 s and 3 over 2 are 7.5 over 4.
    assert run.total.throughput_mbps == pytest.approx(7.5, rel=0.01)
    assert run.total.p95_delay_ms == 11


def test_flow_without_data_is_named() -> None:
    with pytest.raises(ValueError, match="flow 2: no flow to measure"):
        measure_run(
            [steady_flow(0, 2), steady_flow(0, 2, end_ms=1)], 0, seconds=4, begins_s=[0, 0], unseen_loss=0
        )


def test_figures_without_logs_read_back(run: MeasuredRun, tmp_path: Path) -> None:
    path = tmp_path / "copa_measured_run1.json"
    write_measured_run(run, path)
    assert read_measured_run(path) == run
