"""`ccgym train`: trains a policy on emulators."""

import argparse
import math
import os
from pathlib import Path
from typing import Any

from .arguments import count, seed


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds the sub-command to the command line."""
    parser = subparsers.add_parser(
        "train",
        help="train a policy on emulators",
        description="Trains a policy on emulators and keeps the best one as DIR/best/policy.safetensors. "
        "Ctrl-C leaves a run that --resume goes on with.",
    )
    parser.add_argument(
        "--config", default=None, help="training config: indigo2 (default), indigo-2018 or a YAML file"
    )
    parser.add_argument(
        "--emulators",
        default=None,
        help="groups, group/names or file:PATH, comma-separated (default: the config's)",
    )
    parser.add_argument(
        "--algo", choices=["dagger"], default="dagger", help="training algorithm (default: dagger)"
    )
    parser.add_argument(
        "--out", type=Path, default=None, help="folder of the run (default: runs/NAME of the config)"
    )
    parser.add_argument(
        "--resume", action="store_true", help="go on with the run in --out, to the same weights"
    )
    parser.add_argument("--workers", type=count, default=os.cpu_count(), help="threads (default: all cores)")
    parser.add_argument(
        "--seed", type=seed, default=None, help="same seed, same weights (default: the config's)"
    )
    parser.add_argument(
        "--minutes", type=_positive_float, default=math.inf, help="stop after so many minutes"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Runs the sub-command; returns the exit code."""
    from ccgym.dagger.config import config_file, load_config
    from ccgym.dagger.run_directory import RunDirectory
    from ccgym.dagger.train import train
    from ccgym.dagger.trial import summarise_groups
    from ccgym.envs.errors import InputError

    overrides: dict[str, Any] = {
        key: value for key, value in (("emulators", args.emulators), ("seed", args.seed)) if value is not None
    }
    config = load_config(config_file(args.config or "indigo2"), overrides)
    run = RunDirectory(args.out or Path("runs") / config.name)
    if args.resume:
        kept = run.config()
        for key, value in overrides.items():
            if getattr(kept, key) != value:
                raise InputError(
                    f"--{key} {value}: the run in {run.folder} has {getattr(kept, key)}; leave it out"
                )
        if args.config is not None and kept != config:
            raise InputError(
                f"--config {args.config}: the run in {run.folder} has other settings; leave it out"
            )
        config = kept
    if args.resume or not run.is_finished(config):
        train(config, run, resume=args.resume, workers=args.workers, minutes=args.minutes)
    best = run.best_metrics()
    print(f"the best policy is {run.best_policy}, of iteration {best['iteration'] + 1}")
    print("\n".join(summarise_groups(run.final_metrics())))
    return 0


def _positive_float(text: str) -> float:
    value = float(text)
    if not value > 0:
        raise argparse.ArgumentTypeError(f"{text}: must be above 0")
    return value
