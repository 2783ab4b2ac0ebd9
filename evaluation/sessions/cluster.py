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
from ccgym.evaluation.schemes import Scheme

from .session import Flight, Outcome, Plan, emulator_folder, fly_flight

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
    for scheme in plan.schemes:
        for member in scheme.line_up(1):
            if member.outside_file is not None:
                raise InputError(f"--ray: scheme {member.label!r} is of this machine; leave it or --ray out")
    from ccgym.training.executors import RayExecutor  # with it comes PyTorch, which takes seconds

    return RayExecutor(address)


def fly_on_cluster(plan: Plan, folder: Path, flights: list[Flight], cluster: Executor) -> Iterator[Outcome]:
    """As `fly_session`, on the cluster, which it leaves at the end; outcomes come as they are ready."""
    waiting, flying = deque(flights), dict[Future[_Flown], Flight]()
    with cluster:
        while waiting or flying:
            while waiting and len(flying) < MOST_AT_ONCE:
                flight = waiting.popleft()
                alone = replace(plan, emulators=[], schemes=[flight.scheme])
                flying[cluster.submit(_fly_there, alone, flight, _policies(flight.scheme))] = flight
            for future in wait(flying, return_when=FIRST_COMPLETED).done:
                yield _keep(flying.pop(future), folder, future.result())


def _policies(scheme: Scheme) -> dict[Path, bytes]:
    """The policy files that fly in it."""
    files = {member.policy_file for member in scheme.line_up(1)}
    return {file: file.read_bytes() for file in files if file is not None}


def _fly_there(plan: Plan, flight: Flight, policies: dict[Path, bytes]) -> _Flown:
    """The task: flies in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="ccgym-") as name:
        there = Path(name)
        copies = {file: there / f"{index}.safetensors" for index, file in enumerate(policies)}
        for file, copy in copies.items():
            copy.write_bytes(policies[file])
        flown = replace(flight, scheme=_with_copies(flight.scheme, copies))
        written = emulator_folder(there, flight.emulator.label)
        written.mkdir(parents=True)
        outcome = fly_flight(plan, there, flown, make_backend(plan.backend))
        files = {file.name: file.read_bytes() for file in written.iterdir()}
        return _Flown(outcome.metrics, outcome.failure, files)


def _with_copies(scheme: Scheme, copies: dict[Path, Path]) -> Scheme:
    if scheme.members:
        return replace(scheme, members=tuple(_with_copies(member, copies) for member in scheme.members))
    if scheme.policy_file is None:
        return scheme
    return replace(scheme, controller=scheme.controller_with(copies[scheme.policy_file]))


def _keep(flight: Flight, folder: Path, flown: _Flown) -> Outcome:
    """Puts its files where they belong, last the page that says that it is complete."""
    files = flight.files(folder)
    for name, content in sorted(flown.files.items(), key=lambda each: each[0] == files.statistics.name):
        replace_file(files.folder / name, lambda fresh, content=content: fresh.write_bytes(content))  # type: ignore[misc]
    if flown.metrics is not None:
        files.failure.unlink(missing_ok=True)
    return Outcome(flight, flown.metrics, flown.failure)
