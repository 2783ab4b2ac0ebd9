"""The episodes of a training: those to learn from, drawn anew each iteration, and those to validate on."""

from collections.abc import Sequence
from concurrent.futures import Executor
from functools import partial
from typing import TypeVar

import numpy as np
from ccgym.envs.specs.emulator_spec import EmulatorSpec
from ccgym.envs.specs.random_emulators import random_emulators
from ccgym.envs.specs.splits import Split
from ccgym.training.executors import RayExecutor
from ccgym.training.tasks.links import links_to_validate_on, own_link

from .actor import Actor, as_actor, make_batch, mean_reward
from .agent import GroupRelative, initial_policy
from .cluster import ClusterVecEnv, EpisodesPart
from .config import RlConfig
from .log_power import LogPower, Reference, ReferenceRecorder
from .shape import Shape

Each = TypeVar("Each")

SAMPLING = 0
EPISODE = 1
"""Numbers of the random streams: part of each stream's seed, after the configuration's."""
UNSEEN = 1_000_000
"""Distance of the seeds of the episodes that training never sees."""
STEPS_PER_S = 100
_TRIED_FLOWS, _TRIED_STEPS = 2, 20


class Episodes:
    """The flows of the training; those of a group are next to each other."""

    def __init__(
        self,
        config: RlConfig,
        shape: Shape,
        specs: Sequence[EmulatorSpec],
        threads: int,
        rollout_workers: Executor,
    ) -> None:
        """`rollout_workers`: a Ray cluster for the flows, or the number of threads in this process."""
        self._config = config
        self._specs = specs
        self._references = _references(config, shape, specs, threads)
        part = partial(EpisodesPart, config, shape, specs[0])
        self._flows: EpisodesPart | ClusterVecEnv
        if isinstance(rollout_workers, RayExecutor):
            self._flows = ClusterVecEnv(rollout_workers, part, config.environments)
        else:
            self._flows = part(config.environments, threads)
        self.envs = GroupRelative(self._flows, config.group_size, config.reward_scale)

    def sample(self, iteration: int) -> None:
        """Draws the emulators and the seeds of an iteration's flows."""
        generator = np.random.default_rng([self._config.seed, SAMPLING, iteration])
        paths, group_size = self._config.paths, self._config.group_size
        if self._config.links:
            specs, references = [own_link(self._config.links, generator) for _ in range(paths)], None
        else:
            sampled = np.resize(generator.permutation(len(self._specs)), paths).tolist()
            specs = [self._specs[number] for number in sampled]
            references = self._references and [self._references[number] for number in sampled]
        seeds = generator.integers(2**31, size=paths).tolist()
        self._flows.prepare(
            _repeated(specs, group_size),
            _repeated(seeds, group_size),
            references and _repeated(references, group_size),
        )


def _repeated(each: Sequence[Each], times: int) -> list[Each]:
    """The items, each repeated `times` times in a row."""
    return [one for one in each for _ in range(times)]


def try_out(config: RlConfig, shape: Shape, specs: Sequence[EmulatorSpec]) -> None:
    """Makes a few steps with the user's own code before a run begins.

    Raises:
        InputError: the user's reward, features or links raise an exception, or give wrong values.
    """
    reward = "power" if config.reward == "log_power" else config.reward
    if config.links:
        specs = [own_link(config.links, np.random.default_rng(0))]
    envs = make_batch(shape, reward, specs[:1], flows=_TRIED_FLOWS, steps=_TRIED_STEPS)
    mean_reward(envs, lambda _: np.zeros_like(envs.action_space.sample()), _TRIED_STEPS, seed=0)


class Validator:
    """Episodes over emulators that training never sees, to measure a policy's reward."""

    def __init__(
        self,
        config: RlConfig,
        shape: Shape,
        *,
        split: Split,
        seed: int,
        episodes: int = 1,
        threads: int = 1,
    ) -> None:
        """Makes `episodes` episodes per emulator; `seed` is that of their random numbers.

        The emulators are those that the configuration names for validation, and random ones of `split`.
        """
        specs = validation_links(config, split)
        references = _references(config, shape, specs, threads)
        self._seed = seed
        self._steps = round(STEPS_PER_S * config.evaluation_seconds)
        self._envs = make_batch(
            shape,
            config.reward if references is None else LogPower(config.delay_weight, references * episodes),
            specs,
            flows=len(specs) * episodes,
            steps=self._steps,
            threads=threads,
        )

    @property
    def flows(self) -> int:
        """Number of flows that an actor runs at once."""
        return self._envs.num_envs

    def mean_reward(self, actor: Actor) -> float:
        """Mean reward per step, always over the same episodes."""
        return mean_reward(self._envs, actor, self._steps, self._seed)


def validation_links(config: RlConfig, split: Split) -> list[EmulatorSpec]:
    """The links named for validation, and random ones of a split."""
    named = [emulator.spec for emulator in links_to_validate_on("validation", config.validation)]
    return [*named, *random_emulators(config.unseen_emulators, config.seed, split)]


def _references(
    config: RlConfig, shape: Shape, specs: Sequence[EmulatorSpec], threads: int
) -> list[Reference] | None:
    """The results of the policy to start from on each emulator; None if the reward needs no reference."""
    if config.reward != "log_power":
        return None
    recorder = ReferenceRecorder()
    envs = make_batch(shape, recorder, specs, flows=len(specs), steps=config.episode_steps, threads=threads)
    module, _ = initial_policy(config)
    mean_reward(envs, as_actor(module, shape.actions), config.episode_steps, UNSEEN)
    return recorder.references()
