"""Tests whether training learns: policies of several seeds beside a random, a fixed and the initial one."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from ccgym.agents.policy_file import load_policy
from ccgym.envs.specs.splits import Split
from ccgym.training.runs.run_directory import RunDirectory
from scipy.stats import sem, t

from .actor import as_actor
from .agent import initial_policy
from .config import RlConfig
from .episodes import Validator
from .shape import Shape, find_shape
from .train import train

EVALUATION_SEED = 3_000_000
"""Seed of the evaluation, far from those of any training."""
EVALUATION_EPISODES = 8
"""Evaluation episodes per emulator."""


@dataclass(frozen=True)
class Learning:
    """Mean reward per step, each over the same evaluation episodes."""

    learnt: list[float]
    """Reward of each seed's policy after its last iteration."""
    random: float
    """Reward of actions drawn uniformly from the action space."""
    fixed: float
    """Reward of the action that changes nothing."""
    initial: float | None = None
    """Reward of the policy from which training started, if there is one."""

    @property
    def interval(self) -> tuple[float, float]:
        """95 % confidence interval of the mean over seeds (Student's t)."""
        low, high = t.interval(0.95, len(self.learnt) - 1, loc=np.mean(self.learnt), scale=sem(self.learnt))
        return float(low), float(high)

    @property
    def learns(self) -> bool:
        """Whether the whole interval lies above all others."""
        others = [self.random, self.fixed] + ([] if self.initial is None else [self.initial])
        return self.interval[0] > max(others)


def measure_learning(config: RlConfig, seeds: int, folder: Path, workers: int) -> Learning:
    """Trains `seeds` policies, or goes on with those in `folder`, and evaluates each.

    Raises:
        InputError: a run in `folder` has other settings.
    """
    shape = find_shape(config)
    validator = Validator(config, shape, split=Split.TEST, seed=EVALUATION_SEED, episodes=EVALUATION_EPISODES)
    config = config.model_copy(
        update={"evaluation_interval": config.iterations}
    )  # the last policy, not the best: no selection
    learnt = []
    for seed in range(1, seeds + 1):
        seeded = config.model_copy(update={"seed": seed})
        run = RunDirectory(folder / f"seed-{seed}", RlConfig)
        if not run.is_finished(seeded):
            resume = (run.folder / "config.yaml").exists()
            train(seeded, run, resume=resume, workers=workers)
        module, _ = load_policy(run.best_policy)
        learnt.append(validator.mean_reward(as_actor(module, shape.actions)))
    generator = np.random.default_rng(EVALUATION_SEED)
    count = validator.flows
    classes = shape.actions == "indigo"
    return Learning(
        learnt,
        random=validator.mean_reward(
            lambda _: generator.integers(0, 5, count) if classes else generator.uniform(-1, 1, (count, 1))
        ),
        fixed=validator.mean_reward(lambda _: np.full(count, 2) if classes else np.zeros((count, 1))),
        initial=_reward_of_start(validator, config, shape) if config.init else None,
    )


def _reward_of_start(validator: Validator, config: RlConfig, shape: Shape) -> float:
    module, _ = initial_policy(config)
    return validator.mean_reward(as_actor(module, shape.actions))
