"""`ccgym reproduce calibration-ablation`: what each parameter of an emulator is worth."""

import argparse
import json
from dataclasses import asdict
from pathlib import Path

HELP = "what each parameter of a calibrated emulator is worth, in the order of the Pantheon paper's Figure 5"
DESCRIPTION = (
    "Measures the published emulators of China and Colombia through the twin with 8 schemes and replicates "
    "them with the rate alone, then with delay, queue, loss and arrivals as well. Exit code 1: a parameter "
    "more makes the error larger by more than half a point."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """For how long, and where the searches are kept."""
    parser.add_argument(
        "--minutes", type=float, default=1.0, metavar="M", help="of each of 10 searches at most (default: 1)"
    )
    parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="where the searches are kept")


def run(args: argparse.Namespace) -> int:
    """Searches each in turn."""
    from ccgym.experiments.calibration_ablation import ablations, bars

    found = []
    for each in ablations(args.out, args.minutes):
        found.append(each)
        if not args.json:
            print(f"{each.path:10} {each.step:10} {100 * each.error:6.1f} %", flush=True)
    held = bars(found)
    if args.json:
        print(json.dumps({"errors": [asdict(each) for each in found], "bars": [asdict(bar) for bar in held]}))
    else:
        print("\n".join(bar.line for bar in held))
    return 0 if all(bar.met for bar in held) else 1
