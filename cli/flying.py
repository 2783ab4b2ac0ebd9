"""Flying a plan from the command line: checked, resumed, watched, published."""

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ccgym.evaluation.backends import make_backend
from ccgym.evaluation.publish import publish
from ccgym.evaluation.session import Outcome, Plan, fly_session, open_session
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


def fly_plan(plan: Plan, folder: Path) -> dict[str, Any]:
    """Flies what is left of the plan in `folder`, then publishes all of it; returns the summary.

    Raises:
        InputError: the backend cannot fly it here, or the folder holds something else.
    """
    # A termination leaves through the contexts that take shells down, as an interrupt does.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    backend = make_backend(plan.backend)
    backend.check(plan.emulators, [scheme.line_up(plan.flows) for scheme in plan.schemes])
    flights = open_session(plan, folder)
    with _progress(plan, len(flights)) as show:
        for outcome in fly_session(plan, folder, flights, backend):
            show(outcome)
    return publish(folder)


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
            console.print(f"[{done}/{total}] {_line(outcome)}", markup=False)
            bar.advance(task)

        yield show


def _line(outcome: Outcome) -> str:
    flight = outcome.flight
    who = f"{flight.emulator.label} {flight.scheme.label} run {flight.run}"
    if outcome.metrics is None:
        return f"{who}: FAILED: {outcome.failure}"
    return f"{who}: {outcome.metrics.throughput_mbps:.2f} Mbit/s, p95 {outcome.metrics.p95_delay_ms:.0f} ms"
