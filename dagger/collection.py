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
from .sharing import MOST_FLOWS, draw_sharing
from .world import COLLECTION, DEAL, World, draw_stalls

IDEAL_STEPS_PER_DECISION = 2
"""A decision takes longer than 10 ms where ACKs are rare; beyond this the last ideal window stays."""


class Collector:
    """Flies one iteration's flights, all of `environments`, each on an emulator of its own.

    Every iteration starts all flows anew; seeds and random choices follow from the configuration, the
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

    def fly(self, pilot: _core.Pilot, iteration: int, executor: Executor) -> None:
        """Fills the arrays with `episode_steps` decisions of every flight."""
        dealt = self._world.deal(self._config, iteration)
        self.groups = [group for group, _ in dealt]
        flights: Iterable[None] = executor.map(
            lambda crew: self._fly_path(pilot, iteration, crew, dealt[crew.start][1]), self._crews(iteration)
        )
        for _ in flights:
            pass

    def _crews(self, iteration: int) -> list[range]:
        """Which flights are on one path: each alone, but for those that share, which are joined at random."""
        generator = np.random.default_rng([self._config.seed, DEAL, iteration])
        crews, first = [], 0
        while first < len(self.groups):
            shared = self.groups[first] == "shared"
            size = int(generator.integers(2, MOST_FLOWS + 1)) if shared else 1
            crews.append(range(first, min(first + size, len(self.groups))))
            first = crews[-1].stop
        return crews

    def _fly_path(self, pilot: _core.Pilot, iteration: int, crew: range, spec: EmulatorSpec) -> None:
        config = self._config
        generator = np.random.default_rng([config.seed, COLLECTION, iteration, crew.start])
        probability, max_ms = draw_stalls(config.stalls, generator)
        preference = _draw_preference(config, generator)
        path = spec.to_path(stall_probability=probability, stall_max_ms=max_ms)
        steps = IDEAL_STEPS_PER_DECISION * config.episode_steps
        if self.groups[crew.start] == "shared":
            sharing = draw_sharing(len(crew), spec, config.episode_steps * STEP_MS / 1e3, generator)
            path = spec.to_path(stall_probability=probability, stall_max_ms=max_ms, flows=sharing.flows())
            ideal = sharing.ideal_windows(spec, preference, steps)
        else:
            ideal = ideal_windows(spec, preference, steps)[None]
        rows = slice(crew.start, crew.stop)
        _core.rollout(
            path,
            pilot,
            features=config.features,
            actions=config.actions,
            preference=preference,
            seed=int(generator.integers(2**63)),
            ideal_packets=np.ascontiguousarray(ideal),
            forced_acts=np.concatenate([draw_kicks(config, generator) for _ in crew]),
            observations=self.observations[rows],
            acts=self.acts[rows],
            labels=self.labels[rows],
            states=self.states[rows],
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

    def agreement(self) -> float:
        """Share of the decisions in which the learner would have done what the expert would have."""
        agree = ACTION_SETS[self._config.actions].agree(self.acts, self.labels)
        return float(agree.sum() / np.isfinite(self.labels).sum())

    def agreement_by_group(self) -> dict[str, float]:
        """The same for each group of emulators."""
        agree = ACTION_SETS[self._config.actions].agree(self.acts, self.labels)
        decided, groups = np.isfinite(self.labels), np.array(self.groups)
        return {
            group: float(agree[groups == group].sum() / decided[groups == group].sum())
            for group in dict.fromkeys(self.groups)
        }

    def distance(self) -> float:
        """Mean distance of the learner's acts from the expert's: the loss on what has just been flown."""
        return float(np.nanmean(np.abs(self.acts - self.labels)))


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
