"""Collection: the learner, at first the expert, runs many emulators at once; every decision is recorded."""

import tempfile
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from ccgym.envs import _core
from ccgym.envs.gym.engine.env_spaces import inputs_of
from ccgym.envs.specs.emulators import EmulatorSpec
from ccgym.oracle.ideal import STEP_MS
from ccgym.oracle.preference import DEFAULT_PREFERENCE
from ccgym.training.batch_rollouts import BatchPolicy, BatchRollout
from ccgym.training.config import TrainingConfig
from ccgym.training.dataset import Sequences
from ccgym.training.executors import RayExecutor
from ccgym.training.experts import expert_windows
from ccgym.training.own_network import state_size
from ccgym.training.tasks.sharing import MOST_FLOWS, draw_sharing
from ccgym.training.tasks.task_distribution import COLLECTION, SAMPLING, TaskDistribution, draw_host_jitter
from numpy.typing import NDArray

from .action_sets import ACTION_SETS
from .fitting import make_policy

IDEAL_STEPS_PER_DECISION = 2
"""Decisions are longer than 10 ms where ACKs are rare; beyond these steps the last ideal window is used."""
PATHS_PER_TASK = 8
"""Paths that one worker runs in a row: on a remote worker fewer paths cost less than sending the task."""
PATHS_PER_BATCH = 96
"""Paths that run side by side in Python, where a step of few paths costs nearly as much as one of many.

Fixed, because the sums in a network depend on the number of flows in the batch."""


@dataclass(frozen=True)
class SharedPath:
    """The rollouts on one path: one alone, or several that share it."""

    first: int
    """Number of the first rollout among all of the iteration; the others follow."""
    count: int
    group: str
    spec: EmulatorSpec


@dataclass(frozen=True)
class Plan:
    """What runs on one path, with all random choices made."""

    path: Any
    """As the twin takes it."""
    learners: int
    preference: float
    seed: int
    ideal: NDArray[np.float64]
    """(learners, G): the ideal windows in packets, every STEP_MS of the path's time."""
    perturbed: NDArray[np.float32]
    """(learners, T): acts that override those of learner and expert; NaN: none."""
    expert_acts: bool


@dataclass(frozen=True)
class Recording:
    """The decisions of n rollouts of T decisions each."""

    observations: NDArray[np.float32]
    """(n, T, I)"""
    acts: NDArray[np.float32]
    """(n, T): what the learner would do, even where it did not act."""
    labels: NDArray[np.float32]
    """(n, T): what the expert would do; NaN where there was nothing to decide."""
    states: NDArray[np.float32]
    """(n, T / sequence_steps, S): the network's memory at the beginning of each sequence."""


class Collector:
    """Runs one iteration's rollouts, all of `environments`.

    Every iteration starts all flows anew; seeds and random choices follow from the configuration, the
    iteration and the rollout's number alone. So an iteration can be repeated, a resumed run is exact, and the
    number of workers changes nothing.
    """

    def __init__(self, config: TrainingConfig, tasks: TaskDistribution, memory: int) -> None:
        """`memory`: numbers in the network's state."""
        self._memory = memory
        self._config = config
        self._tasks = tasks
        self._groups = np.array([], dtype=np.str_)
        self._recording = Recording(*[np.empty(0, np.float32)] * 4)

    def roll_out(self, policy_file: Path, iteration: int, executor: Executor) -> None:
        """Runs `episode_steps` decisions of every rollout under a policy."""
        paths = self._paths(iteration)
        tasks = _parts(paths, PATHS_PER_TASK)
        roll_out = partial(_roll_out_paths, self._config, policy_file.read_bytes(), iteration, self._memory)
        self._keep(paths, [recording for task in executor.map(roll_out, tasks) for recording in task])

    def roll_out_in_batch(self, policy: BatchPolicy, iteration: int, executor: Executor) -> None:
        """The same rollouts under a network or features in Python, in this process or on a cluster."""
        paths = self._paths(iteration)
        tasks = _parts(paths, PATHS_PER_BATCH)
        if isinstance(executor, RayExecutor):
            weights = policy.network.state_dict()
            roll_out = partial(_roll_out_batch_remotely, self._config, weights, iteration)
            self._keep(paths, list(executor.map(roll_out, tasks)))
        else:
            self._keep(paths, [_roll_out_batch(self._config, policy, iteration, task) for task in tasks])

    def _keep(self, paths: list[SharedPath], recordings: list[Recording]) -> None:
        self._groups = np.repeat(
            [shared_path.group for shared_path in paths], [shared_path.count for shared_path in paths]
        )
        self._recording = Recording(
            np.concatenate([recording.observations for recording in recordings]),
            np.concatenate([recording.acts for recording in recordings]),
            np.concatenate([recording.labels for recording in recordings]),
            np.concatenate([recording.states for recording in recordings]),
        )

    def _paths(self, iteration: int) -> list[SharedPath]:
        """The paths of an iteration: one rollout on each, except the group `shared`, joined at random."""
        sampled = self._tasks.sample(self._config, iteration)
        generator = np.random.default_rng([self._config.seed, SAMPLING, iteration])
        paths: list[SharedPath] = []
        first = 0
        remaining = Counter(group for group, _ in sampled)
        while first < len(sampled):
            group, spec = sampled[first]
            flows = int(generator.integers(2, MOST_FLOWS + 1)) if group == "shared" else 1
            if group == "shared" and remaining[group] - flows == 1:  # the last one would share with nobody
                flows += 1 if flows < MOST_FLOWS else -1
            paths.append(SharedPath(first, min(flows, remaining[group]), group, spec))
            first += paths[-1].count
            remaining[group] -= paths[-1].count
        return paths

    def sequences(self) -> Sequences:
        """The recorded decisions, cut into sequences.

        Where flows share a path, a flow that has not begun, gets no ACK or is gone skips an instant, and its
        network keeps its memory. Its actual decisions come first, in order, so that no skipped instant lies
        between a sequence's state and the decisions that are fitted.
        """
        steps, recording = self._config.sequence_steps, self._recording
        observations = recording.observations.reshape(-1, steps, recording.observations.shape[2])
        labels = recording.labels.reshape(-1, steps)
        order = np.argsort(np.isnan(labels), axis=1, kind="stable")
        return Sequences(
            observations=np.take_along_axis(observations, order[:, :, None], axis=1),
            labels=np.take_along_axis(labels, order, axis=1),
            states=recording.states.reshape(self._config.sequences_per_iteration, recording.states.shape[2]),
        )

    def agreement(self) -> float:
        """Share of the decisions in which the learner agrees with the expert."""
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
        agree = ACTION_SETS[self._config.actions].agree(self._recording.acts, self._recording.labels)
        return agree, np.isfinite(self._recording.labels)

    def distance(self) -> float:
        """Mean distance of the learner's acts from the expert's: the loss on the rollouts just made."""
        return float(np.nanmean(np.abs(self._recording.acts - self._recording.labels)))


def _parts(paths: list[SharedPath], most: int) -> list[list[SharedPath]]:
    return [paths[first : first + most] for first in range(0, len(paths), most)]


def _roll_out_paths(
    config: TrainingConfig, policy: bytes, iteration: int, memory: int, paths: Sequence[SharedPath]
) -> list[Recording]:
    """Makes and runs the plans of some paths; the result depends on the arguments only, on any machine."""
    return [
        _roll_out(config, _inference_policy(policy), memory, draw_plan(config, iteration, shared_path))
        for shared_path in paths
    ]


@lru_cache(maxsize=2)
def _inference_policy(policy: bytes) -> _core.InferencePolicy:
    with tempfile.NamedTemporaryFile(suffix=".safetensors") as file:
        file.write(policy)
        file.flush()
        return _core.InferencePolicy(file.name)


def draw_plan(config: TrainingConfig, iteration: int, shared_path: SharedPath) -> Plan:
    """What runs on a path in an iteration."""
    generator = np.random.default_rng([config.seed, COLLECTION, iteration, shared_path.first])
    probability, max_ms = draw_host_jitter(config.host_jitter, generator)
    preference = _draw_preference(config, generator)
    # Drawn once: the flow and its labels must have the same path.
    spec = shared_path.spec.drawn(int(generator.integers(2**63)))
    path = spec.to_path(stall_probability=probability, stall_max_ms=max_ms)
    steps = IDEAL_STEPS_PER_DECISION * config.episode_steps
    if shared_path.group == "shared":
        sharing = draw_sharing(shared_path.count, spec, config.episode_steps * STEP_MS / 1e3, generator)
        path = spec.to_path(stall_probability=probability, stall_max_ms=max_ms, flows=sharing.flows())
        ideal = sharing.ideal_windows(spec, preference, steps)
    else:
        ideal = expert_windows(config.oracle, spec, preference, steps)[None]
    return Plan(
        path=path,
        learners=shared_path.count,
        preference=preference,
        seed=int(generator.integers(2**63)),
        ideal=np.ascontiguousarray(ideal),
        perturbed=np.concatenate([draw_perturbations(config, generator) for _ in range(shared_path.count)]),
        expert_acts=generator.random() < config.expert_share(iteration),
    )


def _roll_out(config: TrainingConfig, policy: _core.InferencePolicy, memory: int, plan: Plan) -> Recording:
    inputs = len(_core.POLICY_FEATURES[config.features])
    recording = _empty_recording(config, plan.learners, inputs, memory)
    _core.rollout(
        plan.path,
        policy,
        features=config.features,
        actions=config.actions,
        companion=config.has_companion,
        preference=plan.preference,
        seed=plan.seed,
        ideal_packets=plan.ideal,
        perturbed_acts=plan.perturbed,
        observations=recording.observations,
        acts=recording.acts,
        labels=recording.labels,
        states=recording.states,
        sequence_decisions=config.sequence_steps,
        ideal_step_ms=STEP_MS,
        expert_acts=plan.expert_acts,
    )
    return recording


def _roll_out_batch(
    config: TrainingConfig, policy: BatchPolicy, iteration: int, paths: Sequence[SharedPath]
) -> Recording:
    return roll_out_in_batch(
        config, policy, [draw_plan(config, iteration, shared_path) for shared_path in paths]
    )


def _roll_out_batch_remotely(
    config: TrainingConfig, weights: dict[str, torch.Tensor], iteration: int, paths: Sequence[SharedPath]
) -> Recording:
    """The same on another machine, where the network is made anew: its module may not be imported there."""
    torch.set_num_threads(1)  # as in the learning process, so that sums have the same order
    network = make_policy(config, inputs_of(config.features))
    network.load_state_dict(weights)
    policy = BatchPolicy(network, config.features, config.actions, config.has_companion)
    return _roll_out_batch(config, policy, iteration, paths)


def roll_out_in_batch(config: TrainingConfig, policy: BatchPolicy, plans: Sequence[Plan]) -> Recording:
    """Runs all plans at once, decision by decision."""
    learners = [plan.learners for plan in plans]
    rows = sum(learners)
    batch = BatchRollout(
        policy,
        [plan.path for plan in plans],
        [plan.seed for plan in plans],
        np.repeat([plan.preference for plan in plans], learners).tolist(),
        rows,
    )
    recording = _empty_recording(config, rows, inputs_of(config.features), state_size(policy.network))
    ideal = np.concatenate([plan.ideal for plan in plans])
    perturbed = np.concatenate([plan.perturbed for plan in plans])
    expert_acts = np.repeat([plan.expert_acts for plan in plans], learners)
    for decision in range(config.episode_steps):
        if decision % config.sequence_steps == 0:
            recording.states[:, decision // config.sequence_steps] = batch.memory
        deciding = batch.deciding
        observations, acts = batch.decide()
        steps = np.minimum(batch.times_ms / STEP_MS, ideal.shape[1] - 1).astype(np.intp)
        ideal_cwnds = ideal[np.arange(rows), steps]
        labels = np.array(
            [
                _core.expert_act(config.actions, cwnd, ideal_cwnd)
                for cwnd, ideal_cwnd in zip(batch.cwnd_packets, ideal_cwnds, strict=True)
            ],
            np.float32,
        )
        recording.observations[:, decision] = np.where(deciding[:, None], observations, 0)
        recording.acts[:, decision] = np.where(deciding, acts, 0)
        recording.labels[:, decision] = np.where(deciding, labels, np.nan)
        chosen = np.where(expert_acts, labels, acts)
        executed = np.where(np.isnan(perturbed[:, decision]), chosen, perturbed[:, decision])
        batch.step(np.where(deciding, executed, 0))
    return recording


def _empty_recording(config: TrainingConfig, rollouts: int, inputs: int, memory: int) -> Recording:
    shape = (rollouts, config.episode_steps)
    sequences = config.episode_steps // config.sequence_steps
    return Recording(
        np.empty((*shape, inputs), np.float32),
        np.empty(shape, np.float32),
        np.empty(shape, np.float32),
        np.empty((rollouts, sequences, memory), np.float32),
    )


def _draw_preference(config: TrainingConfig, generator: np.random.Generator) -> float:
    drawn = float(generator.uniform(*config.preferences))
    return DEFAULT_PREFERENCE if generator.random() < config.default_share else drawn


def draw_perturbations(config: TrainingConfig, generator: np.random.Generator) -> NDArray[np.float32]:
    """Random acts held for some decisions, NaN elsewhere: they explore windows that nobody chooses."""
    acts = np.full((1, config.episode_steps), np.nan, np.float32)
    begins = np.flatnonzero(generator.random(config.episode_steps) < config.perturbation_probability)
    lengths = generator.integers(1, config.max_perturbation_steps + 1, size=len(begins))
    drawn = ACTION_SETS[config.actions].draw(generator, len(begins))
    for begin, length, act in zip(begins, lengths, drawn, strict=True):
        acts[0, begin : begin + length] = act
    return acts
