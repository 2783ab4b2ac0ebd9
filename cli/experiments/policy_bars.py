"""`ccgym reproduce policy-bars`: what a policy must hold in the twin."""

import argparse
import json
import os
import time
from dataclasses import asdict
from typing import TYPE_CHECKING

from ccgym.configs.arguments import count, seed

from .policies import add_policy_argument, policy_file_of

if TYPE_CHECKING:
    from ccgym.experiments.bar import Bar

HELP = "what a policy must hold in the twin, measured"
DESCRIPTION = (
    "Flies a policy in the twin and prints every promise beside what was measured, and the emulators on "
    "which it is farthest behind the native schemes. Exit code 1: one is not held. With CCGYM_TRACES the "
    "recorded cellular links are flown as well."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which policy, and how much of everything."""
    add_policy_argument(parser)
    parser.add_argument("--random", type=count, default=200, metavar="N", help="emulators (default: 200)")
    parser.add_argument(
        "--freezing", type=count, default=10_000, metavar="N", help="emulators to freeze on (default: 10000)"
    )
    drawn = parser.add_mutually_exclusive_group()
    drawn.add_argument("--seed", type=seed, default=777, metavar="N", help="of what is drawn (default: 777)")
    drawn.add_argument(
        "--fresh",
        action="store_true",
        help="a seed by the clock: links drawn after the policy was made; it is printed, for --seed",
    )


def run(args: argparse.Namespace) -> int:
    """Measures the bars one by one."""
    from concurrent.futures import ThreadPoolExecutor

    from ccgym.experiments.policy_bars import measure_bars

    policy_file = policy_file_of(args.scheme)
    drawn = time.time_ns() // 1_000_000 if args.fresh else args.seed
    if not args.json:
        print(f"links drawn with seed {drawn}: --seed {drawn} draws them again")

    def say(bar: "Bar") -> None:
        if not args.json:
            print(bar.line)

    with ThreadPoolExecutor(os.cpu_count()) as executor:
        bars, losses = measure_bars(
            policy_file, executor, emulators=args.random, freezing=args.freezing, seed=drawn, say=say
        )
    if args.json:
        worst = [asdict(loss) for loss in losses]
        print(json.dumps({"seed": drawn, "bars": [asdict(bar) for bar in bars], "worst": worst}))
    else:
        print("farthest behind the best other scheme in ln(throughput / p95 delay):")
        print("\n".join(f"{loss.score:+.2f}  {loss.emulator}: {loss.reason}" for loss in losses))
    return 0 if all(bar.met for bar in bars) else 1
