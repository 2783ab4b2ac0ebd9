"""Runs in virtual time on all cores, in worker processes: if one crashes, only its run is lost."""

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

from ccgym.envs.host.memory import outside_code_limited
from ccgym.evaluation.backends.make_backend import make_backend

from .processes import Lost, Work, run_in_processes
from .session import Outcome, Plan, PlannedRun, carry_out, failed, log_bytes

STALL_S = 60.0
"""A run stalls if it takes so much more processor time than its length in virtual time."""


def run_in_workers(plan: Plan, folder: Path, planned_runs: list[PlannedRun]) -> Iterator[Outcome]:
    """Runs the planned runs on all cores and yields outcomes as they are ready; see `run_session`."""
    cores = len(os.sched_getaffinity(0))
    for planned, outcome in run_in_processes(work_of(plan, folder), planned_runs, cores):
        if isinstance(outcome, Lost):
            yield failed(planned, planned.files(folder), outcome.reason)
        else:
            yield outcome


def work_of(plan: Plan, folder: Path) -> Work[PlannedRun, Outcome]:
    """The runs of a plan, as the work of processes."""
    return Work(_begin, (plan, folder), plan.seconds + STALL_S)


def _begin(plan: Plan, folder: Path) -> Callable[[PlannedRun], Outcome]:
    backend = make_backend(plan.backend)

    def run(planned: PlannedRun) -> Outcome:
        with _limited(plan, planned):
            return carry_out(plan, folder, planned, backend)

    return run


def _limited(plan: Plan, planned: PlannedRun) -> AbstractContextManager[None]:
    """Limits the memory of a run with code from outside; other runs have the worker's share."""
    if not planned.scheme.has_outside_code:
        return nullcontext()
    return outside_code_limited(log_bytes(planned.emulator.spec, plan.seconds))
