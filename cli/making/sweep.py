"""`ccgym sweep`: searches the settings of a training."""

import argparse
import json
import os
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ccgym.configs.arguments import count, device

from .before_training import check_training

if TYPE_CHECKING:
    from ccgym.experiments.training.sweep import Trial


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds the sub-command to the command line."""
    parser = subparsers.add_parser(
        "sweep",
        help="search the settings of a training",
        description="Trains again and again, each time from the same seed with settings that Optuna (TPE) "
        "proposes, and keeps the best of them as DIR/best.yaml, for ccgym train --config. CONFIG is YAML: "
        "config (of the training), settings (fixed), search (NAME: {choices: [...]} or {low: L, high: H, "
        "log: true}), trials, seed. Interrupted and called again, it goes on in the middle of a training.",
    )
    parser.add_argument("config", type=Path, metavar="CONFIG", help="the YAML file of the search")
    parser.add_argument("--trials", type=count, default=None, metavar="N", help="default: CONFIG's")
    parser.add_argument(
        "--out", type=Path, default=None, metavar="DIR", help="default: sweeps/NAME, NAME from that of CONFIG"
    )
    parser.add_argument("--workers", type=count, default=os.cpu_count(), help="threads (default: all cores)")
    parser.add_argument(
        "--device", type=device, default="cpu", metavar="D", help="cpu (default), cuda or cuda:N"
    )
    parser.add_argument("--json", action="store_true", help="print all trials as JSON")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Runs the sub-command; returns the exit code."""
    import sys
    from contextlib import redirect_stdout

    from ccgym.envs.host.folder_lock import folder_lock
    from ccgym.envs.outside_files import naming
    from ccgym.experiments.training.sweep import first_config, kind_of, load_sweep, sweep
    from ccgym.rl.config import RlConfig
    from ccgym.training.config import RunConfig, TrainingConfig

    config = load_sweep(args.config)
    if args.trials is not None:
        config = config.model_copy(update={"trials": args.trials})
    folder = args.out or Path("sweeps") / args.config.stem
    kind: type[RunConfig] = TrainingConfig if kind_of(config) == "dagger" else RlConfig
    check_training(first_config(config, kind))
    train = _train_by_imitation() if kind is TrainingConfig else _train_by_reward()
    from ccgym.training.device import device_of  # late, as the trainings: PyTorch takes seconds

    found: list[Trial] = []

    def report(trial: "Trial") -> None:
        found.append(trial)
        print(f"trial {trial.number:3}  criterion {trial.criterion:.4f}  {trial.settings}", flush=True)

    # The progress of the trainings goes to stderr as well; Optuna's journal does not say where it is.
    with redirect_stdout(sys.stderr), folder_lock(folder), naming(folder):
        arguments = {"workers": args.workers, "device": device_of(args.device)}
        best = sweep(config, folder, kind, partial(train, **arguments), report)
    if args.json:
        print(json.dumps({"best": asdict(best), "trials": [asdict(trial) for trial in found]}))
    else:
        print(f"best: trial {best.number}, criterion {best.criterion:.4f}: {folder}/best.yaml")
        print("\n".join(f"{name}: {value}" for name, value in best.settings.items()))
    return 0


def _train_by_imitation() -> Callable[..., None]:
    from ccgym.dagger.train import train

    return train


def _train_by_reward() -> Callable[..., None]:
    from ccgym.rl.train import train

    return train
