"""A run of reinforcement learning small enough for a test."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ccgym.rl.config import RlConfig

EMULATORS = """
emulators:
  - {name: small, delay_ms: 10, uplink: {rate_mbps: 4, queue: droptail, packets: 30}}
"""

TINY = {
    "algo": "ppo",
    "name": "tiny",
    "features": "aurora",
    "actions": "rate",
    "reward": "power",
    "hidden": [8],
    "value_hidden": [8],
    "iterations": 4,
    "environments": 4,
    "episode_steps": 32,
    "batch_decisions": 64,
    "epochs": 2,
    "learning_rate": 3e-3,
    "evaluation_interval": 2,
    "evaluation_seconds": 2.0,
}
RECURRENT = {"algo": "recurrent-ppo", "hidden": 8}

TinyConfig = Callable[..., RlConfig]


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))


@pytest.fixture
def tiny_config(tmp_path: Path) -> TinyConfig:
    """Makes the tiny configuration, with the options given instead of its own."""
    emulators = tmp_path / "emulators.yaml"
    emulators.write_text(EMULATORS)

    def make(**options: Any) -> RlConfig:
        selection = f"file:{emulators}"
        return RlConfig.model_validate(TINY | {"emulators": selection, "validation": selection} | options)

    return make
