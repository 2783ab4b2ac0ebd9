"""The evaluations that experiments run."""

import argparse
import shlex
import sys

from ccgym.envs.specs.emulators import select_emulators
from ccgym.evaluation.metrics.results import Evaluation, load_evaluation
from ccgym.evaluation.schemes import select_schemes
from ccgym.evaluation.sessions.run_plan import run_plan
from ccgym.evaluation.sessions.session import Plan

SEED = 1


def plan_evaluation(args: argparse.Namespace, backend: str, schemes: str) -> Plan:
    """The arguments as a plan.

    Raises:
        InputError: an emulator or a scheme is unknown.
    """
    emulators, selected = select_emulators(args.emulators), select_schemes(schemes)
    command = shlex.join(["ccgym", *sys.argv[1:]])
    return Plan(emulators, selected, args.runs, args.seconds, SEED, backend, command)


def evaluate(args: argparse.Namespace, backend: str, schemes: str) -> Evaluation:
    """Runs what is left of the evaluation in the backend's folder.

    Raises:
        InputError: as `plan_evaluation`, or the backend cannot run it here.
    """
    folder = args.out / backend
    run_plan(plan_evaluation(args, backend, schemes), folder)
    return load_evaluation(folder)
