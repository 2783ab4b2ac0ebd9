"""The evidence that something was learnt: the interval, and what it is measured against."""

from collections.abc import Callable
from pathlib import Path

import pytest
from ccgym.rl.config import RlConfig
from ccgym.rl.learning import Learning, measure_learning
from ccgym.training.runs.run_directory import RunDirectory

TinyConfig = Callable[..., RlConfig]


def test_the_interval_is_that_of_students_t() -> None:
    learning = Learning([1.0, 2.0, 3.0, 4.0, 5.0], random=0.0, fixed=1.0)
    low, high = learning.interval
    assert (low + high) / 2 == pytest.approx(3)
    assert high - 3 == pytest.approx(2.7764451 * 2.5**0.5 / 5**0.5)
    assert learning.learns
    assert not Learning([1.0, 2.0, 3.0], random=0.0, fixed=1.0).learns  # 2.5 wide on each side


def test_a_short_training_beats_random_and_fixed_actions(tiny_config: TinyConfig, tmp_path: Path) -> None:
    emulators = tmp_path / "emulators.yaml"  # a new flow sends at 3 Mbit/s
    emulators.write_text(
        "emulators: [{name: a, delay_ms: 20, uplink: {rate_mbps: 12, queue: droptail, packets: 40}}]"
    )
    config = tiny_config(
        emulators=f"file:{emulators}",
        reward="aurora",
        reward_scale=1e-4,
        hidden=[16],
        iterations=12,
        environments=16,
        episode_steps=100,
        batch_decisions=400,
        epochs=6,
        learning_rate=5e-3,
    )
    learning = measure_learning(config, 2, tmp_path, workers=2)
    assert min(learning.learnt) > learning.random
    assert min(learning.learnt) > learning.fixed
    before = RunDirectory(tmp_path / "seed-1", RlConfig).best_policy.stat().st_mtime_ns
    assert measure_learning(config, 2, tmp_path, workers=1) == learning  # nothing was left to train
    assert RunDirectory(tmp_path / "seed-1", RlConfig).best_policy.stat().st_mtime_ns == before
