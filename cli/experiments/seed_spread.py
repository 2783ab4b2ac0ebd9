"""`ccgym reproduce seed-spread`: how much of a policy is its seed's luck."""

import argparse
import json
import sys
from contextlib import redirect_stdout
from dataclasses import asdict

from ccgym.configs.arguments import count

from .trainings import add_training_arguments

HELP = "trainings from several seeds, beside BBR"
DESCRIPTION = (
    "Trains a policy from several seeds, and flies each and BBR in the twin over the same random emulators, "
    "which no training sees. Exit code 1: the standard deviation over the seeds of the mean of "
    "ln(throughput / p95 delay) is more than 3 % of what the policies are ahead of BBR. Started again with "
    "the same --out, it goes on."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What is trained, how often and how long, and on how much it is measured."""
    add_training_arguments(parser, "indigo2", "dagger")
    parser.add_argument("--random", type=count, default=200, metavar="N", help="emulators (default: 200)")


def run(args: argparse.Namespace) -> int:
    """Trains what is left to train, then flies."""
    from ccgym.experiments.seed_spread import RIVAL, WANTED_SHARE, measure_spread
    from ccgym.training.config import TrainingConfig, config_file, load_config

    overrides = {} if args.iterations is None else {"iterations": args.iterations}
    config = load_config(config_file(args.config), overrides, TrainingConfig)
    with redirect_stdout(sys.stderr):  # the progress of the trainings
        spread = measure_spread(config, args.seeds, args.out, args.random, args.workers)
    if args.json:
        derived = {"deviation": spread.deviation, "gap": spread.gap, "narrow": spread.is_narrow}
        print(json.dumps({**asdict(spread), **derived}))
    else:
        print(f"mean of ln(throughput / p95 delay) on {args.random} random unseen emulators")
        for seed, mean in enumerate(spread.policies, 1):
            print(f"seed {seed:<6}{mean:10.4f}")
        print(f"{RIVAL:11}{spread.rival:10.4f}")
        print(
            f"standard deviation {spread.deviation:.4f}, {spread.deviation / spread.gap:.1%} of the gap of "
            f"{spread.gap:.4f}; wanted: <= {WANTED_SHARE:.0%}"
        )
    return 0 if spread.is_narrow else 1
