"""`ccgym reproduce tunnel-transparency`: kernel TCP inside and outside of the tunnel."""

import argparse
import json
import shlex
import sys
from dataclasses import asdict, replace
from pathlib import Path

from .arguments import count, seconds

EMULATORS = "field"
SCHEMES = "kernel-cubic,kernel-bbr"
RUNS = 20
SEED = 1


def add_experiment(experiments: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds the experiment to `ccgym reproduce`."""
    parser = experiments.add_parser(
        "tunnel-transparency",
        help="kernel TCP inside and outside of the tunnel, in real mahimahi",
        description="Flies kernel TCP inside and outside of the tunnel in turns, in real mahimahi, and "
        "compares throughput and p95 delay, as mm-link saw them, by the two-sample Kolmogorov-Smirnov test. "
        "Exit code 1: one of them differs (p < 0.2).",
    )
    parser.add_argument("--emulators", default=EMULATORS, metavar="X,Y,...", help=f"default: {EMULATORS}")
    parser.add_argument("--schemes", default=SCHEMES, metavar="A,B,...", help=f"default: {SCHEMES}")
    parser.add_argument(
        "--runs", type=count, default=RUNS, metavar="N", help=f"inside, and as many outside (default: {RUNS})"
    )
    parser.add_argument("--seconds", type=seconds, default=30.0, metavar="S", help="of a flow (default: 30)")
    parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="where both evaluations go")
    parser.add_argument("--json", action="store_true", help="print the table as JSON")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Flies what is left of both, then compares them."""
    from ccgym.envs.emulators import select_emulators
    from ccgym.evaluation.schemes import select_schemes
    from ccgym.evaluation.session import Plan
    from ccgym.evaluation.transparency import compare, transparency_lines

    from .flying import fly_in_turns

    command = shlex.join(["ccgym", *sys.argv[1:]])
    emulators, schemes = select_emulators(args.emulators), select_schemes(args.schemes)
    outside = Plan(emulators, schemes, args.runs, args.seconds, SEED, "mahimahi", command)
    inside = replace(outside, tunnel=True)
    folders = (args.out / "outside", args.out / "inside")
    fly_in_turns([(outside, folders[0]), (inside, folders[1])])
    rows = compare(outside, folders[0], inside, folders[1])
    print(json.dumps([asdict(row) for row in rows]) if args.json else "\n".join(transparency_lines(rows)))
    return 0 if rows and all(row.agrees for row in rows) else 1
