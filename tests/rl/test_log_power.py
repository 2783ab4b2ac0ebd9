"""The reward of fine-tuning: the first order of a logarithm, and what a group has in common left out."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from ccgym.envs.gym.rewards import Floats, Info, power
from ccgym.envs.gym.sb3_vec_env import PathSb3VecEnv
from ccgym.envs.gym.vector_env import PathVectorEnv
from ccgym.rl.agent import GroupRelative
from ccgym.rl.config import RlConfig
from ccgym.rl.log_power import LogPower, Reference, ReferenceRecorder
from numpy.typing import NDArray

TinyConfig = Callable[..., RlConfig]
RTT_MS = 40.0
CAPACITY_MBPS = np.full(2, 12.0)


def step(throughput_mbps: float, one_way_ms: float) -> Info:
    """Of two flows that do the same."""
    delay_ms = one_way_ms + RTT_MS / 2 if throughput_mbps else 0.0
    return {"throughput_mbps": np.full(2, throughput_mbps), "delay_ms": np.full(2, delay_ms)}


@pytest.mark.parametrize("weight", [0.5, 1.0])
@pytest.mark.parametrize(("throughput", "delay"), [(1.01, 1.0), (1.0, 1.01), (0.99, 0.98)])
def test_a_run_earns_the_change_of_the_logarithms(weight: float, throughput: float, delay: float) -> None:
    # A run at 10 Mbit/s and 25 ms is the reference; the other one differs by about 1 %.
    reward = LogPower(weight, [Reference(10, 25)] * 2)
    rtts_ms = np.full(2, RTT_MS)
    earned = reward(step(10 * throughput, 25 * delay), CAPACITY_MBPS, rtts_ms)
    assert earned - 1 == pytest.approx(math.log(throughput) - weight * math.log(delay), abs=5e-4)


def test_a_silent_step_earns_nothing() -> None:
    reward = LogPower(1.0, [Reference(10, 25)] * 2)
    assert reward(step(0, 0), CAPACITY_MBPS, np.full(2, RTT_MS)).tolist() == [0, 0]


def test_the_reference_has_the_mean_delay_of_its_packets() -> None:
    recorder = ReferenceRecorder()
    for info in (step(9, 30), step(3, 50), step(0, 0)):
        assert not recorder(info, CAPACITY_MBPS, np.full(2, RTT_MS)).any()
    # 9 + 3 packets in three steps: 12 / 3 = 4 Mbit/s, (9 x 30 + 3 x 50) / 12 = 35 ms
    for reference in recorder.references():
        assert reference.throughput_mbps == pytest.approx(4)
        assert reference.delay_ms == pytest.approx(35)


def test_a_group_runs_the_same_path_and_only_differences_count() -> None:
    # GIVEN two paths with two flows each, one pair of which does the same from beginning to end
    native = PathSb3VecEnv(
        PathVectorEnv(4, 50, emulator="calibrated/nepal", features="aurora", actions="rate")
    )
    native.seed_each([3, 3, 4, 4])
    envs = GroupRelative(native, group_size=2, scale=10.0)
    envs.reset()
    differ = np.zeros(4)
    for number in range(40):
        # WHEN one of the other pair speeds up after ten steps
        envs.step_async(np.array([[0.0], [1.0 if number > 9 else 0.0], [0.5], [0.5]], np.float32))
        _, rewards, _, _ = envs.step_wait()

        # THEN only that pair's rewards differ, and only from there on; one flow's gain is the other's loss
        assert rewards.reshape(2, 2).sum(axis=1) == pytest.approx([0, 0], abs=1e-5)
        if number <= 9:
            assert not rewards.any()
        differ += np.abs(rewards)
    assert differ[0] > 0
    assert not differ[2:].any()


def test_a_path_with_larger_rewards_teaches_no_more() -> None:
    def earned(factor: float) -> list[NDArray[np.float32]]:
        def reward(info: Info, capacity_mbps: Floats, rtt_ms: Floats) -> Floats:
            return factor * power(info, capacity_mbps, rtt_ms)

        native = PathSb3VecEnv(
            PathVectorEnv(
                2, 50, emulator="calibrated/nepal", features="aurora", actions="rate", reward=reward
            )
        )
        native.seed_each([3, 3])
        envs = GroupRelative(native, group_size=2, scale=1.0)
        envs.reset()
        rewards = []
        for _ in range(40):
            envs.step_async(np.array([[1.0], [-1.0]], np.float32))
            rewards.append(envs.step_wait()[1])
        return rewards

    small, large = earned(1e5), earned(1e6)
    np.testing.assert_allclose(small, large, rtol=1e-3)
    assert np.abs(large).max() > 1
