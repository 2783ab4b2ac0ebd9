"""Runs in virtual time on a Ray cluster, with the same figures as on this machine, to the bit.

Each run is a task. Policies travel with the task, and the contents of its files come back. If its worker or
machine is lost, a task runs again elsewhere.
"""

import tempfile
from collections import deque
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass, replace
from pathlib import Path

from ccgym.envs.errors import InputError
from ccgym.envs.logs.flow_metrics import FlowMetrics
from ccgym.envs.outside_files import replace_file
from ccgym.evaluation.backends.make_backend import make_backend

from .executors import check_travels, policies_of, with_policies
from .session import Outcome, Plan, PlannedRun, carry_out, emulator_folder

MOST_AT_ONCE = 1000
"""Most tasks that are submitted and not finished."""


@dataclass(frozen=True)
class _Done:
    metrics: FlowMetrics | None
    failure: str
    files: dict[str, bytes]


def open_cluster(plan: Plan, address: str) -> Executor:
    """Connects to the cluster.

    Raises:
        InputError: a part of the plan runs on this machine only, or there is no cluster.
    """
    if plan.backend != "twin":
        raise InputError(f"--ray: the backend {plan.backend} runs on this machine; leave it out")
    check_travels(plan.schemes)
    from ccgym.training.executors import RayExecutor  # with it comes PyTorch, which takes seconds

    return RayExecutor(address)


def run_on_cluster(
    plan: Plan, folder: Path, planned_runs: list[PlannedRun], cluster: Executor
) -> Iterator[Outcome]:
    """As `run_session`, on the cluster: yields outcomes as they are ready, and disconnects at the end."""
    waiting, running = deque(planned_runs), dict[Future[_Done], PlannedRun]()
    with cluster:
        while waiting or running:
            while waiting and len(running) < MOST_AT_ONCE:
                planned = waiting.popleft()
                alone = replace(plan, emulators=[], schemes=[planned.scheme])
                running[cluster.submit(_run_there, alone, planned, policies_of([planned.scheme]))] = planned
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                yield _keep(running.pop(future), folder, future.result())


def _run_there(plan: Plan, planned: PlannedRun, policies: dict[Path, bytes]) -> _Done:
    """The task of a worker: runs in a temporary folder and returns the contents of its files."""
    with with_policies([planned.scheme], policies) as (scheme,), tempfile.TemporaryDirectory() as name:
        there = Path(name)
        written = emulator_folder(there, planned.emulator.label)
        written.mkdir(parents=True)
        outcome = carry_out(plan, there, replace(planned, scheme=scheme), make_backend(plan.backend))
        files = {file.name: file.read_bytes() for file in written.iterdir()}
        return _Done(outcome.metrics, outcome.failure, files)


def _keep(planned: PlannedRun, folder: Path, result: _Done) -> Outcome:
    """Writes the files of a run; the statistics page last, as it marks the run as complete."""
    files = planned.files(folder)
    for name, content in sorted(result.files.items(), key=lambda each: each[0] == files.statistics.name):
        replace_file(files.folder / name, lambda fresh, content=content: fresh.write_bytes(content))  # type: ignore[misc]
    if result.metrics is not None:
        files.failure.unlink(missing_ok=True)
    return Outcome(planned, result.metrics, result.failure)
