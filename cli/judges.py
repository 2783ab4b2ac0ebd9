"""`ccgym reproduce kernel-judge`, `ns3-judge`: our schemes beside independent implementations of the same."""

import argparse
import json
import os
import shlex
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from .arguments import count, seconds

if TYPE_CHECKING:
    from ccgym.evaluation.judges import Bounds, Judgement
    from ccgym.evaluation.results import Evaluation

SEED = 1
KERNEL_EMULATORS = "field,calibrated"


def add_judges(experiments: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds both to `ccgym reproduce`."""
    kernel = experiments.add_parser(
        "kernel-judge",
        help="our Cubic, NewReno and BBR beside the kernel's",
        description="Flies our schemes and the kernel's over the same emulators in real mahimahi, and ours "
        "in the twin as well: what differs there is the algorithm's, what differs in mahimahi alone is the "
        "host's. Exit code 1: in mahimahi one of ours differs from the kernel's by more than 5 %% of "
        "throughput or 15 %% of p95 delay.",
    )
    kernel.add_argument(
        "--emulators", default=KERNEL_EMULATORS, metavar="X,Y,...", help=f"default: {KERNEL_EMULATORS}"
    )
    kernel.add_argument(
        "--schemes", default="cubic,reno,bbr", metavar="A,B,...", help="default: cubic,reno,bbr"
    )
    kernel.add_argument("--runs", type=count, default=1, metavar="N", help="of each scheme (default: 1)")
    kernel.add_argument("--seconds", type=seconds, default=30.0, metavar="S", help="of a flow (default: 30)")
    kernel.add_argument("--out", required=True, type=Path, metavar="DIR", help="where both evaluations go")
    kernel.add_argument("--json", action="store_true", help="print the tables as JSON")
    kernel.set_defaults(run=run_kernel_judge)


def run_kernel_judge(args: argparse.Namespace) -> int:
    """Flies what is left of both evaluations, then compares them."""
    from ccgym.envs.errors import InputError
    from ccgym.evaluation.judges import KERNEL_BOUNDS, KERNEL_JUDGES, judge_by_kernel

    schemes = args.schemes.split(",")
    for scheme in schemes:
        if scheme not in KERNEL_JUDGES:
            raise InputError(f"--schemes: the kernel has no {scheme!r}; it judges {', '.join(KERNEL_JUDGES)}")
    real = _fly(args, "mahimahi", [*schemes, *(KERNEL_JUDGES[scheme] for scheme in schemes)])
    tables = {
        "mahimahi": judge_by_kernel(real, real),
        "twin": judge_by_kernel(_fly(args, "twin", schemes), real),
    }
    heads = {"judge": "kernel", "delay": "p95 ms"}
    _print(tables, KERNEL_BOUNDS, heads, as_json=args.json)
    if not args.json:
        print(f"load of this host in the last 15 minutes: {os.getloadavg()[2]:.1f} on {os.cpu_count()} cores")
    return 0 if all(row.agrees(KERNEL_BOUNDS) for row in tables["mahimahi"]) else 1


def _fly(args: argparse.Namespace, backend: str, schemes: list[str]) -> "Evaluation":
    from ccgym.envs.emulators import select_emulators
    from ccgym.evaluation.results import load_evaluation
    from ccgym.evaluation.schemes import select_schemes
    from ccgym.evaluation.session import Plan

    from .flying import fly_plan

    selected = select_schemes(",".join(schemes))
    command = shlex.join(["ccgym", *sys.argv[1:]])
    plan = Plan(select_emulators(args.emulators), selected, args.runs, args.seconds, SEED, backend, command)
    fly_plan(plan, args.out / backend)
    return load_evaluation(args.out / backend)


def _print(
    tables: "dict[str, list[Judgement]]", bounds: "Bounds", heads: dict[str, str], *, as_json: bool
) -> None:
    from ccgym.evaluation.judges import judgement_lines

    if as_json:
        print(json.dumps({where: [asdict(row) for row in rows] for where, rows in tables.items()}))
        return
    for where, rows in tables.items():
        print(f"ours in {where}:")
        print("\n".join(judgement_lines(rows, bounds, heads)))
