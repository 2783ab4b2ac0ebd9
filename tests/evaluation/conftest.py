"""What the tests of evaluation share: policies to run, and quick emulators."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from ccgym.agents.lstm import LstmPolicy
from ccgym.agents.policy_file import save_policy
from ccgym.agents.policy_header import PolicySpec
from ccgym.envs.specs.emulator_spec import EmulatorSpec
from ccgym.envs.specs.emulators import NamedEmulator


@pytest.fixture
def write_policy() -> Callable[..., Path]:
    """Writes an untrained policy of the faithful features."""

    def write(path: Path, seed: int = 1) -> Path:
        torch.manual_seed(seed)
        path.parent.mkdir(parents=True, exist_ok=True)
        save_policy(path, LstmPolicy(9, 4, 5), PolicySpec("indigo", "indigo"), trained_on="nothing")
        return path

    return write


@pytest.fixture
def two_emulators() -> list[NamedEmulator]:
    """A quick path and a slow one with a short queue."""
    specs = [
        {"name": "quick", "delay_ms": 10, "uplink": {"rate_mbps": 12}},
        {
            "name": "slow",
            "delay_ms": 20,
            "uplink": {"rate_mbps": 2, "queue": "droptail", "packets": 10, "loss": 0.01},
        },
    ]
    return [NamedEmulator(f"test/{spec['name']}", EmulatorSpec.model_validate(spec)) for spec in specs]
