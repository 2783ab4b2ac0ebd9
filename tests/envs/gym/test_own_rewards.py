"""Rewards of one's own, and several at once as MO-Gymnasium has them."""

import pickle
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from ccgym.envs.errors import InputError
from ccgym.envs.gym.path_env import PathEnv
from ccgym.envs.gym.vector_env import PathVectorEnv

OWN = """
import numpy as np

def thrifty(info, link_mbps, empty_rtt_ms):
    return info["throughput_mbps"] / link_mbps - info["loss"]

def narrow(info, link_mbps, empty_rtt_ms):
    return 1.0

NUMBER = 3
"""


@pytest.fixture(autouse=True)
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "worth.py").write_text(OWN)


def test_a_function_of_ones_own_is_taken_as_it_is_or_by_name() -> None:
    named = PathVectorEnv(3, emulator="calibrated/nepal", reward="worth.py:thrifty")
    given = PathVectorEnv(3, emulator="calibrated/nepal", reward=lambda info, *_: info["throughput_mbps"])
    named.reset(seed=1)
    given.reset(seed=1)
    for _ in range(50):
        _, rewards, *_, info = named.step(np.full(3, 2))
        np.testing.assert_array_equal(given.step(np.full(3, 2))[1], info["throughput_mbps"])
        link_mbps = named.engine.capacity_mbps
        np.testing.assert_array_equal(rewards, info["throughput_mbps"] / link_mbps - info["loss"])


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("worth.py:NUMBER", "'3' is no function"),
        ("worth.py:thrify", "did you mean thrifty"),
        ("money", "'money' is"),
    ],
)
def test_what_is_no_reward_is_refused(name: str, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        PathEnv(reward=name)


def test_rewards_of_another_shape_are_refused() -> None:
    envs = PathVectorEnv(3, reward="worth.py:narrow")
    envs.reset(seed=1)
    with pytest.raises(
        InputError, match=r"reward: gave float64 of shape \(\), should give numbers of shape \(3,\)"
    ):
        envs.step(np.full(3, 2))


def test_a_vector_of_rewards_has_its_space() -> None:
    env = gymnasium.make("ccgym/Path-v0", reward="vector", disable_env_checker=True)
    env.reset(seed=1)
    path: Any = env.unwrapped
    assert path.reward_dim == 3
    for _ in range(50):
        _, reward, *_, info = env.step(3)
        assert path.reward_space.contains(reward)
        rtt_ms = info["delay_ms"] or 54
        assert reward == pytest.approx([info["throughput_mbps"], -rtt_ms, -info["loss"]], rel=1e-5)
    envs = PathVectorEnv(4, 5, reward="vector")
    envs.reset(seed=1)
    assert [envs.step(np.full(4, 2))[1].shape for _ in range(12)] == [(4, 3)] * 12


def test_mo_gymnasium_takes_it() -> None:
    mo = pytest.importorskip("mo_gymnasium")
    env = mo.make("ccgym/Path-v0", reward="vector", max_episode_steps=20)
    copied = pickle.loads(pickle.dumps(env))
    for each in (env, copied):
        observation, _ = each.reset(seed=3)
        _, reward, *_ = each.step(2)
        assert each.observation_space.contains(observation)
        assert each.unwrapped.reward_space.contains(reward)
    wrapped = mo.wrappers.MORecordEpisodeStatistics(mo.wrappers.MONormalizeReward(env, 0))
    wrapped.reset(seed=1)
    ended = [wrapped.step(2)[3:] for _ in range(20)][-1]
    assert ended[0]
    assert ended[1]["episode"]["r"].shape == (3,)
    linear = mo.wrappers.LinearReward(env, weight=np.array([1, 0.01, 10]))
    linear.reset(seed=1)
    _, reward, *_, info = linear.step(2)
    assert reward == pytest.approx(np.dot([1, 0.01, 10], info["vector_reward"]))


def test_a_restored_state_brings_its_elapsed_steps_along() -> None:
    env = gymnasium.wrappers.TimeLimit(gymnasium.make("ccgym/Path-v0", max_episode_steps=50), 40)
    path: Any = env.unwrapped
    env.reset(seed=1)
    for _ in range(10):
        env.step(2)
    state = path.save_state()
    for _ in range(30):
        *_, truncated, _ = env.step(2)
    assert truncated
    path.restore_state(state)
    assert [env.step(2)[3] for _ in range(30)] == [False] * 29 + [True]
