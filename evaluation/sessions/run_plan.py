"""Runs a plan for the command line: checks, resumes, monitors and publishes it."""

import sys
from collections import deque
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ccgym.envs.errors import InputError
from ccgym.envs.host.folder_lock import folder_lock
from ccgym.envs.host.memory import check_memory
from ccgym.envs.host.progress_bar import progress_bar, progress_console
from ccgym.evaluation.backends.backend import Backend
from ccgym.evaluation.backends.make_backend import make_backend
from ccgym.evaluation.report.live import LiveEvaluation
from ccgym.evaluation.report.publish import publish
from ccgym.evaluation.sessions.cluster import open_cluster, run_on_cluster
from ccgym.evaluation.sessions.session import Outcome, Plan, log_bytes, open_session, run_session
from ccgym.evaluation.sessions.workers import run_in_workers

MOST_RUNS, MOST_FLOWS = 1_000_000, 1000
MOST_LINES = 100
"""A terminal shows a line for every run of a plan of at most so many; of larger plans only failed runs."""


def run_plan(
    plan: Plan,
    folder: Path,
    *,
    leave_out: bool = False,
    formats: Collection[str] = ("html",),
    ray_address: str | None = None,
    live: LiveEvaluation | None = None,
) -> dict[str, Any]:
    """Runs what is left of the plan in `folder`, then publishes all of it; returns the summary.

    Args:
        plan: the plan to run.
        folder: the evaluation's folder.
        leave_out: whether a run that the backend cannot do counts as failed; otherwise it is an error.
        formats: see `publish`.
        ray_address: address of a Ray cluster for runs in virtual time; None: this machine's cores.
        live: a live page that is told of every run.

    Raises:
        InputError: the backend cannot run it here, or the folder holds something else or is in use.
    """
    with folder_lock(folder):
        _outcomes([_session(plan, folder, leave_out, ray_address)], live)
        return publish(folder, formats)


def run_in_turns(plans: list[tuple[Plan, Path]], announcement: str = "") -> None:
    """Runs what is left of several plans in real time, a run of each in turn, so that all meet the same load.

    Args:
        plans: the plans, each with its folder.
        announcement: printed on stderr once it is certain that the plans can be run.

    Raises:
        InputError: as `run_plan`.
    """
    with ExitStack() as locks:
        for _, folder in plans:
            locks.enter_context(folder_lock(folder))
        sessions = [_session(plan, folder, leave_out=False) for plan, folder in plans]
        if announcement:
            print(announcement, file=sys.stderr)
        _outcomes(sessions)
        for _, folder in plans:
            publish(folder)


@dataclass(frozen=True)
class _Session:
    total: int
    """Number of runs, without those that the backend refuses."""
    left: int
    outcomes: Iterator[Outcome]


def _session(plan: Plan, folder: Path, leave_out: bool, ray_address: str | None = None) -> _Session:
    _check_amount(plan)
    backend = make_backend(plan.backend, plan.tunnel)
    backend.check(plan.emulators, [scheme.line_up(plan.flows) for scheme in plan.schemes])
    refused = _refusals(plan, backend, leave_out)
    _check_memory(plan)
    cluster = None if ray_address is None else open_cluster(plan, ray_address)
    remaining = open_session(plan, folder)
    for reason in dict.fromkeys(refused):
        print(f"not run: {reason}", file=sys.stderr)
    total = (len(plan.emulators) * len(plan.schemes) - len(refused)) * plan.runs
    left = len(remaining) - len(refused) * plan.runs
    if backend.in_real_time:
        return _Session(total, left, run_session(plan, folder, remaining, backend))
    if cluster is not None:
        return _Session(total, left, run_on_cluster(plan, folder, remaining, cluster))
    return _Session(total, left, run_in_workers(plan, folder, remaining))


def _check_amount(plan: Plan) -> None:
    """Raises InputError if the plan has too many runs, before any of them is looked at."""
    runs = len(plan.emulators) * len(plan.schemes) * plan.runs
    if runs > MOST_RUNS or plan.flows > MOST_FLOWS:
        raise InputError(
            f"{runs} runs of {plan.flows} flows: at most {MOST_RUNS} runs of {MOST_FLOWS} flows are run"
        )


def _check_memory(plan: Plan) -> None:
    """Raises InputError if a run of the plan does not fit into memory."""
    for emulator in plan.emulators:
        check_memory(log_bytes(emulator.spec, plan.seconds), f"{emulator.label} for {plan.seconds:g} s")


def _outcomes(sessions: list[_Session], live: LiveEvaluation | None = None) -> None:
    total, left = sum(each.total for each in sessions), sum(each.left for each in sessions)
    if live is not None:
        live.begin(total, total - left)
    with _progress(total, left) as show:
        for outcome in _in_turns(sessions):
            show(outcome)
            if live is not None:
                live.add(outcome)


def _in_turns(sessions: list[_Session]) -> Iterator[Outcome]:
    """An outcome of each session in turn, as soon as it is there."""
    waiting = deque(each.outcomes for each in sessions)
    while waiting:
        outcomes = waiting.popleft()
        if (outcome := next(outcomes, None)) is not None:
            waiting.append(outcomes)
            yield outcome


def _refusals(plan: Plan, backend: Backend, leave_out: bool) -> list[str]:
    """The reasons of the pairs of scheme and emulator that the backend refuses, one for each pair.

    Raises:
        InputError: the backend refuses all pairs, or any pair unless `leave_out`.
    """
    line_ups = [scheme.line_up(plan.flows) for scheme in plan.schemes]
    reasons = [backend.refusal(each.spec, line_up) for each in plan.emulators for line_up in line_ups]
    refused = [reason for reason in reasons if reason is not None]
    if refused and (not leave_out or len(refused) == len(reasons)):
        raise InputError(refused[0])
    return refused


@contextmanager
def _progress(total: int, left: int) -> Iterator[Callable[[Outcome], None]]:
    """Shows each outcome on stderr as one line, above a progress bar if stderr is a terminal."""
    console = progress_console(stderr=True, soft_wrap=True)
    if left < total:
        console.print(f"{total - left} of {total} runs stand already")
    with progress_bar("running", console) as bar:
        task = bar.add_task("", total=total, completed=total - left)
        done = total - left

        def show(outcome: Outcome) -> None:
            nonlocal done
            if outcome.refused:
                return
            done += 1
            if not console.is_terminal or total <= MOST_LINES or outcome.metrics is None:
                console.print(f"[{done}/{total}] {_line(outcome)}", markup=False)
            bar.advance(task)

        yield show


def _line(outcome: Outcome) -> str:
    planned = outcome.planned
    who = f"{planned.emulator.label} {planned.scheme.label} run {planned.run}"
    if outcome.metrics is None:
        return f"{who}: FAILED: {outcome.failure}"
    delay = f"p95 {outcome.metrics.p95_delay_ms:.0f} ms" if outcome.metrics.delivers else "starves"
    return f"{who}: {outcome.metrics.throughput_mbps:.2f} Mbit/s, {delay}"
