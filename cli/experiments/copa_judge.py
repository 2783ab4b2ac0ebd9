"""`ccgym reproduce copa-judge`: our Copa beside its authors' program."""

import argparse
import json
from dataclasses import asdict

from .flights import SEED

HELP = "our Copa beside its authors' program"
DESCRIPTION = (
    "Flies our Copa in the twin over links and paths that its authors' genericCC was measured on in real "
    "mahimahi. Exit code 1: throughput or p95 delay is further than 15 % from the range of theirs."
)


def add_arguments(_: argparse.ArgumentParser) -> None:
    """None: the links are those with figures of genericCC."""


def run(args: argparse.Namespace) -> int:
    """Flies over every link and path."""
    from ccgym.experiments.copa_judge import copa_lines, copa_rows

    rows = copa_rows(SEED)
    print(json.dumps([asdict(row) for row in rows]) if args.json else "\n".join(copa_lines(rows)))
    return 0 if all(row.agrees for row in rows) else 1
