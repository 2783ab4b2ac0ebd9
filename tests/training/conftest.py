"""A training run small enough for a test: one emulator, few environments, short episodes."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from ccgym.training.config import TrainingConfig

EMULATORS = """
emulators:
  - {name: small, delay_ms: 10, uplink: {rate_mbps: 4}}
"""

TINY = {
    "name": "tiny",
    "features": "scale_free",
    "actions": "log_window",
    "architecture": "lstm",
    "hidden": [16],
    "iterations": 4,
    "environments": 6,
    "episode_steps": 64,
    "sequence_steps": 16,
    "perturbation_probability": 0.05,
    "max_perturbation_steps": 2,
    "host_jitter": {"share": 0.5, "max_probability": 0.05, "max_ms": 3},
    "dataset_iterations": 2,
    "batch_sequences": 8,
    "initial_learning_rate": 3e-3,
    "final_learning_rate": 1e-3,
    "max_gradient_norm": 1.0,
    "evaluation_interval": 2,
    "evaluation_seconds": 2.0,
}

TinyConfig = Callable[..., TrainingConfig]


@pytest.fixture(autouse=True, scope="module")
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))
        yield


def tiny_config_in(folder: Path) -> TinyConfig:
    """Makes the tiny configuration, with the options given instead of its own; its emulators in `folder`."""
    emulators = folder / "emulators.yaml"
    emulators.write_text(EMULATORS)

    def make(**options: Any) -> TrainingConfig:
        selection = f"file:{emulators}"
        return TrainingConfig.model_validate(
            TINY | {"emulators": selection, "validation": selection, "monitored": selection} | options
        )

    return make


@pytest.fixture
def tiny_config(tmp_path: Path) -> TinyConfig:
    """Of the test's own folder."""
    return tiny_config_in(tmp_path)
