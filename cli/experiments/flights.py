"""The evaluations that experiments fly."""

import argparse
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ccgym.configs.arguments import count, seconds

if TYPE_CHECKING:
    from ccgym.evaluation.metrics.results import Evaluation
    from ccgym.evaluation.sessions.session import Plan

SEED = 1


def add_flight_arguments(parser: argparse.ArgumentParser, emulators: str, schemes: str, runs: int) -> None:
    """What to fly, how often and how long, and where it is kept; with the defaults of the experiment."""
    parser.add_argument("--emulators", default=emulators, metavar="X,Y,...", help=f"default: {emulators}")
    parser.add_argument("--schemes", default=schemes, metavar="A,B,...", help=f"default: {schemes}")
    parser.add_argument(
        "--runs", type=count, default=runs, metavar="N", help=f"of each scheme (default: {runs})"
    )
    parser.add_argument("--seconds", type=seconds, default=30.0, metavar="S", help="of a flow (default: 30)")
    parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="where the flights are kept")


def plan_flights(args: argparse.Namespace, backend: str, schemes: str) -> "Plan":
    """The arguments as a plan.

    Raises:
        InputError: an emulator or a scheme is unknown.
    """
    from ccgym.envs.specs.emulators import select_emulators
    from ccgym.evaluation.schemes import select_schemes
    from ccgym.evaluation.sessions.session import Plan

    emulators, selected = select_emulators(args.emulators), select_schemes(schemes)
    command = shlex.join(["ccgym", *sys.argv[1:]])
    return Plan(emulators, selected, args.runs, args.seconds, SEED, backend, command)


def fly(args: argparse.Namespace, backend: str, schemes: str) -> "Evaluation":
    """Flies what is left of the evaluation in the backend's folder.

    Raises:
        InputError: as `plan_flights`, or the backend cannot fly it here.
    """
    from ccgym.evaluation.metrics.results import load_evaluation
    from ccgym.evaluation.sessions.flying import fly_plan

    folder = args.out / backend
    fly_plan(plan_flights(args, backend, schemes), folder)
    return load_evaluation(folder)
