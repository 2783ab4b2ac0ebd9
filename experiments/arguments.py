"""Arguments that several experiments share."""

import argparse
import os
import time
from pathlib import Path

from ccgym.configs.arguments import count, seconds, seed, seeds
from ccgym.envs.errors import InputError
from ccgym.evaluation.schemes import select_schemes


def add_policy_argument(parser: argparse.ArgumentParser) -> None:
    """Adds `--scheme`: which policy is measured."""
    parser.add_argument(
        "--scheme", default="indigo2", metavar="A", help="indigo2 (default), policy:FILE or run:DIR"
    )


def policy_file_of(scheme: str) -> Path:
    """The file of a policy; it is measured at the preference of its file.

    Raises:
        InputError: the scheme is unknown, is no policy, or has a preference.
    """
    selected = select_schemes(scheme)
    if len(selected) != 1 or selected[0].policy_file is None:
        raise InputError(f"--scheme {scheme}: not a policy, as indigo2, policy:FILE and run:DIR are")
    if selected[0].preference:
        without = scheme.removesuffix(f":{selected[0].preference}")
        raise InputError(
            f"--scheme {scheme}: a preference cannot be chosen here: --scheme {without} is measured at that "
            "of its file"
        )
    return selected[0].policy_file


def add_seed_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds `--seed` and its alternative: whether the same links are drawn each time, or others."""
    drawn = parser.add_mutually_exclusive_group()
    drawn.add_argument("--seed", type=seed, default=777, metavar="N", help="seed of the links (default: 777)")
    drawn.add_argument(
        "--fresh",
        action="store_true",
        help="a seed by the clock: links drawn after the policy was made; it is printed, for --seed",
    )


def add_starvation_argument(parser: argparse.ArgumentParser, links: str) -> None:
    """Adds `--starvation`, and its former name; `links`: what the command calls them."""
    parser.add_argument(
        "--starvation",
        type=count,
        default=10_000,
        metavar="N",
        help=f"{links} to look for starvation on (default: 10000)",
    )
    parser.add_argument(
        "--freezing", dest="starvation", type=count, default=argparse.SUPPRESS, help=argparse.SUPPRESS
    )


def drawn_seed(args: argparse.Namespace) -> int:
    """The seed of the links; printed, unless the answer is JSON."""
    drawn = time.time_ns() // 1_000_000 if args.fresh else int(args.seed)
    if not args.json:
        print(f"links drawn with seed {drawn}: --seed {drawn} draws them again")
    return drawn


def add_training_arguments(parser: argparse.ArgumentParser, config: str, kind: str) -> None:
    """Adds the arguments of trainings: what is trained, how often and how long; with these defaults."""
    parser.add_argument("--config", default=config, help=f"configuration of {kind} (default: {config})")
    parser.add_argument("--seeds", type=seeds, default=5, metavar="N", help="2 to 11 (default: 5)")
    parser.add_argument(
        "--iterations", type=count, default=None, metavar="N", help="of each training (default: the config's)"
    )
    parser.add_argument("--workers", type=count, default=os.cpu_count(), help="threads (default: all cores)")
    parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="where the runs go")


def add_evaluation_arguments(
    parser: argparse.ArgumentParser, emulators: str, schemes: str, runs: int
) -> None:
    """Adds the arguments of evaluations: what to run, how often and how long, and where it is kept."""
    parser.add_argument("--emulators", default=emulators, metavar="X,Y,...", help=f"default: {emulators}")
    parser.add_argument("--schemes", default=schemes, metavar="A,B,...", help=f"default: {schemes}")
    parser.add_argument(
        "--runs", type=count, default=runs, metavar="N", help=f"of each scheme (default: {runs})"
    )
    parser.add_argument("--seconds", type=seconds, default=30.0, metavar="S", help="of a flow (default: 30)")
    parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="where the runs are kept")
