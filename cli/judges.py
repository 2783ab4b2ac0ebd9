"""`ccgym reproduce`: the judges, which hold our schemes beside those of others."""

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
    """Adds them to `ccgym reproduce`."""
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
    ns3 = experiments.add_parser(
        "ns3-judge",
        help="our NewReno, Cubic and Vegas beside ns-3's",
        description="Flies our schemes in the twin, in continuous time, and ns-3's over the same dumbbells; "
        "the first half warms up. Exit code 1: one of ours differs by more than 3 %% of throughput or 10 %% "
        "of mean queueing delay. Vegas rests with any queue of two to four packets, and where in between is "
        "decided by the end of its slow start. ns-3's LEDBAT is no judge: the bound it sets on its window is "
        "the window itself, so that it never grows after slow start, and without TCP timestamps it flies "
        "NewReno's congestion avoidance.",
    )
    ns3.add_argument("--seconds", type=seconds, default=120.0, metavar="S", help="of a flow (default: 120)")
    ns3.add_argument("--json", action="store_true", help="print the table as JSON")
    ns3.set_defaults(run=run_ns3_judge)
    copa = experiments.add_parser(
        "copa-judge",
        help="our Copa beside its authors' program",
        description="Flies our Copa in the twin over links and paths that its authors' genericCC was "
        "measured on in real mahimahi. Exit code 1: throughput or p95 delay is further than 15 %% from the "
        "range of theirs.",
    )
    copa.add_argument("--json", action="store_true", help="print the table as JSON")
    copa.set_defaults(run=run_copa_judge)
    fairness = experiments.add_parser(
        "copa-fairness",
        help="Jain's index of flows that come and go, beside Copa's paper",
        description="Ten flows of a scheme join a link of 46 Mbit/s one a second and leave it one a second, "
        "in the twin. Exit code 1: the median of Jain's index is not within the published figures, to 0.02.",
    )
    fairness.add_argument("--json", action="store_true", help="print the table as JSON")
    fairness.set_defaults(run=run_copa_fairness)


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


def run_ns3_judge(args: argparse.Namespace) -> int:
    """Flies every scheme over every dumbbell, in both."""
    from ccgym.bench.ns3_judge import NS3_BOUNDS, judge_by_ns3

    rows = judge_by_ns3(args.seconds)
    _print({"the twin": rows}, NS3_BOUNDS, {"judge": "ns-3", "delay": "queue ms"}, as_json=args.json)
    return 0 if all(row.agrees(NS3_BOUNDS) for row in rows) else 1


def run_copa_judge(args: argparse.Namespace) -> int:
    """Flies Copa over every link and path with figures of genericCC."""
    from ccgym.evaluation.copa_judge import copa_lines, copa_rows

    rows = copa_rows(SEED)
    print(json.dumps([asdict(row) for row in rows]) if args.json else "\n".join(copa_lines(rows)))
    return 0 if all(row.agrees for row in rows) else 1


def run_copa_fairness(args: argparse.Namespace) -> int:
    """Flies each scheme against itself."""
    from ccgym.evaluation.copa_fairness import fairness_lines, fairness_rows

    rows = list(fairness_rows(SEED))
    print(json.dumps([asdict(row) for row in rows]) if args.json else "\n".join(fairness_lines(rows)))
    return 0 if all(row.agrees for row in rows) else 1


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
