"""`ccgym reproduce evidence`: the page that says what the shipped policy holds and misses."""

import argparse
import json
import os
import shlex
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from ccgym.configs.arguments import count, seed

from .policies import add_policy_argument, policy_file_of

if TYPE_CHECKING:
    from ccgym.experiments.bar import Bar

HELP = "the page on what a policy holds and misses, alone and beside others"
DESCRIPTION = (
    "Measures what policy-bars and competition do, on links that are drawn now, and writes the page of the "
    "documentation. Exit code 1: a check is missed or not sure; the page says which."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which policy, on how many links, and where the page goes."""
    add_policy_argument(parser)
    parser.add_argument(
        "--random", type=count, default=200, metavar="N", help="random links of a check (default: 200)"
    )
    parser.add_argument(
        "--freezing", type=count, default=10_000, metavar="N", help="links to freeze on (default: 10000)"
    )
    parser.add_argument(
        "--contested", type=count, default=60, metavar="N", help="links of each rivalry (default: 60)"
    )
    parser.add_argument(
        "--seed", type=seed, default=None, metavar="S", help="of the links (default: by the clock)"
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("docs/evidence.md"),
        metavar="FILE",
        help="the page (default: docs/evidence.md)",
    )


def run(args: argparse.Namespace) -> int:
    """Measures, then writes the page."""
    from ccgym.envs.outside_files import replace_file
    from ccgym.experiments.evidence import measure_evidence, page

    policy = policy_file_of(args.scheme)
    drawn = time.time_ns() // 1_000_000 if args.seed is None else args.seed

    def say(bar: "Bar") -> None:
        print(bar.line, file=sys.stderr, flush=True)

    with ThreadPoolExecutor(os.cpu_count()) as executor:
        evidence = measure_evidence(
            policy,
            executor,
            links=args.random,
            freezing=args.freezing,
            contested=args.contested,
            seed=drawn,
            say=say,
        )
    command = shlex.join(["ccgym", "reproduce", "evidence", *_arguments_again(args, drawn)])
    replace_file(args.out, lambda path: path.write_text(page(evidence, command)))
    if args.json:
        print(json.dumps({"seed": drawn, "bars": [asdict(bar) for bar in evidence.bars]}))
    else:
        print(f"{args.out}: {sum(bar.met is True for bar in evidence.bars)} of {len(evidence.bars)} held")
    return 0 if all(bar.met for bar in evidence.bars) else 1


def _arguments_again(args: argparse.Namespace, drawn: int) -> list[str]:
    """What measures the same links again."""
    again = ["--seed", str(drawn)]
    for name, usual in (("scheme", "indigo2"), ("random", 200), ("freezing", 10_000), ("contested", 60)):
        if getattr(args, name) != usual:
            again += [f"--{name}", str(getattr(args, name))]
    return again
