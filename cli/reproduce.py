"""`ccgym reproduce`: an experiment run again, ours beside what it is to be measured by."""

import argparse
import json
import os
import shlex
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from . import transparency
from .arguments import count, seconds
from .judges import add_judges
from .learning import add_rl_learns

if TYPE_CHECKING:
    from ccgym.evaluation.results import Evaluation

SEED = 1
PARITY_EMULATORS = (
    "field,calibrated,synthetic/5mbps-10ms,synthetic/20mbps-40ms,synthetic/50mbps-20ms,"
    "validation/14mbps-30ms,validation/6mbps-poisson,pathological/policer-12mbps-10ms,"
    "pathological/ack-10-per-200ms,pathological/buffer-0.33bdp,"
    "varying/rate-steps,varying/cellular-like"
)
PARITY_SCHEMES = "fixed:60,reno,copa,indigo2"


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds the command to the command line."""
    parser = subparsers.add_parser(
        "reproduce",
        help="run an experiment again, ours beside the reference",
        description="Runs an experiment again and prints ours beside the reference.",
    )
    experiments = parser.add_subparsers(title="experiments", metavar="NAME", dest="experiment", required=True)
    table = experiments.add_parser(
        "oracle-table", help="our ideal windows beside those published with Indigo"
    )
    table.add_argument("--json", action="store_true", help="print the table as JSON")
    table.set_defaults(run=run_oracle_table)
    parity = experiments.add_parser(
        "twin-parity",
        help="the twin beside real mahimahi",
        description="Flies the same controllers over the same emulators in the twin and in real mahimahi. "
        "Exit code 1: one of them differs by more than 3 %% of throughput, or 5 %% and 2 ms of p95 one-way "
        "delay. The last column tells how late the real shells were over a round trip, from their own logs.",
    )
    parity.add_argument(
        "--emulators", default=PARITY_EMULATORS, metavar="X,Y,...", help=f"default: {PARITY_EMULATORS}"
    )
    parity.add_argument(
        "--schemes", default=PARITY_SCHEMES, metavar="A,B,...", help=f"default: {PARITY_SCHEMES}"
    )
    parity.add_argument(
        "--runs", type=count, default=3, metavar="N", help="in each, medians are compared (default: 3)"
    )
    parity.add_argument("--seconds", type=seconds, default=30.0, metavar="S", help="of a flow (default: 30)")
    parity.add_argument("--out", required=True, type=Path, metavar="DIR", help="where both evaluations go")
    parity.add_argument("--json", action="store_true", help="print the table as JSON")
    parity.set_defaults(run=run_twin_parity)
    add_rl_learns(experiments)
    add_judges(experiments)
    transparency.add_experiment(experiments)


def run_oracle_table(args: argparse.Namespace) -> int:
    """Searches the windows of the published training emulators."""
    from concurrent.futures import ThreadPoolExecutor

    from ccgym.envs.emulators import select_emulators
    from ccgym.oracle.published import PUBLISHED_WINDOWS, mean_relative_deviation
    from ccgym.oracle.window import ideal_windows

    emulators = select_emulators("synthetic,calibrated")
    with ThreadPoolExecutor(os.cpu_count()) as executor:
        found = ideal_windows([emulator.spec for emulator in emulators], executor)
    windows = {emulator.label: int(packets) for emulator, packets in zip(emulators, found, strict=True)}
    deviation = mean_relative_deviation(windows)
    if args.json:
        rows = [
            {"emulator": label, "ours": ours, "published": PUBLISHED_WINDOWS[label]}
            for label, ours in windows.items()
        ]
        print(json.dumps({"windows": rows, "mean_relative_deviation": deviation}))
    else:
        for label, ours in windows.items():
            print(f"{label:32} {ours:6} packets, published {PUBLISHED_WINDOWS[label]:6}")
        print(f"mean relative deviation {deviation:.1%}")
    return 0


def run_twin_parity(args: argparse.Namespace) -> int:
    """Flies what is left of both evaluations, then compares them."""
    from ccgym.evaluation.parity import compare, parity_lines

    rows = compare(_fly(args, "twin"), _fly(args, "mahimahi"))
    print(json.dumps([asdict(row) for row in rows]) if args.json else "\n".join(parity_lines(rows)))
    return 0 if all(row.agrees for row in rows) else 1


def _fly(args: argparse.Namespace, backend: str) -> "Evaluation":
    from ccgym.envs.emulators import select_emulators
    from ccgym.evaluation.results import load_evaluation
    from ccgym.evaluation.schemes import select_schemes
    from ccgym.evaluation.session import Plan

    from .flying import fly_plan

    emulators, schemes = select_emulators(args.emulators), select_schemes(args.schemes)
    command = shlex.join(["ccgym", *sys.argv[1:]])
    fly_plan(Plan(emulators, schemes, args.runs, args.seconds, SEED, backend, command), args.out / backend)
    return load_evaluation(args.out / backend)
