"""The aggregated dataset of DAgger: sequences of observations, labelled by the expert, bounded in memory."""

from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from ccgym.envs.outside_files import opened, replaced
from numpy.typing import NDArray


@dataclass(frozen=True)
class Sequences:
    """N stretches of T consecutive decisions, each with the memory it began with."""

    observations: NDArray[np.float32]
    """(N, T, I): the inputs of every decision."""
    labels: NDArray[np.float32]
    """(N, T): the expert's act at every decision."""
    states: NDArray[np.float32]
    """(N, S): the network's memory before the first decision, empty for a network without one."""

    def __post_init__(self) -> None:
        if self.observations.shape[:2] != self.labels.shape:
            raise ValueError(
                f"observations {self.observations.shape} do not match labels {self.labels.shape}"
            )
        if len(self.states) != len(self.labels):
            raise ValueError(f"{len(self.states)} initial states for {len(self.labels)} sequences")

    def __len__(self) -> int:
        return len(self.labels)

    def pick(self, rows: NDArray[np.intp]) -> "Sequences":
        """Returns the sequences of these rows."""
        return Sequences(self.observations[rows], self.labels[rows], self.states[rows])

    def save(self, file: Path) -> None:
        """Writes a NumPy archive with one array per field, whole or not at all."""
        with replaced(file) as fresh, fresh.open("wb") as stream:
            np.savez(stream, **{field.name: getattr(self, field.name) for field in fields(self)})


def load_sequences(file: Path) -> Sequences:
    """Reads what `Sequences.save` wrote."""
    with opened(file, "the sequences") as stream, np.load(stream) as arrays:
        return Sequences(**{field.name: arrays[field.name] for field in fields(Sequences)})


class Dataset:
    """A ring over the last `capacity` iterations of `block` sequences each; the oldest is dropped first."""

    def __init__(self, capacity: int, block: int) -> None:
        self._capacity = capacity
        self._block = block
        self._iterations = 0
        self._rows: Sequences | None = None

    def __len__(self) -> int:
        return min(self._iterations, self._capacity) * self._block

    def append(self, iteration: int, sequences: Sequences) -> None:
        """Takes the sequences of one iteration. Raises ValueError unless there are exactly `block`."""
        if len(sequences) != self._block:
            raise ValueError(f"{len(sequences)} sequences, expected {self._block}")
        if self._rows is None:
            self._rows = _allocate(sequences, self._capacity)
        begin = self._begin(iteration)
        for field in fields(Sequences):
            getattr(self._rows, field.name)[begin : begin + self._block] = getattr(sequences, field.name)
        self._iterations += 1

    def draw(self, count: int | None, newest: int, generator: np.random.Generator) -> NDArray[np.intp]:
        """Shuffled rows for an epoch: all of iteration `newest`, older ones at random up to `count`."""
        newest_rows = np.arange(self._begin(newest), self._begin(newest) + self._block)
        older_rows = np.setdiff1d(np.arange(len(self)), newest_rows, assume_unique=True)
        if count is not None:
            older_rows = generator.permutation(older_rows)[: max(0, count - len(newest_rows))]
        return generator.permutation(np.concatenate([newest_rows, older_rows]))

    def rows(self, rows: NDArray[np.intp]) -> Sequences:
        """The sequences of these rows. Raises LookupError while the dataset is empty."""
        if self._rows is None:
            raise LookupError("the dataset is empty")
        return self._rows.pick(rows)

    def _begin(self, iteration: int) -> int:
        return (iteration % self._capacity) * self._block


def _allocate(sample: Sequences, capacity: int) -> Sequences:
    return Sequences(
        **{
            field.name: np.empty((capacity * len(sample), *getattr(sample, field.name).shape[1:]), np.float32)
            for field in fields(Sequences)
        }
    )
