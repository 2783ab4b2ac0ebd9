"""Collection: the learner, at first the expert, flies many emulators at once; all it meets is recorded."""

import tempfile
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path

import numpy as np
from ccgym.envs import _core
from ccgym.envs.specs.emulators import EmulatorSpec
from ccgym.oracle.ideal import STEP_MS, ideal_windows
from ccgym.oracle.preference import DEFAULT_PREFERENCE
from ccgym.training.config import TrainingConfig
from ccgym.training.dataset import Sequences
from ccgym.training.sharing import MOST_FLOWS, draw_sharing
from ccgym.training.task_distribution import COLLECTION, DEAL, World, draw_stalls
from numpy.typing import NDArray

from .action_sets import ACTION_SETS

IDEAL_STEPS_PER_DECISION = 2
"""A decision takes longer than 10 ms where ACKs are rare; beyond this the last ideal window stays."""
CREWS_PER_TASK = 8
"""Paths that one worker flies in a row: fewer cost more than they do where the workers are far away."""


@dataclass(frozen=True)
class Crew:
    """The flights on one path: one alone, or several that share it."""

    first: int
    """Their numbers among all of the iteration."""
    count: int
    group: str
    spec: EmulatorSpec


@dataclass(frozen=True)
class Recording:
    """What n flights of T decisions met."""

    observations: NDArray[np.float32]
    """(n, T, I)"""
    acts: NDArray[np.float32]
    """(n, T): what the learner would do, whoever did act."""
    labels: NDArray[np.float32]
    """(n, T): what the expert would do; NaN where there was nothing to decide."""
    states: NDArray[np.float32]
    """(n, T / sequence_steps, S): the network's memory at the beginning of each sequence."""


class Collector:
    """Flies one iteration's flights, all of `environments`.

    Every iteration starts all flows anew; seeds and random choices follow from the configuration, the
    iteration and the flight's number alone: it can be repeated, so a resumed run is exact, and the number of
    workers changes nothing.
    """

    def __init__(self, config: TrainingConfig, world: World) -> None:
        self._config = config
        self._world = world
        self._groups = np.array([], dtype=np.str_)
        self._flown = Recording(*[np.empty(0, np.float32)] * 4)

    def fly(self, policy_file: Path, iteration: int, executor: Executor) -> None:
        """Flies `episode_steps` decisions of every flight under a policy."""
        crews = self._crews(iteration)
        tasks = [crews[first : first + CREWS_PER_TASK] for first in range(0, len(crews), CREWS_PER_TASK)]
        fly = partial(_fly_crews, self._config, policy_file.read_bytes(), iteration)
        flown = [recording for task in executor.map(fly, tasks) for recording in task]
        self._groups = np.repeat([crew.group for crew in crews], [crew.count for crew in crews])
        self._flown = Recording(
            np.concatenate([recording.observations for recording in flown]),
            np.concatenate([recording.acts for recording in flown]),
            np.concatenate([recording.labels for recording in flown]),
            np.concatenate([recording.states for recording in flown]),
        )

    def _crews(self, iteration: int) -> list[Crew]:
        """Who is on one path: each flight alone, but for those that share, which are joined at random."""
        dealt = self._world.deal(self._config, iteration)
        generator = np.random.default_rng([self._config.seed, DEAL, iteration])
        crews: list[Crew] = []
        first = 0
        left = Counter(group for group, _ in dealt)
        while first < len(dealt):
            group, spec = dealt[first]
            wanted = int(generator.integers(2, MOST_FLOWS + 1)) if group == "shared" else 1
            if group == "shared" and left[group] - wanted == 1:  # nobody is left to share with
                wanted += 1 if wanted < MOST_FLOWS else -1
            crews.append(Crew(first, min(wanted, left[group]), group, spec))
            first += crews[-1].count
            left[group] -= crews[-1].count
        return crews

    def sequences(self) -> Sequences:
        """What was flown, cut into sequences."""
        steps, flown = self._config.sequence_steps, self._flown
        return Sequences(
            observations=flown.observations.reshape(-1, steps, flown.observations.shape[2]),
            labels=flown.labels.reshape(-1, steps),
            states=flown.states.reshape(self._config.sequences_per_iteration, flown.states.shape[2]),
        )

    def agreement(self) -> float:
        """Share of the decisions in which the learner would have done what the expert would have."""
        agree, decided = self._agree()
        return float(agree.sum() / decided.sum())

    def agreement_by_group(self) -> dict[str, float]:
        """The same for each group of emulators."""
        agree, decided = self._agree()
        return {
            str(group): float(agree[self._groups == group].sum() / decided[self._groups == group].sum())
            for group in dict.fromkeys(self._groups.tolist())
        }

    def _agree(self) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        agree = ACTION_SETS[self._config.actions].agree(self._flown.acts, self._flown.labels)
        return agree, np.isfinite(self._flown.labels)

    def distance(self) -> float:
        """Mean distance of the learner's acts from the expert's: the loss on what has just been flown."""
        return float(np.nanmean(np.abs(self._flown.acts - self._flown.labels)))


def _fly_crews(
    config: TrainingConfig, policy: bytes, iteration: int, crews: Sequence[Crew]
) -> list[Recording]:
    """Depends on its arguments only, wherever it runs."""
    return [_fly_crew(config, _pilot(policy), iteration, crew) for crew in crews]


@lru_cache(maxsize=2)
def _pilot(policy: bytes) -> _core.Pilot:
    with tempfile.NamedTemporaryFile(suffix=".safetensors") as file:
        file.write(policy)
        file.flush()
        return _core.Pilot(file.name)


def _fly_crew(config: TrainingConfig, pilot: _core.Pilot, iteration: int, crew: Crew) -> Recording:
    generator = np.random.default_rng([config.seed, COLLECTION, iteration, crew.first])
    probability, max_ms = draw_stalls(config.stalls, generator)
    preference = _draw_preference(config, generator)
    spec = crew.spec.drawn(int(generator.integers(2**63)))  # what is flown is what is labelled
    path = spec.to_path(stall_probability=probability, stall_max_ms=max_ms)
    steps = IDEAL_STEPS_PER_DECISION * config.episode_steps
    if crew.group == "shared":
        sharing = draw_sharing(crew.count, spec, config.episode_steps * STEP_MS / 1e3, generator)
        path = spec.to_path(stall_probability=probability, stall_max_ms=max_ms, flows=sharing.flows())
        ideal = sharing.ideal_windows(spec, preference, steps)
    else:
        ideal = ideal_windows(spec, preference, steps)[None]
    recording = _empty_recording(config, crew.count)
    _core.rollout(
        path,
        pilot,
        features=config.features,
        actions=config.actions,
        preference=preference,
        seed=int(generator.integers(2**63)),
        ideal_packets=np.ascontiguousarray(ideal),
        forced_acts=np.concatenate([draw_kicks(config, generator) for _ in range(crew.count)]),
        observations=recording.observations,
        acts=recording.acts,
        labels=recording.labels,
        states=recording.states,
        sequence_decisions=config.sequence_steps,
        ideal_step_ms=STEP_MS,
        expert_acts=generator.random() < config.expert_share(iteration),
    )
    return recording


def _empty_recording(config: TrainingConfig, flights: int) -> Recording:
    shape, inputs = (flights, config.episode_steps), len(_core.POLICY_FEATURES[config.features])
    sequences = config.episode_steps // config.sequence_steps
    return Recording(
        np.empty((*shape, inputs), np.float32),
        np.empty(shape, np.float32),
        np.empty(shape, np.float32),
        np.empty((flights, sequences, config.state_size), np.float32),
    )


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
