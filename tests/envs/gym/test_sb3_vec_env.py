"""The native batch for stable-baselines3: the same flows, step by step, and what its algorithms expect."""

from functools import partial
from typing import Any

import gymnasium
import numpy as np
import pytest
from ccgym.envs.errors import InputError
from ccgym.envs.gym.sb3_vec_env import PathSb3VecEnv
from ccgym.envs.gym.vector_env import PathVectorEnv
from numpy.typing import NDArray
from stable_baselines3 import PPO
from stable_baselines3.common.env_util import make_vec_env
from stable_baselines3.common.vec_env import SubprocVecEnv

LOSSY = "calibrated/nepal"
LENGTH = 20
ID_ANYWHERE = "ccgym.envs:ccgym/Path-v0"
"""Also in a process that has imported nothing of ccgym."""


def batch(num_envs: int = 3, **arguments: Any) -> PathVectorEnv:
    return PathVectorEnv(
        num_envs,
        LENGTH,
        emulator=LOSSY,
        features="aurora",
        actions="rate",
        autoreset_mode="SameStep",
        **arguments,
    )


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


def test_every_step_has_an_info_and_an_ended_episode_more() -> None:
    envs, theirs = PathSb3VecEnv(batch()), batch()
    envs.seed(7)
    envs.reset()
    theirs.reset(seed=7)
    total = np.zeros(3)
    for step, actions in enumerate(random_actions(LENGTH, 3)):
        envs.step_async(actions)
        observations, rewards, dones, infos = envs.step_wait()
        told = theirs.step(actions)[4]
        told = told.get("final_info", told)
        total += rewards
        for flow, info in enumerate(infos):
            assert info["throughput_mbps"] == told["throughput_mbps"][flow]
            assert info["cwnd_packets"] == told["cwnd_packets"][flow]
        assert dones.all() == (step + 1 == LENGTH)
        assert ("terminal_observation" in infos[0]) == (step + 1 == LENGTH)
    for flow, info in enumerate(infos):
        assert info["TimeLimit.truncated"] is True
        assert info["episode"] == {"r": pytest.approx(total[flow], rel=1e-5), "l": LENGTH}
        assert info["terminal_observation"].shape == observations[flow].shape
        assert not np.array_equal(info["terminal_observation"], observations[flow])


def test_runs_over_other_emulators_from_the_next_reset_on() -> None:
    envs = PathSb3VecEnv(batch(2))
    envs.seed(1)
    slow = envs.reset()
    envs.set_emulators("synthetic/200mbps-80ms")
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


def test_each_flow_has_attributes_and_methods() -> None:
    envs = PathSb3VecEnv(batch())
    envs.set_attr("emulator", "synthetic/200mbps-80ms", indices=1)
    envs.env_method("set_emulator", "random:train", indices=[2])
    envs.set_attr("mark", 7, indices=[0])
    envs.seed(1)
    observations = envs.reset()
    names = [spec.name for spec in envs.get_attr("emulator")]
    assert names[:2] == ["nepal", "200mbps-80ms"]
    assert names[2] not in names[:2]
    assert envs.get_attr("mark", 0) == [7]
    assert envs.get_attr("num_envs", [0, 2]) == [3, 3]
    assert envs.get_attr("action_space", [1]) == [envs.action_space]
    assert envs.get_attr("cwnd_packets") == [10, 10, 10]
    right = PathVectorEnv(1, emulator="synthetic/200mbps-80ms", features="aurora", actions="rate")
    np.testing.assert_array_equal(observations[1], right.reset(seed=2)[0][0])
    with pytest.raises(AttributeError, match="has no 'colour'"):
        envs.get_attr("colour")
    with pytest.raises(InputError, match=r"indices: \[9\]: there are 3 flows"):
        envs.set_attr("mark", 7, indices=[9])


def test_options_may_differ_from_flow_to_flow() -> None:
    envs = PathSb3VecEnv(batch())
    envs.set_options([{"emulator": "calibrated/nepal"}, {"emulator": "calibrated/india"}, {}])
    envs.seed(1)
    envs.reset()
    assert [spec.name for spec in envs.get_attr("emulator")] == ["nepal", "india", "nepal"]
    envs.set_options({"emulator": "calibrated/mexico"})
    envs.reset()
    assert [spec.name for spec in envs.get_attr("emulator")] == ["mexico"] * 3
    envs.set_options([{"emulator": "calibrated/india"}] * 2)
    with pytest.raises(InputError, match="set_options: 2 options for 3 flows"):
        envs.reset()


def test_it_is_drawn_as_one_picture_of_all_flows() -> None:
    envs = PathSb3VecEnv(batch(4, render_mode="rgb_array"))
    envs.reset()
    envs.step(np.zeros((4, 1), np.float32))
    assert [image.shape for image in envs.get_images() if image is not None] == [(480, 640, 3)] * 4
    whole = envs.render()
    assert whole is not None
    assert whole.shape == (960, 1280, 3)
    assert PathSb3VecEnv(batch(2)).get_images() == [None, None]


def test_takes_what_make_vec_makes_and_says_so_otherwise() -> None:
    made: Any = gymnasium.make_vec("ccgym/Path-v0", num_envs=2, features="aurora", actions="rate")
    PPO("MlpPolicy", PathSb3VecEnv(made), n_steps=4, batch_size=8, n_epochs=1, device="cpu").learn(8)
    with pytest.raises(ValueError, match=r"for stable-baselines3 write PathSb3VecEnv\(envs\)"):
        PPO("MlpPolicy", made)
    with pytest.raises(InputError, match="as make_vec makes it"):
        PathSb3VecEnv(gymnasium.make_vec("CartPole-v1", num_envs=1))
    with pytest.raises(InputError, match="wants one number"):
        PathSb3VecEnv(PathVectorEnv(2, reward="vector"))


def test_negative_seeds_are_refused() -> None:
    envs = PathSb3VecEnv(batch())
    envs.seed_each([1, -2, 3])
    with pytest.raises(InputError, match=r"seed: .*-2.* is not a whole number from 0"):
        envs.reset()


@pytest.mark.slow
def test_its_own_processes_run_paths() -> None:
    make = partial(gymnasium.make, ID_ANYWHERE, emulator=LOSSY, features="aurora", actions="rate")
    envs = make_vec_env(make, 2, seed=4, vec_env_cls=SubprocVecEnv)
    PPO("MlpPolicy", envs, n_steps=8, batch_size=8, device="cpu").learn(16)
    envs.close()
