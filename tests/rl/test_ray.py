"""Reinforcement learning on a Ray cluster of two machines: the same weights, whichever worker is killed."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from ccgym.rl.config import RlConfig
from ccgym.rl.train import train
from ccgym.tests.weights import Weights, assert_same_weights
from ccgym.training.runs.run_directory import RunDirectory

TinyConfig = Callable[..., RlConfig]

pytest.importorskip("ray.cluster_utils")
MINE = """import os
import signal
from pathlib import Path

import numpy as np
from ccgym.envs.specs.emulators import EmulatorSpec, LinkSpec

MARK = Path({mark!r})
calls = 0


def links(rng):
    return EmulatorSpec(name="mine", delay_ms=10, uplink=LinkSpec(rate_mbps=float(rng.uniform(1, 9))))


def reward(info, link_mbps, empty_rtt_ms):
    global calls
    calls += 1
    if calls == 20 and os.getpid() != {here} and not MARK.exists():
        MARK.touch()
        os.kill(os.getpid(), signal.SIGKILL)  # in the middle of an episode
    return info["throughput_mbps"] / link_mbps
"""


def weights(config: RlConfig, folder: Path, ray_address: str | None) -> Weights:
    run = RunDirectory(folder, RlConfig)
    train(config, run, resume=False, workers=1, ray_address=ray_address)
    return run.load().policy


def test_the_weights_are_those_of_one_process(cluster: str, tiny_config: TinyConfig, tmp_path: Path) -> None:
    start = {"init": "aurora", "features": None, "actions": None, "hidden": None, "reward": "log_power"}
    config = tiny_config(**start, iterations=2, environments=6, group_size=2, episode_steps=64)
    assert_same_weights(
        weights(config, tmp_path / "shared", cluster), weights(config, tmp_path / "alone", None)
    )


def test_a_part_whose_worker_is_killed_goes_on_elsewhere(
    cluster: str, tiny_config: TinyConfig, tmp_path: Path
) -> None:
    file, mark = tmp_path / "mine.py", tmp_path / "killed"
    file.write_text(MINE.format(mark=str(mark), here=os.getpid()))
    config = tiny_config(
        algo="recurrent-ppo",
        hidden=8,
        iterations=2,
        environments=5,
        links=f"{file}:links",
        reward=f"{file}:reward",
    )
    shared = weights(config, tmp_path / "shared", cluster)
    assert mark.exists()
    assert_same_weights(shared, weights(config, tmp_path / "alone", None))
