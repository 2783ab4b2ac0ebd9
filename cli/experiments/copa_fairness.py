"""`ccgym reproduce copa-fairness`: how flows that come and go share a link."""

import argparse
import json
from dataclasses import asdict

from .flights import SEED

HELP = "Jain's index of flows that come and go, beside Copa's paper"
DESCRIPTION = (
    "Ten flows of a scheme join a link of 46 Mbit/s one a second and leave it one a second, in the twin. "
    "Exit code 1: the median of Jain's index is not within the published figures, to 0.02."
)


def add_arguments(_: argparse.ArgumentParser) -> None:
    """None: the schemes and the link are the published ones."""


def run(args: argparse.Namespace) -> int:
    """Flies each scheme against itself."""
    from ccgym.experiments.copa_fairness import fairness_lines, fairness_rows

    rows = list(fairness_rows(SEED))
    print(json.dumps([asdict(row) for row in rows]) if args.json else "\n".join(fairness_lines(rows)))
    return 0 if all(row.agrees for row in rows) else 1
