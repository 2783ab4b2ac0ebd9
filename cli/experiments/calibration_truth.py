"""`ccgym reproduce calibration-truth`: known emulators found again from measurements alone."""

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from ccgym.configs.arguments import count

HELP = "known emulators found again from measurements alone"
DESCRIPTION = (
    "Draws emulators, measures them through the twin with 8 schemes and 3 runs each, and calibrates on these "
    "figures. Exit code 1: rate or delay is off by more than 10 %, a queue that fills by more than 25 %, "
    "loss by more than 30 % and 0.2 points, arrivals are wrong in more than 10 %, schemes that were not "
    "searched with differ by more than 5 %, or the 90 % intervals hold the truth in less than 85 %."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """How many, for how long, and where the searches are kept."""
    parser.add_argument("--count", type=count, default=20, metavar="N", help="emulators (default: 20)")
    parser.add_argument(
        "--minutes", type=float, default=5.0, metavar="M", help="of each search at most (default: 5)"
    )
    parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="where the searches are kept")


def run(args: argparse.Namespace) -> int:
    """Searches each in turn."""
    from ccgym.experiments.calibration_truth import bars, recoveries, recovery_line

    found = []
    for recovery in recoveries(args.out, args.count, args.minutes):
        found.append(recovery)
        if not args.json:
            print(recovery_line(recovery), flush=True)
    held = bars(found)
    if args.json:
        rows = [
            {"truth": asdict(each.truth), "held_out_error": each.held_out_error} | each.answer.as_json()
            for each in found
        ]
        print(json.dumps({"recoveries": rows, "bars": [asdict(bar) for bar in held]}))
    else:
        print("\n".join(bar.line for bar in held))
    return 0 if all(bar.met for bar in held) else 1
