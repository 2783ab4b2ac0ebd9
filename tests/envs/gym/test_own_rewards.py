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
from ccgym.envs.specs.emulators import EmulatorSpec, LinkSpec
from ccgym.envs.specs.traffic_spec import FlowSpec

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


@pytest.mark.parametrize("index", [1, 2])
def test_a_reward_that_writes_into_what_it_is_given_is_refused(index: int) -> None:
    def halving(*given: Any) -> Any:
        given[index][:] /= 2
        return given[0]["throughput_mbps"]

    envs = PathVectorEnv(3, emulator="calibrated/nepal", reward=halving)
    envs.reset(seed=1)
    before = envs.engine.propagation_rtt_ms.copy(), envs.engine.capacity_mbps.copy()
    with pytest.raises(InputError, match=r"reward: raised ValueError: .*read-only") as caught:
        envs.step(np.full(3, 2))
    assert "\n" not in str(caught.value)
    np.testing.assert_array_equal((envs.engine.propagation_rtt_ms, envs.engine.capacity_mbps), before)


def test_a_reward_does_not_change_what_a_step_tells() -> None:
    def writing(info: Any, *_: Any) -> Any:
        info["delay_ms"] /= 2
        return info["throughput_mbps"]

    def replacing(info: Any, *_: Any) -> Any:
        info["time_ms"] = 0 * info["time_ms"]
        return info["throughput_mbps"]

    envs = PathVectorEnv(2, reward=writing)
    envs.reset(seed=1)
    with pytest.raises(InputError, match="read-only"):
        envs.step(np.full(2, 2))
    envs = PathVectorEnv(2, reward=replacing)
    envs.reset(seed=1)
    _, rewards, *_, info = envs.step(np.full(2, 2))
    assert info["time_ms"].min() > 0
    assert rewards.min() > 0
    info["time_ms"] += 1  # they are the caller's own


def test_the_propagation_rtt_includes_a_learners_extra_delay() -> None:
    link = LinkSpec(rate_mbps=12.0)
    far = EmulatorSpec(name="far", delay_ms=10, uplink=link, flows=(FlowSpec(extra_delay_ms=50.0),))
    near = EmulatorSpec(name="near", delay_ms=10, uplink=link)
    envs = PathVectorEnv(2, emulator=[far, near])
    assert envs.engine.propagation_rtt_ms.tolist() == [120, 20]
    envs.reset(seed=1)
    *_, info = envs.step(np.full(2, 2))
    assert info["delay_ms"].tolist() == pytest.approx([120, 20], abs=10)


@pytest.mark.parametrize("worth", [1e300, -1e39])
def test_a_reward_beyond_float32_is_refused(worth: float) -> None:
    envs = PathVectorEnv(2, reward=lambda info, *_: info["loss"] + worth)
    envs.reset(seed=1)
    with pytest.raises(InputError, match=r"reward: gave -?1e\+\d+, should give numbers within float32"):
        envs.step(np.full(2, 2))


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
    rewards = [envs.step(np.full(4, 2))[1] for _ in range(12)]
    assert [(each.shape, each.dtype) for each in rewards] == [((4, 3), np.dtype(np.float32))] * 12


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
