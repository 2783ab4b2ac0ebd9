"""Actions that say what is wanted: the window, or window and rate; and the companion of log_window."""

from typing import Any

import numpy as np
import pytest
from ccgym.envs import _core
from ccgym.envs.errors import InputError
from ccgym.envs.gym.parallel_env import PathParallelEnv
from ccgym.envs.gym.path_env import PathEnv
from ccgym.envs.gym.vector_env import PathVectorEnv
from ccgym.envs.specs.emulator_spec import EmulatorSpec
from ccgym.envs.specs.link_spec import LinkSpec

PATH = EmulatorSpec(name="path", delay_ms=30, uplink=LinkSpec(rate_mbps=12.0))


def test_a_window_is_set_as_it_is_given() -> None:
    env = PathEnv(emulator=PATH, features="raw", actions="window")
    env.reset(seed=1)
    wanted = [1, 37, 2.5, 100_000, 64]
    windows = [env.step(np.array([window], np.float32))[4]["cwnd_packets"] for window in wanted]
    assert windows == wanted


def test_a_window_and_a_rate_are_set_as_they_are_given() -> None:
    env = PathEnv(emulator=PATH, features="raw", actions="window_and_rate")
    env.reset(seed=1)
    for _ in range(20):
        env.step(np.array([1000, 6], np.float32))
    infos = [env.step(np.array([1000, 6], np.float32))[4] for _ in range(100)]
    assert np.mean([info["throughput_mbps"] for info in infos]) == pytest.approx(6, rel=0.05)
    assert {info["queue_packets"] for info in infos} <= {0.0, 1.0}
    inflight = _core.RAW_FEATURES.index("inflight_packets")
    seen = [env.step(np.array([20, 1000], np.float32))[0][inflight] for _ in range(200)]
    assert 18 <= max(seen[100:]) <= 20


def test_the_least_rate_may_be_given_as_it_is_documented() -> None:
    env = PathEnv(emulator=PATH, features="raw", actions="window_and_rate")
    env.reset(seed=1)
    env.step([10, 0.001])
    with pytest.raises(ValueError, match=r"action 0.000999 of flow 0 is not within"):
        env.step([10, 0.000999])
    with pytest.raises(ValueError, match=r"action 1e\+300 of flow 0 is not within"):
        env.step([10, 1e300])


def test_several_flows_on_a_path_set_windows_and_rates() -> None:
    env = PathParallelEnv(emulator=PATH, features="raw", actions="window_and_rate")
    env.reset(seed=1)
    shares = {"flow_0": 3.0, "flow_1": 6.0}
    for _ in range(200):
        *_, infos = env.step({agent: np.array([500, shares[agent]], np.float32) for agent in env.agents})
    for agent, rate_mbps in shares.items():
        assert infos[agent]["throughput_mbps"] == pytest.approx(rate_mbps, abs=1.3)


@pytest.mark.parametrize(
    ("actions", "given", "complaint"),
    [
        ("window", [[np.nan], [5]], "action nan of flow 0"),
        ("window", [[5], [np.inf]], "action inf of flow 1"),
        ("window", [[5], [-3]], r"action -3.0 of flow 1 is not within \[1, 100000\]"),
        ("window", [[5, 5], [5, 5]], r"shape \(2, 2\), should be \(2, 1\): one number"),
        ("window_and_rate", [[5, 0], [5, 5]], r"action 0.0 of flow 0 is not within \[0.001"),
        ("window_and_rate", [5, 5], r"should be \(2, 2\): window in packets and rate in Mbit/s"),
        ("log_window", [["a"], ["b"]], "must be numbers"),
        ("rate", [[2], [0]], r"action 2.0 of flow 0 is not within \[-1, 1\]"),
        ("indigo", [5, 1], r"not within \[0, 4\]"),
        ("indigo", [1, 1, 1], r"shape \(3,\), should be"),
    ],
)
def test_an_action_that_is_none_is_one_clear_error(actions: str, given: Any, complaint: str) -> None:
    envs = PathVectorEnv(2, emulator=PATH, features="raw", actions=actions)
    envs.reset(seed=1)
    if actions not in ("indigo", "log_window"):
        given = np.array(given, dtype=np.float32)
    with pytest.raises(ValueError, match=complaint):
        envs.step(np.array(given))
    envs.step(np.array([envs.single_action_space.sample() for _ in range(2)]))  # it goes on


@pytest.mark.parametrize("given", [[1, 2, 3], [[5], [5]], None])
def test_an_action_of_another_shape_is_told_that_of_the_action_space(given: Any) -> None:
    env = PathEnv(emulator=PATH, features="raw", actions="window_and_rate")
    env.reset(seed=1)
    with pytest.raises(ValueError, match=r"should be \(2,\): window in packets and rate in Mbit/s"):
        env.step(given)


def test_a_lone_flow_has_no_drains_unless_a_companion_is_asked_for() -> None:
    def windows(**arguments: Any) -> set[float]:
        env = PathEnv(emulator=PATH, features="raw", actions="log_window", **arguments)
        env.reset(seed=1)
        env.step(np.ones(1, np.float32))
        env.step(np.ones(1, np.float32))
        window = env.step(np.zeros(1, np.float32))[4]["cwnd_packets"]
        inflight = _core.RAW_FEATURES.index("inflight_packets")
        return {round(float(env.step(np.zeros(1, np.float32))[0][inflight]) / window, 1) for _ in range(400)}

    assert min(windows()) >= 0.9
    assert min(windows(companion=True)) < 0.9


def test_a_companion_of_other_actions_is_refused() -> None:
    for actions in ("window", "window_and_rate", "rate", "indigo"):
        with pytest.raises(InputError, match=f"companion: goes with actions log_window, not with {actions};"):
            PathEnv(features="raw", actions=actions, companion=True)
