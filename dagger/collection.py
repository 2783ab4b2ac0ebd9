"""Collection: the learner, at first the expert, flies many emulators at once; all it meets is recorded."""

from dataclasses import dataclass

import numpy as np
import torch
from ccgym.agents.lstm import LstmPolicy, LstmState
from ccgym.envs import _core
from ccgym.envs.emulators import EmulatorSpec, NamedEmulator
from numpy.typing import NDArray

from .action_sets import ACTION_SETS
from .config import Stalls, TrainingConfig
from .dataset import Sequences

CREW_SIZE = 64
"""Environments per crew. Fixed, not one share per worker: results do not depend on the number of workers."""

COLLECTION = 0
FITTING = 1
"""What a random stream is for; part of its seed."""


@dataclass(frozen=True)
class Recording:
    """What n environments met in one iteration of E decisions, cut into S sequences each."""

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

    def __init__(
        self, config: TrainingConfig, first: int, emulators: list[NamedEmulator], windows: NDArray[np.float64]
    ) -> None:
        """`emulators` and their ideal `windows` in packets, one per environment, counted from `first`."""
        self._config = config
        self._first = first
        self._emulators = emulators
        self.windows = windows
        self._actions = ACTION_SETS[config.actions]
        self._batch = _core.PathBatch(
            [emulator.spec.to_path() for emulator in emulators],
            features=config.features,
            actions=config.actions,
        )
        self._inputs = np.empty((len(emulators), self._batch.observation_size), np.float32)
        self._telemetry = np.empty((len(emulators), len(_core.TELEMETRY)), np.float64)

    def fly(self, policy: LstmPolicy, iteration: int, *, expert_acts: bool) -> Recording:
        """One iteration of `episode_steps` decisions in every environment."""
        generator = np.random.default_rng([self._config.seed, COLLECTION, iteration, self._first])
        count, steps, hidden = len(self._emulators), self._config.episode_steps, self._config.hidden
        sequences = steps // self._config.sequence_steps
        recording = Recording(
            np.empty((count, steps, self._inputs.shape[1]), np.float32),
            np.empty((count, steps), np.float64),
            np.empty((count, steps), np.float32),
            np.empty((sequences, count, hidden), np.float32),
            np.empty((sequences, count, hidden), np.float32),
        )
        state = (torch.zeros(count, hidden), torch.zeros(count, hidden))
        kicks = Kicks(self._config, count)
        self._redraw_paths(generator)
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
                    acts = self._actions.label(recording.cwnds[:, step], self.windows)
                self._batch.step(kicks.override(acts), self._inputs, self._telemetry)
        return recording

    def _restart(self, chosen: NDArray[np.bool_], generator: np.random.Generator) -> None:
        indices = np.flatnonzero(chosen).astype(np.int32)
        if len(indices):
            seeds = generator.integers(2**63, size=len(indices), dtype=np.uint64)
            self._batch.reset(indices, seeds, self._inputs)

    def _redraw_paths(self, generator: np.random.Generator) -> None:
        for index, emulator in enumerate(self._emulators):
            spec = emulator.spec
            if self._config.redraw_poisson:
                spec = _with_arrivals_drawn_anew(spec, generator)
            probability, max_ms = _draw_stalls(self._config.stalls, generator)
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


def form_crews(config: TrainingConfig, emulators: list[NamedEmulator], windows: list[float]) -> list[Crew]:
    """Deals the environments out over the emulators in turn, and cuts them into crews."""
    dealt = [index % len(emulators) for index in range(config.environments)]
    return [
        Crew(
            config,
            first,
            [emulators[index] for index in dealt[first : first + CREW_SIZE]],
            np.array([windows[index] for index in dealt[first : first + CREW_SIZE]], np.float64),
        )
        for first in range(0, config.environments, CREW_SIZE)
    ]


def _decide(
    policy: LstmPolicy, inputs: NDArray[np.float32], state: LstmState
) -> tuple[torch.Tensor, LstmState]:
    """One decision of every environment: outputs (n, O) and the next state, twice (n, H)."""
    state = torch.lstm_cell(torch.from_numpy(inputs), state, *policy.lstm.all_weights[0])
    return policy.linear(state[0]), state


def _draw_stalls(stalls: Stalls, generator: np.random.Generator) -> tuple[float, int]:
    """Probability per ms and longest length in ms of one host's stalls."""
    share, probability, length = generator.random(3)
    if share >= stalls.share:
        return 0.0, 0
    return float(1 - probability) * stalls.max_probability, 1 + int(length * stalls.max_ms)


def _with_arrivals_drawn_anew(spec: EmulatorSpec, generator: np.random.Generator) -> EmulatorSpec:
    seed = int(generator.integers(2**31))
    links = {"uplink": spec.uplink, "downlink": spec.downlink}
    redrawn = {
        name: link.model_copy(update={"seed": seed})
        for name, link in links.items()
        if link.arrivals == "poisson"
    }
    return spec.model_copy(update=redrawn) if redrawn else spec


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
