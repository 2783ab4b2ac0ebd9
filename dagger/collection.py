"""Collection: the learner, at first the expert, flies many emulators at once; all it meets is recorded."""

from dataclasses import dataclass

import numpy as np
import torch
from ccgym.agents.lstm import LstmPolicy, LstmState
from ccgym.envs import _core
from numpy.typing import NDArray

from .action_sets import ACTION_SETS
from .config import TrainingConfig
from .dataset import Sequences
from .world import COLLECTION, World, draw_stalls, redraw_poisson

CREW_SIZE = 64
"""Environments per crew. Fixed, not one share per worker: results do not depend on the number of workers."""


@dataclass(frozen=True)
class Recording:
    """What n environments met in one iteration of E decisions, cut into S sequences each."""

    windows: NDArray[np.float64]
    """(n,): the ideal window of every environment, in packets."""
    observations: NDArray[np.float32]
    """(n, E, I)"""
    cwnds: NDArray[np.float64]
    """(n, E): the window in packets before each decision."""
    acts: NDArray[np.float32]
    """(n, E): what the learner would do, whoever did act."""
    hidden: NDArray[np.float32]
    """(S, n, H): the learner's LSTM output at the beginning of each sequence."""
    cell: NDArray[np.float32]
    """(S, n, H): the learner's LSTM memory there."""


class Crew:
    """Some of the environments, flown in lockstep by one thread.

    Every iteration starts all flows anew, with seeds and random choices that follow from the configuration,
    the iteration and the environments' numbers alone: it can be repeated, so a resumed run is exact.
    """

    def __init__(self, config: TrainingConfig, world: World, first: int, count: int) -> None:
        """Environments number `first` to `first + count - 1` of all."""
        self._config = config
        self._world = world
        self._first = first
        self._count = count
        self._actions = ACTION_SETS[config.actions]
        self._batch = _core.PathBatch(
            [world.emulators[0].to_path()] * count, features=config.features, actions=config.actions
        )
        self._inputs = np.empty((count, self._batch.observation_size), np.float32)
        self._telemetry = np.empty((count, len(_core.TELEMETRY)), np.float64)

    def __reduce__(self) -> tuple[type["Crew"], tuple[TrainingConfig, World, int, int]]:
        """Sent elsewhere, a crew is formed anew: it brings nothing along from one iteration to the next."""
        return Crew, (self._config, self._world, self._first, self._count)

    def fly(self, policy: LstmPolicy, iteration: int, *, expert_acts: bool) -> Recording:
        """One iteration of `episode_steps` decisions in every environment."""
        generator = np.random.default_rng([self._config.seed, COLLECTION, iteration, self._first])
        dealt = self._world.deal(self._config, iteration)[self._first : self._first + self._count]
        count, steps, hidden = self._count, self._config.episode_steps, self._config.hidden
        sequences = steps // self._config.sequence_steps
        recording = Recording(
            self._world.windows[dealt],
            np.empty((count, steps, self._inputs.shape[1]), np.float32),
            np.empty((count, steps), np.float64),
            np.empty((count, steps), np.float32),
            np.empty((sequences, count, hidden), np.float32),
            np.empty((sequences, count, hidden), np.float32),
        )
        state = (torch.zeros(count, hidden), torch.zeros(count, hidden))
        kicks = Kicks(self._config, count)
        self._set_paths(dealt, generator)
        self._restart(np.ones(count, np.bool_), generator)
        with torch.inference_mode():
            for step in range(steps):
                sequence, within = divmod(step, self._config.sequence_steps)
                if within == 0:
                    if sequence > 0:
                        restarted = generator.random(count) < self._config.restart_probability
                        self._restart(restarted, generator)
                        flying_on = torch.from_numpy(~restarted)[:, None]
                        state = (state[0] * flying_on, state[1] * flying_on)
                    recording.hidden[sequence], recording.cell[sequence] = state[0].numpy(), state[1].numpy()
                    kicks.begin(generator)
                recording.observations[:, step] = self._inputs
                recording.cwnds[:, step] = self._batch.cwnd_packets
                outputs, state = _decide(policy, self._inputs, state)
                recording.acts[:, step] = self._actions.act(outputs)
                acts = recording.acts[:, step]
                if expert_acts:
                    acts = self._actions.label(recording.cwnds[:, step], recording.windows)
                self._batch.step(kicks.override(acts), self._inputs, self._telemetry)
        return recording

    def _restart(self, chosen: NDArray[np.bool_], generator: np.random.Generator) -> None:
        indices = np.flatnonzero(chosen).astype(np.int32)
        if len(indices):
            seeds = generator.integers(2**63, size=len(indices), dtype=np.uint64)
            self._batch.reset(indices, seeds, self._inputs)

    def _set_paths(self, dealt: NDArray[np.intp], generator: np.random.Generator) -> None:
        for index, number in enumerate(dealt):
            spec = self._world.emulators[number]
            if self._config.redraw_poisson:
                spec = redraw_poisson(spec, generator)
            probability, max_ms = draw_stalls(self._config.stalls, generator)
            self._batch.set_path(index, spec.to_path(stall_probability=probability, stall_max_ms=max_ms))


class Kicks:
    """Random acts held for some steps: they bring about windows that neither learner nor expert choose."""

    def __init__(self, config: TrainingConfig, count: int) -> None:
        self._config = config
        self._actions = ACTION_SETS[config.actions]
        self._remaining = np.zeros(count, np.int64)
        self._acts = np.zeros(count, np.float32)

    def begin(self, generator: np.random.Generator) -> None:
        """Draws who is kicked from now on, for how long and by what act."""
        count = len(self._remaining)
        kicked = generator.random(count) < self._config.kick_probability
        lengths = generator.integers(1, self._config.max_kick_steps + 1, size=count)
        self._remaining = np.where(kicked, lengths, 0)
        self._acts = self._actions.draw(generator, count)

    def override(self, acts: NDArray[np.float32]) -> NDArray[np.float32]:
        """The acts (n,) with those of kicked environments replaced; one step of their kicks is then over."""
        overridden = np.where(self._remaining > 0, self._acts, acts)
        self._remaining -= 1
        return overridden


def form_crews(config: TrainingConfig, world: World) -> list[Crew]:
    """Cuts the environments into crews."""
    return [
        Crew(config, world, first, min(CREW_SIZE, config.environments - first))
        for first in range(0, config.environments, CREW_SIZE)
    ]


def _decide(
    policy: LstmPolicy, inputs: NDArray[np.float32], state: LstmState
) -> tuple[torch.Tensor, LstmState]:
    """One decision of every environment: outputs (n, O) and the next state, twice (n, H)."""
    state = torch.lstm_cell(torch.from_numpy(inputs), state, *policy.lstm.all_weights[0])
    return policy.linear(state[0]), state


def to_sequences(recordings: list[Recording], labels: list[NDArray[np.float32]], steps: int) -> Sequences:
    """All recordings with their labels (n, E), cut into sequences of so many steps."""

    def rows(arrays: list[NDArray[np.float32]]) -> NDArray[np.float32]:
        return np.concatenate([array.reshape(-1, steps, *array.shape[2:]) for array in arrays])

    def states(arrays: list[NDArray[np.float32]]) -> NDArray[np.float32]:
        return np.concatenate([array.swapaxes(0, 1).reshape(-1, array.shape[2]) for array in arrays])

    return Sequences(
        observations=rows([recording.observations for recording in recordings]),
        labels=rows(labels),
        hidden=states([recording.hidden for recording in recordings]),
        cell=states([recording.cell for recording in recordings]),
    )
