"""The spread of a policy over training seeds, alone and among its own kind, and which of the seeds ships."""

import argparse
import sys
from collections.abc import Callable
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import redirect_stdout
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from ccgym.configs.arguments import count
from ccgym.envs.errors import InputError
from ccgym.envs.specs.emulators import NamedEmulator, select_emulators
from ccgym.envs.specs.splits import Split
from ccgym.experiments.acceptance.sharing import (
    GROUP_JAIN,
    JOINING_JAIN,
    UNEQUAL,
    group_case,
    joining_run,
    unequal_case,
)
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
class OwnKind:
    """Means of Jain's index among flows of one policy, on links of the split `validation`."""

    joining: float
    """Ten flows that join and leave one link, the link of the checks, at times of that split."""
    groups: float
    """2 to 16 flows that stay."""
    unequal: tuple[float, ...]
    """Two flows of unequal RTTs, for each ratio of `UNEQUAL`."""

    @property
    def held(self) -> int:
        """How many of the means reach their bound."""
        wanted = (JOINING_JAIN, GROUP_JAIN, *(least for _, least in UNEQUAL))
        means = (self.joining, self.groups, *self.unequal)
        return sum(mean >= least for mean, least in zip(means, wanted, strict=True))


@dataclass(frozen=True)
class SeedSpread:
    """Results of each seed's best policy: means of ln(throughput / p95 delay), and of Jain's index."""

    policies: list[float]
    """Alone, on unseen emulators."""
    rival: float
    """BBR's on those."""
    validation: list[float]
    """Alone, on emulators of the split `validation`."""
    own_kind: list[OwnKind]

    @property
    def chosen_seed(self) -> int:
        """The seed to ship: among those that share best, the one that is best alone, all by validation.

        Seeds differ more in how flows of a policy share a link than in the results of one flow alone, and the
        bounds on sharing are close to what the seeds reach.
        """
        worth = [(own.held, alone) for own, alone in zip(self.own_kind, self.validation, strict=True)]
        return max(range(len(worth)), key=worth.__getitem__) + 1

    @property
    def deviation(self) -> float:
        """The standard deviation over the seeds."""
        return float(np.std(self.policies, ddof=1))

    @property
    def gap(self) -> float:
        """Mean lead of the policies over the rival."""
        return float(np.mean(self.policies)) - self.rival

    @property
    def is_narrow(self) -> bool:
        """Whether the seeds differ by little compared with the lead."""
        return self.deviation <= WANTED_SHARE * self.gap


def measure_spread(
    config: TrainingConfig, seeds: int, folder: Path, emulators: int, shared: int, workers: int
) -> SeedSpread:
    """Trains `seeds` policies, or goes on with those in `folder`, and runs each over random emulators.

    Each runs alone over `emulators` of either split, and `shared` times in each case among its own kind.

    Raises:
        InputError: a run in `folder` has other settings.
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
            own_kind=[_own_kind(scheme, shared, executor) for scheme in schemes],
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


def spread_lines(spread: SeedSpread) -> list[str]:
    """The table and its conclusions as text."""
    ratios = "".join(f"{f'RTT 1:{times}':>10}" for times, _ in UNEQUAL)
    lines = [
        "mean of ln(throughput / p95 delay) alone; of Jain's index, on links of validation",
        f"{'':11}{'unseen':>10}{'validation':>12}{'joining':>10}{'groups':>10}{ratios}{'held':>6}",
    ]
    for seed, (unseen, validation, own) in enumerate(
        zip(spread.policies, spread.validation, spread.own_kind, strict=True), 1
    ):
        jain = "".join(f"{mean:10.3f}" for mean in (own.joining, own.groups, *own.unequal))
        lines.append(f"seed {seed:<6}{unseen:10.4f}{validation:12.4f}{jain}{own.held:6}")
    return [
        *lines,
        f"{RIVAL:11}{spread.rival:10.4f}",
        f"standard deviation {spread.deviation:.4f}, {spread.deviation / spread.gap:.1%} of the gap of "
        f"{spread.gap:.4f}; wanted: <= {WANTED_SHARE:.0%}",
        f"by validation seed {spread.chosen_seed} ships",
    ]


def _own_kind(scheme: str, runs: int, executor: Executor) -> OwnKind:
    def mean(jain_of: Callable[[int], float]) -> float:
        return float(np.mean(list(executor.map(jain_of, range(runs)))))

    return OwnKind(
        joining=mean(lambda number: joining_run(scheme, UNSEEN_SEED, number, Split.VALIDATION)[0]),
        groups=mean(lambda number: group_case(scheme, UNSEEN_SEED, number, Split.VALIDATION).jain),
        unequal=tuple(
            mean(partial(unequal_case, scheme, UNSEEN_SEED, times, split=Split.VALIDATION))
            for times, _ in UNEQUAL
        ),
    )


DESCRIPTION = (
    "Trains a policy from several seeds, and runs each and BBR in the twin over the same random emulators, "
    "which no training sees, and several flows of each on one link. Tells which seed ships: the best one "
    "alone of those that share best, on links of `validation`. Exit code 1: the standard deviation over the "
    "seeds of the mean of ln(throughput / p95 delay) is more than 3 % of the policies' lead over BBR. "
    "Started again with the same --out, it goes on."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments: what is trained, how often and how long, and on how many emulators it runs."""
    add_training_arguments(parser, "indigo2", "dagger")
    parser.add_argument("--random", type=count, default=200, metavar="N", help="emulators (default: 200)")
    parser.add_argument(
        "--shared",
        type=count,
        default=60,
        metavar="N",
        help="runs of each kind among its own (default: 60)",
    )


def run(args: argparse.Namespace) -> int:
    """Trains what is left to train, then runs."""
    overrides = {} if args.iterations is None else {"iterations": args.iterations}
    config = load_config(config_file(args.config), overrides, TrainingConfig)
    with redirect_stdout(sys.stderr):  # the progress of the trainings
        spread = measure_spread(config, args.seeds, args.out, args.random, args.shared, args.workers)
    if args.json:
        derived = {
            "deviation": spread.deviation,
            "gap": spread.gap,
            "narrow": spread.is_narrow,
            "chosen_seed": spread.chosen_seed,
        }
        print(json_text({**asdict(spread), **derived}))
    else:
        print("\n".join(spread_lines(spread)))
    return 0 if spread.is_narrow else 1
