"""Does it learn? Policies trained from several seeds, beside a random and a fixed one, in the twin."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from ccgym.agents.policy_file import load_policy
from ccgym.dagger.run_directory import RunDirectory
from ccgym.envs.emulators import select_emulators
from ccgym.envs.vector_env import PathVectorEnv
from numpy.typing import NDArray

from .agent import as_actor
from .config import RlConfig
from .train import train

EVALUATION_SEED = 1_000_000
"""Far from the seeds of any training."""
EVALUATION_EPISODES = 8
"""Per emulator."""

Actions = NDArray[Any]
Actor = Callable[[NDArray[np.float32]], Actions]
"""Observations (N, I) of N flows to their actions; asked step by step from the start of the flows."""


@dataclass(frozen=True)
class Learning:
    """Mean reward per step, each over the same evaluation episodes."""

    learnt: list[float]
    """Of the policy of each seed after its last iteration."""
    random: float
    """Of actions drawn evenly from the action space."""
    fixed: float
    """Of the action that changes nothing."""

    @property
    def interval(self) -> tuple[float, float]:
        """95 % confidence interval of the mean over seeds (Student's t)."""
        half = _student_t(len(self.learnt) - 1) * float(np.std(self.learnt, ddof=1))
        mean = float(np.mean(self.learnt))
        return mean - half / math.sqrt(len(self.learnt)), mean + half / math.sqrt(len(self.learnt))

    @property
    def learns(self) -> bool:
        """Whether the whole interval lies above both others."""
        return self.interval[0] > max(self.random, self.fixed)


def _student_t(degrees: int) -> float:
    """Its 97.5 % quantile for 1 to 10 degrees of freedom."""
    return (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228)[degrees - 1]


def measure_learning(config: RlConfig, seeds: int, folder: Path, workers: int) -> Learning:
    """Trains `seeds` policies, or goes on with those in `folder`, and evaluates what has become of each.

    Raises:
        InputError: a run in `folder` cannot be gone on with.
    """
    learnt = []
    config = config.model_copy(
        update={"evaluation_interval": config.iterations}
    )  # the last policy: no choice
    for seed in range(1, seeds + 1):
        seeded = config.model_copy(update={"seed": seed})
        run = RunDirectory(folder / f"seed-{seed}", RlConfig)
        if not run.is_finished(seeded):
            resume = (run.folder / "config.yaml").exists()
            train(seeded, run, resume=resume, workers=workers)
        module, _ = load_policy(run.best_policy)
        learnt.append(_mean_reward(config, as_actor(module, config.actions)))
    generator = np.random.default_rng(EVALUATION_SEED)
    count = _evaluation_batch(config).num_envs
    if config.actions == "indigo":
        return Learning(
            learnt,
            random=_mean_reward(config, lambda _: generator.integers(0, 5, count)),
            fixed=_mean_reward(config, lambda _: np.full(count, 2)),
        )
    return Learning(
        learnt,
        random=_mean_reward(config, lambda _: generator.uniform(-1, 1, (count, 1))),
        fixed=_mean_reward(config, lambda _: np.zeros((count, 1))),
    )


def _evaluation_batch(config: RlConfig) -> PathVectorEnv:
    specs = [emulator.spec for emulator in select_emulators(config.emulators)]
    return PathVectorEnv(
        len(specs) * EVALUATION_EPISODES,
        config.episode_steps,
        emulator=specs,
        features=config.features,
        actions=config.actions,
        reward=config.reward,
    )


def _mean_reward(config: RlConfig, actor: Actor) -> float:
    envs = _evaluation_batch(config)
    observations, _ = envs.reset(seed=EVALUATION_SEED)
    total = 0.0
    for _ in range(config.episode_steps):
        observations, rewards, *_ = envs.step(actor(observations))
        total += float(rewards.mean())
    return total / config.episode_steps
