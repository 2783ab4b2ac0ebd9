"""`ccgym reproduce competition`: a scheme beside flows of other kinds."""

import argparse
import json
import os
import time
from dataclasses import asdict
from typing import TYPE_CHECKING

from ccgym.configs.arguments import count, seed

if TYPE_CHECKING:
    from ccgym.experiments.bar import Bar

HELP = "what a scheme gets and leaves beside Cubic, NewReno, BBR, BBR 3, Copa and four Cubics"
DESCRIPTION = (
    "Flies a scheme in the twin as the late-comer beside flows of other kinds, over links of 6 to 300 "
    "Mbit/s, 3 to 120 ms and 0.5 to 16 BDP of queue, and prints its share of each with 95 % intervals. A "
    "part is 25 to 75 % of the link beside one rival, half of an equal share beside several. Exit code 1: "
    "one promise is missed, or its interval does not say."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which scheme, on how many links."""
    parser.add_argument(
        "--scheme", default="indigo2", metavar="A", help="any that flies in the twin (default: indigo2)"
    )
    parser.add_argument("--random", type=count, default=100, metavar="N", help="links (default: 100)")
    drawn = parser.add_mutually_exclusive_group()
    drawn.add_argument("--seed", type=seed, default=777, metavar="N", help="of the links (default: 777)")
    drawn.add_argument("--fresh", action="store_true", help="a seed by the clock; it is printed, for --seed")


def run(args: argparse.Namespace) -> int:
    """Flies beside every kind of rival."""
    from concurrent.futures import ThreadPoolExecutor

    from ccgym.evaluation.schemes import select_native
    from ccgym.experiments.competition import RIVALRIES, competition_bars

    scheme = select_native(args.scheme)
    drawn = time.time_ns() // 1_000_000 if args.fresh else args.seed
    if not args.json:
        print(f"links drawn with seed {drawn}: --seed {drawn} draws them again")

    def say(bar: "Bar") -> None:
        if not args.json:
            print(bar.line, flush=True)

    with ThreadPoolExecutor(os.cpu_count()) as executor:
        bars = competition_bars(scheme, RIVALRIES, args.random, drawn, executor, say)
    if args.json:
        print(json.dumps({"seed": drawn, "bars": [asdict(bar) for bar in bars]}))
    return 0 if all(bar.met for bar in bars) else 1
