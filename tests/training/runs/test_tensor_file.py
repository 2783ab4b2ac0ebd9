"""A disk that is full leaves the file of before, and the error names the file."""

from pathlib import Path

import pytest
import torch
from ccgym.tests.full_disk import no_file_longer_than
from ccgym.training.runs.tensor_file import save_tensors

ROOM_BYTES = 4096


def test_what_finds_no_room_is_an_error_of_the_file_and_leaves_the_former_one(tmp_path: Path) -> None:
    file = tmp_path / "latest.pt"
    save_tensors({"weights": torch.ones(3)}, file)
    with no_file_longer_than(ROOM_BYTES), pytest.raises(OSError, match=r"latest\.pt"):
        save_tensors({"weights": torch.zeros(ROOM_BYTES)}, file)
    assert [path.name for path in tmp_path.iterdir()] == ["latest.pt"]
    assert torch.equal(torch.load(file, weights_only=True)["weights"], torch.ones(3))
