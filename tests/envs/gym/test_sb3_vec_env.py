"""The native batch for stable-baselines3: the same flows, step by step, and what its algorithms expect."""

from typing import Any

import numpy as np
import pytest
from ccgym.envs.gym.sb3_vec_env import PathSb3VecEnv
from ccgym.envs.gym.vector_env import PathVectorEnv
from numpy.typing import NDArray
from stable_baselines3 import PPO

LOSSY = "calibrated/nepal"
LENGTH = 20


def batch(num_envs: int = 3, **arguments: Any) -> PathVectorEnv:
    return PathVectorEnv(num_envs, LENGTH, emulator=LOSSY, features="aurora", actions="rate", **arguments)


def random_actions(steps: int, flows: int) -> NDArray[np.float32]:
    return np.random.default_rng(1).uniform(-1, 1, (steps, flows, 1)).astype(np.float32)


def test_a_step_is_that_of_the_vector_environment() -> None:
    ours, theirs = PathSb3VecEnv(batch()), batch()
    ours.seed(7)
    np.testing.assert_array_equal(ours.reset(), theirs.reset(seed=7)[0])
    for actions in random_actions(2 * LENGTH + 5, 3):
        ours.step_async(actions)
        observations, rewards, dones, _ = ours.step_wait()
        right = theirs.step(actions)
        np.testing.assert_array_equal(observations, right[0])
        np.testing.assert_array_equal(rewards, right[1].astype(np.float32))
        np.testing.assert_array_equal(dones, right[3])


def test_only_an_ended_episode_has_an_info() -> None:
    envs = PathSb3VecEnv(batch())
    envs.seed(7)
    envs.reset()
    total = np.zeros(3)
    for step, actions in enumerate(random_actions(LENGTH, 3)):
        envs.step_async(actions)
        observations, rewards, dones, infos = envs.step_wait()
        total += rewards
        if step + 1 < LENGTH:
            assert not dones.any()
            assert infos == [{}, {}, {}]
    assert dones.all()
    for flow, info in enumerate(infos):
        assert info["TimeLimit.truncated"] is True
        assert info["episode"] == {"r": pytest.approx(total[flow], rel=1e-5), "l": LENGTH}
        assert info["terminal_observation"].shape == observations[flow].shape
        assert not np.array_equal(info["terminal_observation"], observations[flow])
        assert info["throughput_mbps"] >= 0


def test_flies_over_other_emulators_from_the_next_reset_on() -> None:
    envs = PathSb3VecEnv(batch(2))
    envs.seed(1)
    slow = envs.reset()
    envs.fly_over("synthetic/200mbps-80ms")
    envs.seed(1)
    fast = envs.reset()
    assert not np.array_equal(slow, fast)
    right = PathVectorEnv(2, emulator="synthetic/200mbps-80ms", features="aurora", actions="rate")
    np.testing.assert_array_equal(fast, right.reset(seed=1)[0])


def test_ppo_learns_on_it() -> None:
    envs = PathSb3VecEnv(batch(4))
    model = PPO("MlpPolicy", envs, n_steps=32, batch_size=64, n_epochs=1, seed=1, device="cpu")
    before = {name: tensor.clone() for name, tensor in model.policy.state_dict().items()}
    model.learn(128)
    assert any(not tensor.equal(before[name]) for name, tensor in model.policy.state_dict().items())
    assert len(model.ep_info_buffer or []) == 4


def test_a_flow_cannot_be_changed_alone() -> None:
    envs = PathSb3VecEnv(batch())
    with pytest.raises(AttributeError, match="cannot be changed one by one"):
        envs.set_attr("reward", "power")
    with pytest.raises(AttributeError, match="have no methods of their own"):
        envs.env_method("render")
    assert envs.get_attr("num_envs", [0, 2]) == [3, 3]
