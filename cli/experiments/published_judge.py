"""`ccgym reproduce published-judge`: our schemes beside the figures that others have published."""

import argparse
import json
import os
from dataclasses import asdict

from .flights import SEED

HELP = "our schemes beside the figures that others have published"
DESCRIPTION = (
    "Flies our schemes in the twin over the emulators on which others have measured the same, and over "
    "wired and cellular emulators beside averages over paths that are not here; of those only the "
    "distance is given. Exit code 1: on one of the emulators throughput or p95 delay is further than 15 % "
    "from the range of theirs. With CCGYM_TRACES the recorded cellular links are flown as well."
)


def add_arguments(_: argparse.ArgumentParser) -> None:
    """None: schemes and emulators are those with published figures."""


def run(args: argparse.Namespace) -> int:
    """Flies every scheme that has figures."""
    from concurrent.futures import ThreadPoolExecutor

    from ccgym.experiments.published_figures import STANFORD_2019
    from ccgym.experiments.published_judge import PublishedJudge, averages_lines, published_lines

    with ThreadPoolExecutor(os.cpu_count()) as executor:
        judge = PublishedJudge(executor, SEED)
        rows, averages = judge.rows(), judge.averages()
    if args.json:
        emulators, paths = [asdict(row) for row in rows], [asdict(row) for row in averages]
        print(json.dumps({"emulators": emulators, "paths": paths}))
    else:
        print("\n".join([*published_lines(rows), "", f"{STANFORD_2019}:", *averages_lines(averages)]))
    return 0 if all(row.agrees for row in rows) else 1
