"""The trainings that experiments repeat from several seeds."""

import argparse
import os
from pathlib import Path

from ccgym.configs.arguments import count, seeds


def add_training_arguments(parser: argparse.ArgumentParser, config: str, kind: str) -> None:
    """What is trained, how often and how long; with the default of the experiment."""
    parser.add_argument("--config", default=config, help=f"configuration of {kind} (default: {config})")
    parser.add_argument("--seeds", type=seeds, default=5, metavar="N", help="2 to 11 (default: 5)")
    parser.add_argument(
        "--iterations", type=count, default=None, metavar="N", help="of each training (default: the config's)"
    )
    parser.add_argument("--workers", type=count, default=os.cpu_count(), help="threads (default: all cores)")
    parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="where the runs go")
