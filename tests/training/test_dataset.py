"""The dataset: bounded, newest always drawn, shapes checked."""

from pathlib import Path

import numpy as np
import pytest
from ccgym.tests.full_disk import no_file_longer_than
from ccgym.training.dataset import Dataset, Sequences, load_sequences

BLOCK = 4


def block(iteration: int) -> Sequences:
    """Four sequences of three decisions, all marked with their iteration."""
    return Sequences(
        np.full((BLOCK, 3, 2), iteration, np.float32),
        np.full((BLOCK, 3), iteration, np.float32),
        np.full((BLOCK, 5), -iteration, np.float32),
    )


def filled(capacity: int, iterations: int) -> Dataset:
    dataset = Dataset(capacity, BLOCK)
    for iteration in range(iterations):
        dataset.append(iteration, block(iteration))
    return dataset


def drawn_iterations(dataset: Dataset, count: int | None, newest: int) -> list[float]:
    rows = dataset.rows(dataset.draw(count, newest, np.random.default_rng(1)))
    assert (rows.states[:, 0] == -rows.labels[:, 0]).all()
    return sorted(rows.labels[:, 0].tolist())


def test_oldest_iterations_are_dropped_when_full() -> None:
    assert (
        drawn_iterations(filled(capacity=3, iterations=5), None, 4) == [2] * BLOCK + [3] * BLOCK + [4] * BLOCK
    )


def test_draw_holds_all_of_the_newest_and_some_of_the_older() -> None:
    drawn = drawn_iterations(filled(capacity=10, iterations=6), 7, 5)
    assert len(drawn) == 7
    assert drawn.count(5) == BLOCK


def test_draw_is_shuffled_and_without_repetition() -> None:
    rows = filled(capacity=10, iterations=10).draw(None, 9, np.random.default_rng(1))
    assert sorted(rows.tolist()) == list(range(40))
    assert rows.tolist() != sorted(rows.tolist())


def test_filling_restored_dataset_from_its_last_iterations_gives_the_same_rows() -> None:
    whole, restored = filled(capacity=3, iterations=8), Dataset(3, BLOCK)
    for iteration in (5, 6, 7):
        restored.append(iteration, block(iteration))
    rows = whole.draw(6, 7, np.random.default_rng(3))
    np.testing.assert_array_equal(rows, restored.draw(6, 7, np.random.default_rng(3)))
    np.testing.assert_array_equal(whole.rows(rows).observations, restored.rows(rows).observations)


def test_sequences_survive_the_disk(tmp_path: Path) -> None:
    block(3).save(tmp_path / "3.npz")
    read = load_sequences(tmp_path / "3.npz")
    np.testing.assert_array_equal(read.observations, block(3).observations)
    np.testing.assert_array_equal(read.states, block(3).states)


def test_shapes_that_do_not_match_are_refused_with_both_numbers() -> None:
    sound = block(0)
    with pytest.raises(ValueError, match=r"\(4, 3, 2\).*\(4, 2\)"):
        Sequences(sound.observations, sound.labels[:, :2], sound.states)
    with pytest.raises(ValueError, match="3 initial states for 4 sequences"):
        Sequences(sound.observations, sound.labels, sound.states[:3])


def test_block_of_another_size_is_refused() -> None:
    with pytest.raises(ValueError, match="4 sequences, expected 5"):
        Dataset(2, 5).append(0, block(0))


def test_sequences_that_find_no_room_leave_nothing_half_written(tmp_path: Path) -> None:
    file = tmp_path / "sequences.npz"
    with no_file_longer_than(100), pytest.raises(OSError, match=r"sequences\.npz"):
        block(0).save(file)
    assert not list(tmp_path.iterdir())
