"""A policy to run."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from ccgym.agents.lstm import LstmPolicy
from ccgym.agents.policy_file import save_policy
from ccgym.agents.policy_header import PolicySpec


@pytest.fixture
def write_policy() -> Callable[..., Path]:
    """Writes an untrained policy of the faithful features."""

    def write(path: Path) -> Path:
        torch.manual_seed(1)
        save_policy(path, LstmPolicy(9, 4, 5), PolicySpec("indigo", "indigo"), trained_on="nothing")
        return path

    return write
