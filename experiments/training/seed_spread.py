"""The spread of a policy over training seeds, run over emulators that none has seen."""

import argparse
import sys
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import redirect_stdout
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from ccgym.configs.arguments import count
from ccgym.envs.errors import InputError
from ccgym.envs.specs.emulators import NamedEmulator, select_emulators
from ccgym.experiments.arguments import add_training_arguments
from ccgym.experiments.json_text import json_text
from ccgym.training.config import TrainingConfig, config_file, load_config

if TYPE_CHECKING:
    from ccgym.training.runs.run_directory import RunDirectory

SECONDS = 30.0
UNSEEN_SEED = 780
RIVAL = "bbr"
WANTED_SHARE = 0.03


@dataclass(frozen=True)
class SeedSpread:
    """Means of ln(throughput / p95 delay) over the same emulators."""

    policies: list[float]
    """Of the best policy of each seed."""
    rival: float
    """Of BBR."""
    validation: list[float]
    """Of the best policy of each seed, over emulators of the split `validation`."""

    @property
    def median_seed(self) -> int:
        """The one that ships: in the middle by validation, not the best by test."""
        order = sorted(range(len(self.validation)), key=self.validation.__getitem__)
        return order[(len(order) - 1) // 2] + 1

    @property
    def deviation(self) -> float:
        """The standard deviation over the seeds."""
        return float(np.std(self.policies, ddof=1))

    @property
    def gap(self) -> float:
        """How far the policies are ahead of the rival on average."""
        return float(np.mean(self.policies)) - self.rival

    @property
    def is_narrow(self) -> bool:
        """Whether the seeds differ by little beside what a policy is worth."""
        return self.deviation <= WANTED_SHARE * self.gap


def measure_spread(
    config: TrainingConfig, seeds: int, folder: Path, emulators: int, workers: int
) -> SeedSpread:
    """Trains `seeds` policies, or goes on with those in `folder`, and runs each over random emulators.

    Raises:
        InputError: a run in `folder` cannot be gone on with.
    """
    runs = [
        _trained(config.model_copy(update={"seed": seed}), folder / f"seed-{seed}", workers)
        for seed in range(1, seeds + 1)
    ]
    unseen = select_emulators(f"random:{emulators}:{UNSEEN_SEED}")
    validation = select_emulators(f"random:validation:{emulators}:{UNSEEN_SEED}")
    schemes = [f"policy:{run.best_policy}" for run in runs]
    with ThreadPoolExecutor(workers) as executor:
        return SeedSpread(
            policies=[_mean_log_power(scheme, unseen, executor) for scheme in schemes],
            rival=_mean_log_power(RIVAL, unseen, executor),
            validation=[_mean_log_power(scheme, validation, executor) for scheme in schemes],
        )


def _trained(config: TrainingConfig, folder: Path, workers: int) -> "RunDirectory[TrainingConfig]":
    from ccgym.dagger.train import train  # late: with it comes PyTorch, which takes seconds
    from ccgym.training.runs.run_directory import RunDirectory

    run = RunDirectory(folder, TrainingConfig)
    begun = (folder / "config.yaml").exists()
    if begun and run.config() != config:
        raise InputError(f"{folder}: holds a run of other settings; choose another --out")
    if not run.is_finished(config):
        train(config, run, resume=begun, workers=workers)
    return run


def _mean_log_power(scheme: str, emulators: list[NamedEmulator], executor: Executor) -> float:
    from ccgym.training.rollouts import run_measured

    measured = executor.map(lambda emulator: run_measured(emulator, scheme, SECONDS), emulators)
    return float(np.mean([np.log(metrics.power) for metrics in measured]))


DESCRIPTION = (
    "Trains a policy from several seeds, and runs each and BBR in the twin over the same random emulators, "
    "which no training sees. Exit code 1: the standard deviation over the seeds of the mean of "
    "ln(throughput / p95 delay) is more than 3 % of the policies' lead over BBR. Started again with "
    "the same --out, it goes on."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What is trained, how often and how long, and on how much it is measured."""
    add_training_arguments(parser, "indigo2", "dagger")
    parser.add_argument("--random", type=count, default=200, metavar="N", help="emulators (default: 200)")


def run(args: argparse.Namespace) -> int:
    """Trains what is left to train, then runs."""
    overrides = {} if args.iterations is None else {"iterations": args.iterations}
    config = load_config(config_file(args.config), overrides, TrainingConfig)
    with redirect_stdout(sys.stderr):  # the progress of the trainings
        spread = measure_spread(config, args.seeds, args.out, args.random, args.workers)
    if args.json:
        derived = {
            "deviation": spread.deviation,
            "gap": spread.gap,
            "narrow": spread.is_narrow,
            "median_seed": spread.median_seed,
        }
        print(json_text({**asdict(spread), **derived}))
    else:
        print(f"mean of ln(throughput / p95 delay) on {args.random} random emulators: unseen, of validation")
        for seed, means in enumerate(zip(spread.policies, spread.validation, strict=True), 1):
            print(f"seed {seed:<6}{means[0]:10.4f}{means[1]:10.4f}")
        print(f"{RIVAL:11}{spread.rival:10.4f}")
        print(
            f"standard deviation {spread.deviation:.4f}, {spread.deviation / spread.gap:.1%} of the gap of "
            f"{spread.gap:.4f}; wanted: <= {WANTED_SHARE:.0%}"
        )
        print(f"the median by validation is seed {spread.median_seed}")
    return 0 if spread.is_narrow else 1
