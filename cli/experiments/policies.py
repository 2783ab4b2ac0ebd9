"""The policy that an experiment measures."""

import argparse
from pathlib import Path


def add_policy_argument(parser: argparse.ArgumentParser) -> None:
    """Which policy."""
    parser.add_argument(
        "--scheme", default="indigo2", metavar="A", help="indigo2 (default), policy:FILE or run:DIR"
    )


def policy_file_of(scheme: str) -> Path:
    """Raises InputError: unknown, or not a policy."""
    from ccgym.envs.errors import InputError
    from ccgym.evaluation.schemes import select_schemes

    (selected,) = select_schemes(scheme)[:1]
    if selected.policy_file is None:
        raise InputError(f"--scheme {scheme}: not a policy, as indigo2, policy:FILE and run:DIR are")
    return selected.policy_file
