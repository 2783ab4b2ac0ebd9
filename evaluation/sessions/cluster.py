"""Flights in virtual time on a Ray cluster: the figures are those of this machine, to the bit.

A flight is a task. What it leaves comes back as the contents of its files; policies travel with it. One whose
worker or machine is lost is flown again elsewhere.
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
from .session import Outcome, Plan, PlannedRun, emulator_folder, fly_run

MOST_AT_ONCE = 1000
"""Tasks that are given out and have not come back."""


@dataclass(frozen=True)
class _Flown:
    metrics: FlowMetrics | None
    failure: str
    files: dict[str, bytes]


def open_cluster(plan: Plan, address: str) -> Executor:
    """The cluster, connected.

    Raises:
        InputError: something of the plan flies on this machine only, or there is no cluster.
    """
    if plan.backend != "twin":
        raise InputError(f"--ray: the backend {plan.backend} flies on this machine; leave it out")
    check_travels(plan.schemes)
    from ccgym.training.executors import RayExecutor  # with it comes PyTorch, which takes seconds

    return RayExecutor(address)


def fly_on_cluster(
    plan: Plan, folder: Path, flights: list[PlannedRun], cluster: Executor
) -> Iterator[Outcome]:
    """As `fly_session`, on the cluster, which it leaves at the end; outcomes come as they are ready."""
    waiting, flying = deque(flights), dict[Future[_Flown], PlannedRun]()
    with cluster:
        while waiting or flying:
            while waiting and len(flying) < MOST_AT_ONCE:
                flight = waiting.popleft()
                alone = replace(plan, emulators=[], schemes=[flight.scheme])
                flying[cluster.submit(_fly_there, alone, flight, policies_of([flight.scheme]))] = flight
            for future in wait(flying, return_when=FIRST_COMPLETED).done:
                yield _keep(flying.pop(future), folder, future.result())


def _fly_there(plan: Plan, flight: PlannedRun, policies: dict[Path, bytes]) -> _Flown:
    """The task: flies in a folder of its own."""
    with with_policies([flight.scheme], policies) as (scheme,), tempfile.TemporaryDirectory() as name:
        there = Path(name)
        written = emulator_folder(there, flight.emulator.label)
        written.mkdir(parents=True)
        outcome = fly_run(plan, there, replace(flight, scheme=scheme), make_backend(plan.backend))
        files = {file.name: file.read_bytes() for file in written.iterdir()}
        return _Flown(outcome.metrics, outcome.failure, files)


def _keep(flight: PlannedRun, folder: Path, flown: _Flown) -> Outcome:
    """Puts its files where they belong, last the page that says that it is complete."""
    files = flight.files(folder)
    for name, content in sorted(flown.files.items(), key=lambda each: each[0] == files.statistics.name):
        replace_file(files.folder / name, lambda fresh, content=content: fresh.write_bytes(content))  # type: ignore[misc]
    if flown.metrics is not None:
        files.failure.unlink(missing_ok=True)
    return Outcome(flight, flown.metrics, flown.failure)
