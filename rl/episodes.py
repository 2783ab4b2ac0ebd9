"""The episodes of a training: those to learn from, drawn anew each iteration, and those to validate on."""

from collections.abc import Sequence

import numpy as np
from ccgym.envs.gym.sb3_vec_env import PathSb3VecEnv
from ccgym.envs.specs.distributions import draw, sources_of
from ccgym.envs.specs.emulator_spec import EmulatorSpec
from ccgym.envs.specs.random_emulators import random_emulators
from ccgym.envs.specs.splits import Split
from ccgym.training.tasks.links import links_to_validate_on

from .actor import Actor, as_actor, make_batch, mean_reward
from .agent import GroupRelative, Shape, initial_policy
from .config import RlConfig
from .log_power import LogPower, Reference, Watch

SAMPLING = 0
EPISODE = 1
"""What a random stream is for: part of its seed, after the configuration's."""
UNSEEN = 1_000_000
"""Distance of the seeds of the episodes that training never sees."""
STEPS_PER_S = 100
_TRIED_FLOWS, _TRIED_STEPS = 2, 20


class Episodes:
    """The native batch of flows; those of a group stand next to each other."""

    def __init__(self, config: RlConfig, shape: Shape, specs: Sequence[EmulatorSpec], threads: int) -> None:
        self._config = config
        self._specs = specs
        self._references = _references(config, shape, specs, threads)
        self._log_power = LogPower(config.delay_weight, [])
        self._native = PathSb3VecEnv(
            make_batch(
                shape,
                config.reward if self._references is None else self._log_power,
                specs[:1],
                flows=config.environments,
                steps=config.episode_steps,
                threads=threads,
            )
        )
        self.envs = GroupRelative(self._native, config.group_size, config.reward_scale)

    def sample(self, iteration: int) -> None:
        """The emulators and the seeds of an iteration's flows."""
        generator = np.random.default_rng([self._config.seed, SAMPLING, iteration])
        if self._config.links:
            self._draw(generator)
            return
        sampled = np.resize(generator.permutation(len(self._specs)), self._config.paths)
        seeds = generator.integers(2**31, size=self._config.paths)
        chosen = np.repeat(sampled, self._config.group_size).tolist()
        self._native.fly_over([self._specs[number] for number in chosen])
        self._native.seed_each(np.repeat(seeds, self._config.group_size).tolist())
        if self._references is not None:
            self._log_power.compare_with([self._references[number] for number in chosen])

    def _draw(self, generator: np.random.Generator) -> None:
        source = sources_of(self._config.links)[0]
        drawn = [draw(source, generator) for _ in range(self._config.paths)]
        seeds = generator.integers(2**31, size=self._config.paths)
        self._native.fly_over([spec for spec in drawn for _ in range(self._config.group_size)])
        self._native.seed_each(np.repeat(seeds, self._config.group_size).tolist())


def try_out(config: RlConfig, shape: Shape, specs: Sequence[EmulatorSpec]) -> None:
    """A few steps with what is given from outside, before a run begins.

    Raises:
        InputError: a reward, features or links of one's own raise, or give something else than they should.
    """
    reward = "power" if config.reward == "log_power" else config.reward
    given = [draw(sources_of(config.links)[0], np.random.default_rng(0))] if config.links else specs[:1]
    envs = make_batch(shape, reward, given, flows=_TRIED_FLOWS, steps=_TRIED_STEPS)
    mean_reward(envs, lambda _: np.zeros_like(envs.action_space.sample()), _TRIED_STEPS, seed=0)


class Validator:
    """Episodes over emulators that training never sees: what a policy would earn there."""

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
        """`episodes` per emulator; the `seed` is of the chance on them.

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
        """That an actor runs at once."""
        return self._envs.num_envs

    def mean_reward(self, actor: Actor) -> float:
        """Per step, always of the same episodes."""
        return mean_reward(self._envs, actor, self._steps, self._seed)


def validation_links(config: RlConfig, split: Split) -> list[EmulatorSpec]:
    """Those named for validation, and random ones of a split."""
    named = [emulator.spec for emulator in links_to_validate_on("validation", config.validation)]
    return [*named, *random_emulators(config.unseen_emulators, config.seed, split)]


def _references(
    config: RlConfig, shape: Shape, specs: Sequence[EmulatorSpec], threads: int
) -> list[Reference] | None:
    """What the policy to start from reaches on each emulator; none where the reward asks for none."""
    if config.reward != "log_power":
        return None
    watch = Watch()
    envs = make_batch(shape, watch, specs, flows=len(specs), steps=config.episode_steps, threads=threads)
    module, _ = initial_policy(config)
    mean_reward(envs, as_actor(module, shape.actions), config.episode_steps, UNSEEN)
    return watch.references()
