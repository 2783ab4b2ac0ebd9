"""`ccgym eval`: schemes head to head over emulators."""

import argparse
import json
import shlex
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from ccgym.evaluation.session import Outcome, Plan

BACKENDS = ("twin", "mahimahi")
LONGEST_S = 3600.0


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds the command to the command line."""
    parser = subparsers.add_parser(
        "eval",
        help="fly schemes head to head and write the report",
        description="Flies every scheme over every emulator in random order. DIR gets summary.json, "
        "report.html and, in DIR/data, Pantheon's data directory. Run it again with the same --out to go on "
        "after an interruption, or with more schemes, emulators or runs to add them. "
        "Exit code 1: a run failed; the report says which and why.",
    )
    parser.add_argument(
        "--schemes", required=True, metavar="A,B,...", help="names of `ccgym schemes`, policy:FILE, run:DIR"
    )
    parser.add_argument(
        "--emulators",
        required=True,
        metavar="X,Y,...",
        help="groups and names of `ccgym emulators`, file:PATH",
    )
    parser.add_argument(
        "--backend", choices=BACKENDS, default="twin", help="virtual time or real shells (default: twin)"
    )
    parser.add_argument(
        "--runs",
        type=_count,
        default=1,
        metavar="N",
        help="runs of each scheme on each emulator (default: 1)",
    )
    parser.add_argument(
        "--seconds", type=_seconds, default=30.0, metavar="S", help="length of a flow in s (default: 30)"
    )
    parser.add_argument(
        "--seed",
        type=_seed,
        default=1,
        metavar="N",
        help="of the order, and of chance in the twin (default: 1)",
    )
    parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="where data and report go")
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Flies what is left of the plan, then reports all of it."""
    from ccgym.envs.emulators import select_emulators
    from ccgym.evaluation.backends import make_backend
    from ccgym.evaluation.publish import league_lines, publish
    from ccgym.evaluation.schemes import select_schemes
    from ccgym.evaluation.session import Plan, fly_session, open_session

    # A termination leaves through the contexts that take shells down, as an interrupt does.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    plan = Plan(
        select_emulators(args.emulators),
        select_schemes(args.schemes),
        args.runs,
        args.seconds,
        args.seed,
        args.backend,
        shlex.join(["ccgym", *sys.argv[1:]]),
    )
    backend = make_backend(args.backend)
    backend.check(plan.emulators, plan.schemes)
    flights = open_session(plan, args.out)
    with _progress(plan, len(flights)) as show:
        for outcome in fly_session(plan, args.out, flights, backend):
            show(outcome)
    summary = publish(args.out)
    if args.json:
        print(json.dumps(summary))
    else:
        print("\n".join(league_lines(summary)))
        print(f"report: {args.out / 'report.html'}")
    return 1 if summary["failures"] else 0


@contextmanager
def _progress(plan: "Plan", flights: int) -> "Iterator[Callable[[Outcome], None]]":
    """Shows each outcome on stderr: one line, above a bar where stderr is a terminal."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True, highlight=False, soft_wrap=True)
    total = len(plan.emulators) * len(plan.schemes) * plan.runs
    if flights < total:
        console.print(f"{total - flights} of {total} runs stand already")
    columns = (TextColumn("flying"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task("flying", total=total, completed=total - flights)
        done = total - flights

        def show(outcome: "Outcome") -> None:
            nonlocal done
            done += 1
            console.print(f"[{done}/{total}] {_line(outcome)}", markup=False)
            bar.advance(task)

        yield show


def _line(outcome: "Outcome") -> str:
    flight = outcome.flight
    who = f"{flight.emulator.label} {flight.scheme.label} run {flight.run}"
    if outcome.metrics is None:
        return f"{who}: FAILED: {outcome.failure}"
    return f"{who}: {outcome.metrics.throughput_mbps:.2f} Mbit/s, p95 {outcome.metrics.p95_delay_ms:.0f} ms"


def _count(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 1")
    return int(text)


def _seed(text: str) -> int:
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from 0")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 1 <= seconds <= LONGEST_S:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time from 1 to {LONGEST_S:g} s")
    return seconds
