"""`ccgym eval`: schemes head to head over emulators."""

import argparse
import json
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from ccgym.configs.arguments import count, interval, seconds, seed

if TYPE_CHECKING:
    from ccgym.evaluation.backends.backend import EmulatorsOrPaths
    from ccgym.evaluation.report.live import LiveEvaluation
    from ccgym.evaluation.schemes import Scheme
    from ccgym.evaluation.sessions.session import Plan

BACKENDS = ("twin", "mahimahi")
MOST_LOGS = 100
"""Runs in the twin whose logs are kept unasked: of a flow of 100 Mbit/s for 30 s a log has 15 MB."""


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds the command to the command line."""
    parser = subparsers.add_parser(
        "eval",
        help="run schemes head to head and write the report",
        description="Runs every scheme over every emulator in random order. DIR gets summary.json, "
        "report.html, report.pdf and, in DIR/data, Pantheon's data directory. Run it again with the same "
        "--out to continue after an interruption, or with more schemes, emulators or runs to add them. "
        "Schemes and emulators that `all` selects but this backend cannot run are marked in the leaderboard. "
        "Exit code 1: a run failed; the report says which and why.",
    )
    _add_schemes_and_paths(parser)
    _add_runs(parser)
    _add_flows(parser)
    _add_execution(parser)
    _add_output(parser)
    parser.set_defaults(run=run)


def _add_schemes_and_paths(parser: argparse.ArgumentParser) -> None:
    """What runs, and over what."""
    parser.add_argument(
        "--schemes",
        required=True,
        metavar="A,B,...",
        help="names of `ccgym schemes`, all, policy:FILE, run:DIR, python:FILE.py:CLASS, so:FILE.so, "
        "pantheon:NAME; A+B: both share the link",
    )
    parser.add_argument(
        "--emulators",
        metavar="X,Y,...",
        help="groups and names of `ccgym emulators`, all, random:N, file:PATH",
    )
    parser.add_argument("--backend", choices=BACKENDS, help="virtual time or real shells (default: twin)")
    parser.add_argument(
        "--remote",
        metavar="USER@HOST[:PORT]",
        help="instead of emulators, the real path to a host that ssh logs in to without a prompt; flows go "
        "through tunnels whose UDP ports must be open there; that host needs only iperf3 for kernel TCP, and "
        "for --pantheon the checkout at the same place",
    )
    parser.add_argument(
        "--direction",
        choices=("up", "down", "both"),
        help="which machine sends data: this one (up), --remote (down), or each in its turn (default: both)",
    )
    parser.add_argument(
        "--ntp",
        metavar="SERVER",
        help="compare both clocks with this NTP server; if it does not answer, with each other over the path",
    )
    parser.add_argument(
        "--pantheon",
        type=Path,
        metavar="DIR",
        help="Pantheon checkout, set up, whose schemes are named pantheon:NAME; their wrappers run unchanged",
    )


def _add_runs(parser: argparse.ArgumentParser) -> None:
    """How many runs, and how long."""
    parser.add_argument(
        "--runs",
        type=count,
        default=1,
        metavar="N",
        help="runs of each scheme on each emulator (default: 1)",
    )
    parser.add_argument(
        "--seconds", type=seconds, default=30.0, metavar="S", help="length of a run in s (default: 30)"
    )


def _add_flows(parser: argparse.ArgumentParser) -> None:
    """The flows of a run."""
    parser.add_argument(
        "--flows",
        type=count,
        default=1,
        metavar="N",
        help="flows of each run, all through the same link; with A+B they alternate (default: 1)",
    )
    parser.add_argument(
        "--interval",
        type=interval,
        default=0.0,
        metavar="S",
        help="time between the beginnings of the flows, which end together, in s (default: 0)",
    )
    parser.add_argument(
        "--tunnel",
        action=argparse.BooleanOptionalAction,
        default=False,
        help="in mahimahi, run every flow through an instrumented tunnel of its own (default: no)",
    )


def _add_execution(parser: argparse.ArgumentParser) -> None:
    """In which order runs are computed, where, and which logs are kept."""
    parser.add_argument(
        "--seed",
        type=seed,
        default=1,
        metavar="N",
        help="of the order of runs and of random draws in the twin (default: 1)",
    )
    parser.add_argument(
        "--logs",
        action=argparse.BooleanOptionalAction,
        default=None,
        help=f"keep the packet logs, which `ccgym report` and Pantheon's analysis read; without them only "
        f"the figures of runs are kept (default: yes, but no for more than {MOST_LOGS} runs in the twin, "
        "which can be repeated exactly)",
    )
    parser.add_argument(
        "--ray",
        metavar="ADDRESS",
        help="HOST:PORT of a Ray cluster, or auto: runs in virtual time go there, with the same figures",
    )


def _add_output(parser: argparse.ArgumentParser) -> None:
    """Where figures go."""
    parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="where data and report go")
    parser.add_argument(
        "--serve",
        type=_port,
        nargs="?",
        const=0,
        metavar="PORT",
        help="show the running evaluation in a browser of this machine, at the address printed on stderr: "
        "progress, leaderboard so far, last runs; ends with the evaluation (default port: any free one)",
    )
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")


def _port(text: str) -> int:
    if not text.isdecimal() or len(text) > 5 or not 0 < int(text) < 65536:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is not a port from 1 to 65535")
    return int(text)


@contextmanager
def _served(args: argparse.Namespace, title: str) -> "Iterator[LiveEvaluation | None]":
    """What a browser is shown while the context lasts, if it is asked for."""
    if args.serve is None:
        yield None
        return
    from ccgym.envs.errors import InputError
    from ccgym.evaluation.metrics.results import load_evaluation
    from ccgym.evaluation.report.live import LiveEvaluation, LiveServer

    live = LiveEvaluation(title)
    if (args.out / "session.json").exists():
        with suppress(InputError):  # nothing of it has been run yet
            live.add_outcome(load_evaluation(args.out))
    with LiveServer(live, args.serve) as server:
        print(f"watch: {server.url}", file=sys.stderr)
        yield live


def _emulators(args: argparse.Namespace) -> "tuple[EmulatorsOrPaths, str]":
    """What is run over, and by which backend."""
    from ccgym.envs.errors import InputError
    from ccgym.envs.specs.emulators import select_emulators

    backend = args.backend or "twin"
    if args.tunnel and backend == "twin" and args.remote is None:
        raise InputError("--tunnel: the twin has no tunnel: say --backend mahimahi")
    if (args.remote is None) == (args.emulators is None):
        raise InputError("give either --emulators or --remote")
    if args.remote is None:
        for option, value in (("--direction", args.direction), ("--ntp", args.ntp)):
            if value is not None:
                raise InputError(f"{option}: only a real path has it: give --remote instead of --emulators")
        return select_emulators(args.emulators), backend
    if args.backend is not None:
        raise InputError("--backend: a real path has none: leave it out")
    from ccgym.evaluation.backends.tunnelled.remote_path import remote_paths

    return remote_paths(args.remote, args.direction or "both", args.ntp), "remote"


def _plan(
    args: argparse.Namespace, emulators: "EmulatorsOrPaths", schemes: "list[Scheme]", backend: str
) -> "Plan":
    from ccgym.evaluation.sessions.session import Plan

    runs = len(emulators) * len(schemes) * args.runs
    return Plan(
        emulators=emulators,
        schemes=schemes,
        runs=args.runs,
        seconds=args.seconds,
        seed=args.seed,
        backend=backend,
        command=shlex.join(["ccgym", *sys.argv[1:]]),
        flows=args.flows,
        interval_s=args.interval,
        tunnel=args.tunnel or backend == "remote",
        keep_logs=(backend != "twin" or runs <= MOST_LOGS) if args.logs is None else args.logs,
    )


def run(args: argparse.Namespace) -> int:
    """Runs what is left of the plan, then reports all of it."""
    emulators, backend = _emulators(args)
    from ccgym.evaluation.schemes import select_schemes

    schemes = select_schemes(args.schemes, args.pantheon)
    # Late: a mistake in the names is told before the session and the report are imported.
    from ccgym.evaluation.report.publish import leaderboard_lines
    from ccgym.evaluation.sessions.run_plan import run_plan
    from ccgym.evaluation.sessions.session import REFUSED

    plan = _plan(args, emulators, schemes, backend)
    whole_leaderboard = "all" in [item.strip() for item in f"{args.schemes},{args.emulators}".split(",")]
    with _served(args, plan.command) as live:
        summary = run_plan(
            plan,
            args.out,
            leave_out=whole_leaderboard,
            formats=("html", "pdf"),
            ray_address=args.ray,
            live=live,
        )
    if args.json:
        print(json.dumps(summary))
    else:
        print("\n".join(leaderboard_lines(summary)))
        print(f"report: {args.out / 'report.html'}")
    return 1 if any(not each["reason"].startswith(REFUSED) for each in summary["failures"]) else 0
