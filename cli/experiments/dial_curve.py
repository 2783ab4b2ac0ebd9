"""`ccgym reproduce dial-curve`: what a policy's dial buys."""

import argparse
import json
import os
from dataclasses import asdict

from ccgym.configs.arguments import count

from .policies import add_policy_argument, policy_file_of

HELP = "the dial of a policy beside Copa with its delta swept and fixed windows"
DESCRIPTION = (
    "Flies a policy along its dial in the twin, over random emulators that no training sees, beside Copa "
    "with its delta swept and fixed windows swept around the BDP. Exit code 1: on more than 5 % of the "
    "emulators a higher preference has less throughput or less p95 delay, or a point of the dial has less "
    "throughput than the other curve, interpolated, at the same delay. 1 % of throughput or delay, 1 ms of "
    "delay and, along the dial, one standard error of the differences over the seeds count for nothing."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which policy, on how many emulators, how often."""
    add_policy_argument(parser)
    parser.add_argument("--random", type=count, default=200, metavar="N", help="emulators (default: 200)")
    parser.add_argument("--seeds", type=count, default=3, metavar="N", help="flights of each (default: 3)")


def run(args: argparse.Namespace) -> int:
    """Flies all three curves over every emulator."""
    from concurrent.futures import ThreadPoolExecutor

    from ccgym.evaluation.schemes import select_schemes
    from ccgym.experiments.dial_curve import dial_bars, dial_lines, dial_rows

    policy_file = policy_file_of(args.scheme)
    select_schemes(f"policy:{policy_file}:0.5")  # refuses a policy without a dial
    with ThreadPoolExecutor(os.cpu_count()) as executor:
        rows = dial_rows(policy_file, args.random, args.seeds, executor)
    bars = dial_bars(rows)
    if args.json:
        print(json.dumps({"bars": [asdict(bar) for bar in bars], "rows": [row.to_json() for row in rows]}))
    else:
        print("\n".join([*dial_lines(rows), *(bar.line for bar in bars)]))
    return 0 if all(bar.met for bar in bars) else 1
