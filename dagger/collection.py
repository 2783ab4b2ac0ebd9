"""Collection: the learner, at first the expert, flies many emulators at once; all it meets is recorded."""

from collections.abc import Iterable
from concurrent.futures import Executor

import numpy as np
from ccgym.envs import _core
from ccgym.envs.emulators import EmulatorSpec
from ccgym.oracle.ideal import STEP_MS, ideal_windows
from ccgym.oracle.preference import DEFAULT_PREFERENCE
from numpy.typing import NDArray

from .action_sets import ACTION_SETS
from .config import TrainingConfig
from .dataset import Sequences
from .world import COLLECTION, World, draw_stalls

IDEAL_STEPS_PER_DECISION = 2
"""A decision takes longer than 10 ms where ACKs are rare; beyond this the last ideal window stays."""


class Collector:
    """Flies one iteration's flights, all of `environments`, each on an emulator of its own.

    Every iteration starts all flows anew, with seeds and random choices that follow from the configuration, the
    iteration and the flight's number alone: it can be repeated, so a resumed run is exact, and the number of
    workers changes nothing.
    """

    def __init__(self, config: TrainingConfig, world: World) -> None:
        inputs = len(_core.POLICY_FEATURES[config.features])
        shape = (config.environments, config.episode_steps)
        sequences = config.episode_steps // config.sequence_steps
        self._config = config
        self._world = world
        self.groups: list[str] = []
        self.observations = np.empty((*shape, inputs), np.float32)
        self.acts = np.empty(shape, np.float32)
        self.labels = np.empty(shape, np.float32)
        self.states = np.empty((config.environments, sequences, config.state_size), np.float32)

    def fly(self, learner: _core.Learner, iteration: int, executor: Executor) -> None:
        """Fills the arrays with `episode_steps` decisions of every flight."""
        dealt = self._world.deal(self._config, iteration)
        self.groups = [group for group, _ in dealt]
        flights: Iterable[None] = executor.map(
            lambda number: self._fly_one(learner, iteration, number, dealt[number][1]),
            range(self._config.environments),
        )
        for _ in flights:
            pass

    def _fly_one(self, learner: _core.Learner, iteration: int, number: int, spec: EmulatorSpec) -> None:
        config = self._config
        generator = np.random.default_rng([config.seed, COLLECTION, iteration, number])
        probability, max_ms = draw_stalls(config.stalls, generator)
        preference = _draw_preference(config, generator)
        batch = _core.PathBatch(
            [spec.to_path(stall_probability=probability, stall_max_ms=max_ms)],
            features=config.features,
            actions=config.actions,
        )
        batch.set_preference(0, preference)
        one = slice(number, number + 1)
        _core.rollout(
            batch,
            learner,
            seeds=generator.integers(2**63, size=1, dtype=np.uint64),
            ideal_packets=ideal_windows(spec, preference, IDEAL_STEPS_PER_DECISION * config.episode_steps),
            forced_acts=draw_kicks(config, generator),
            observations=self.observations[one],
            acts=self.acts[one],
            labels=self.labels[one],
            states=self.states[one],
            sequence_decisions=config.sequence_steps,
            ideal_step_ms=STEP_MS,
            expert_acts=generator.random() < config.expert_share(iteration),
        )

    def sequences(self) -> Sequences:
        """What was flown, cut into sequences."""
        steps = self._config.sequence_steps
        return Sequences(
            observations=self.observations.reshape(-1, steps, self.observations.shape[2]).copy(),
            labels=self.labels.reshape(-1, steps).copy(),
            states=self.states.reshape(self._config.sequences_per_iteration, self.states.shape[2]).copy(),
        )

    def agreement(self) -> dict[str, float]:
        """Share of the decisions in which the learner would have done what the expert would have, by group."""
        agree = ACTION_SETS[self._config.actions].agree(self.acts, self.labels).mean(axis=1)
        groups = np.array(self.groups)
        return {group: float(agree[groups == group].mean()) for group in dict.fromkeys(self.groups)}

    def distance(self) -> float:
        """Mean distance of the learner's acts from the expert's: the loss on what has just been flown."""
        return float(np.abs(self.acts - self.labels).mean())


def _draw_preference(config: TrainingConfig, generator: np.random.Generator) -> float:
    drawn = float(generator.uniform(*config.preferences))
    return DEFAULT_PREFERENCE if generator.random() < config.default_share else drawn


def draw_kicks(config: TrainingConfig, generator: np.random.Generator) -> NDArray[np.float32]:
    """Random acts held for some decisions, NaN elsewhere: they bring about windows that nobody chooses."""
    acts = np.full((1, config.episode_steps), np.nan, np.float32)
    begins = np.flatnonzero(generator.random(config.episode_steps) < config.kick_probability)
    lengths = generator.integers(1, config.max_kick_steps + 1, size=len(begins))
    drawn = ACTION_SETS[config.actions].draw(generator, len(begins))
    for begin, length, act in zip(begins, lengths, drawn, strict=True):
        acts[0, begin : begin + length] = act
    return acts
