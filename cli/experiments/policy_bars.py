"""`ccgym reproduce policy-bars`: what a policy must hold in the twin."""

import argparse
import json
import os
from dataclasses import asdict
from typing import TYPE_CHECKING

from ccgym.cli.arguments import count

if TYPE_CHECKING:
    from ccgym.evaluation.bar import Bar

HELP = "what a policy must hold in the twin, measured"
DESCRIPTION = (
    "Flies a policy in the twin and prints every promise beside what was measured, and the emulators on "
    "which it is farthest behind the native schemes. Exit code 1: one is not held. With CCGYM_TRACES the "
    "recorded cellular links are flown as well."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which policy, and how much of everything."""
    parser.add_argument(
        "--scheme", default="indigo2", metavar="A", help="indigo2 (default), policy:FILE or run:DIR"
    )
    parser.add_argument("--random", type=count, default=200, metavar="N", help="emulators (default: 200)")
    parser.add_argument(
        "--freezing", type=count, default=10_000, metavar="N", help="emulators to freeze on (default: 10000)"
    )


def run(args: argparse.Namespace) -> int:
    """Measures the bars one by one."""
    from concurrent.futures import ThreadPoolExecutor

    from ccgym.envs.errors import InputError
    from ccgym.evaluation.policy_bars import measure_bars
    from ccgym.evaluation.schemes import select_schemes

    (scheme,) = select_schemes(args.scheme)[:1]
    if scheme.policy_file is None:
        raise InputError(f"--scheme {args.scheme}: not a policy, as indigo2, policy:FILE and run:DIR are")

    def say(bar: "Bar") -> None:
        if not args.json:
            print(f"{'held  ' if bar.met else 'MISSED'}  {bar.name}: {bar.measured}; wanted: {bar.wanted}")

    with ThreadPoolExecutor(os.cpu_count()) as executor:
        bars, losses = measure_bars(
            scheme.policy_file, executor, emulators=args.random, freezing=args.freezing, say=say
        )
    if args.json:
        print(json.dumps({"bars": [asdict(bar) for bar in bars], "worst": [asdict(loss) for loss in losses]}))
    else:
        print("farthest behind the best other scheme in ln(throughput / p95 delay):")
        print("\n".join(f"{loss.score:+.2f}  {loss.emulator}: {loss.reason}" for loss in losses))
    return 0 if all(bar.met for bar in bars) else 1
