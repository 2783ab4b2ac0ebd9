"""Large logs are read by several processes."""

import multiprocessing
import os
from pathlib import Path

import pytest
from ccgym.evaluation.metrics import load_runs
from ccgym.evaluation.run_files import RunFiles
from ccgym.tests.signals import blocks_interrupts


def test_those_that_read_logs_leave_interrupts_to_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load_runs, "WORTH_WORKERS_BYTES", 0)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1})
    runs = [RunFiles(tmp_path, "copa", run) for run in (1, 2)]
    for files in runs:
        files.measured.write_text("{}")
    conditions = load_runs.Conditions({}, "twin", 1.0, 1, 0.0, False, 0.0, None)
    loaded = load_runs.load_runs(runs, conditions)
    next(loaded)
    readers = multiprocessing.active_children()
    assert readers
    assert all(blocks_interrupts(reader.pid) for reader in readers)
    assert len(list(loaded)) == 1
