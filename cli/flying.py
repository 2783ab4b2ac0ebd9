"""Flying a plan from the command line: checked, resumed, watched, published."""

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ccgym.envs.errors import InputError
from ccgym.evaluation.backend import Backend
from ccgym.evaluation.backends import make_backend
from ccgym.evaluation.publish import publish
from ccgym.evaluation.session import Outcome, Plan, fly_session, open_session
from ccgym.evaluation.workers import fly_in_workers
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

MOST_LINES = 100
"""A terminal shows every run of a plan that has no more; of a larger one the bar, and what failed."""


def fly_plan(plan: Plan, folder: Path, *, leave_out: bool = False) -> dict[str, Any]:
    """Flies what is left of the plan in `folder`, then publishes all of it; returns the summary.

    Args:
        plan: what to fly.
        folder: where it is kept.
        leave_out: whether what the backend cannot fly is a failed run; else it is a mistake.

    Raises:
        InputError: the backend cannot fly it here, or the folder holds something else.
    """
    # A termination leaves through the contexts that take shells down, as an interrupt does.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    backend = make_backend(plan.backend, plan.tunnel)
    backend.check([scheme.line_up(plan.flows) for scheme in plan.schemes])
    _check_refusals(plan, backend, leave_out)
    flights = open_session(plan, folder)
    with _progress(plan, len(flights)) as show:
        if backend.in_real_time:
            outcomes = fly_session(plan, folder, flights, backend)
        else:
            outcomes = fly_in_workers(plan, folder, flights)
        for outcome in outcomes:
            show(outcome)
    return publish(folder)


def _check_refusals(plan: Plan, backend: Backend, leave_out: bool) -> None:
    """Raises InputError where the backend flies nothing of the plan, or not all that is asked by name."""
    line_ups = [scheme.line_up(plan.flows) for scheme in plan.schemes]
    reasons = [backend.refusal(each.spec, line_up) for each in plan.emulators for line_up in line_ups]
    refused = [reason for reason in reasons if reason is not None]
    if refused and (not leave_out or len(refused) == len(reasons)):
        raise InputError(refused[0])


@contextmanager
def _progress(plan: Plan, flights: int) -> Iterator[Callable[[Outcome], None]]:
    """Shows each outcome on stderr: one line, above a bar where stderr is a terminal."""
    console = Console(stderr=True, highlight=False, soft_wrap=True)
    total = len(plan.emulators) * len(plan.schemes) * plan.runs
    if flights < total:
        console.print(f"{total - flights} of {total} runs stand already")
    columns = (TextColumn("flying"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task("flying", total=total, completed=total - flights)
        done = total - flights

        def show(outcome: Outcome) -> None:
            nonlocal done
            done += 1
            if not console.is_terminal or total <= MOST_LINES or outcome.metrics is None:
                console.print(f"[{done}/{total}] {_line(outcome)}", markup=False)
            bar.advance(task)

        yield show


def _line(outcome: Outcome) -> str:
    flight = outcome.flight
    who = f"{flight.emulator.label} {flight.scheme.label} run {flight.run}"
    if outcome.metrics is None:
        return f"{who}: FAILED: {outcome.failure}"
    return f"{who}: {outcome.metrics.throughput_mbps:.2f} Mbit/s, p95 {outcome.metrics.p95_delay_ms:.0f} ms"
