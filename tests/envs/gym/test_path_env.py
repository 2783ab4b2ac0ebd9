"""`ccgym/Path-v0` alone: Gymnasium's contract, determinism, info and rewards, bad arguments."""

import pickle
import warnings
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import stable_baselines3.common.env_checker as sb3_checker
from ccgym.envs.errors import InputError
from ccgym.envs.gym.path_env import PathEnv
from ccgym.envs.gym.registration import EPISODE_STEPS, PATH_ENV_ID, register_environments
from ccgym.envs.gym.rewards import REWARDS
from ccgym.envs.specs.emulators import EmulatorSpec
from gymnasium.utils.env_checker import check_env
from hypothesis import given, settings
from hypothesis import strategies as st

register_environments()

KINDS = [
    {"features": "indigo", "actions": "indigo"},
    {"features": "scale_free", "actions": "indigo"},
    {"features": "scale_free", "actions": "log_window"},
    {"features": "aurora", "actions": "rate", "reward": "aurora"},
    {"features": "scale_free", "actions": "rate", "reward": "copa"},
]
STAY = 2  # the index of Indigo's action that keeps the window


def spec(rate_mbps: float = 12.0, delay_ms: int = 20, **uplink: Any) -> EmulatorSpec:
    return EmulatorSpec.model_validate(
        {"name": "test", "delay_ms": delay_ms, "uplink": {"rate_mbps": rate_mbps, **uplink}}
    )


def rollout(env: PathEnv, seed: int | None, steps: int) -> list[tuple[Any, ...]]:
    observation, info = env.reset(seed=seed)
    env.action_space.seed(5)
    seen: list[tuple[Any, ...]] = [(observation.tobytes(), info)]
    for _ in range(steps):
        observation, reward, _, _, info = env.step(env.action_space.sample())
        seen.append((observation.tobytes(), reward, info))
    return seen


@pytest.mark.parametrize("kind", KINDS)
def test_passes_the_check_of_gymnasium(kind: dict[str, Any]) -> None:
    env = gymnasium.make(PATH_ENV_ID, emulator="calibrated/nepal", **kind)
    with warnings.catch_warnings(record=True) as raised:
        warnings.simplefilter("always")
        check_env(env.unwrapped)
    about_bounds = "value is infinity"  # rates and delays have no bound
    assert [str(one.message) for one in raised if about_bounds not in str(one.message)] == []


@pytest.mark.parametrize("kind", KINDS)
def test_passes_the_check_of_stable_baselines3(kind: dict[str, Any]) -> None:
    env = gymnasium.make(PATH_ENV_ID, emulator="calibrated/nepal", **kind)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sb3_checker.check_env(env)


def test_is_truncated_after_a_thousand_steps() -> None:
    env = gymnasium.make(PATH_ENV_ID, emulator="synthetic/5mbps-10ms")
    env.reset(seed=1)
    ends = [env.step(STAY)[2:4] for _ in range(EPISODE_STEPS)]
    assert ends == [(False, False)] * (EPISODE_STEPS - 1) + [(False, True)]


@pytest.mark.parametrize("kind", KINDS)
def test_every_observation_lies_in_the_space(kind: dict[str, Any]) -> None:
    env = PathEnv(
        emulator=spec(rate_mbps=3.0, loss=0.02, arrivals="poisson", queue="droptail", packets=30), **kind
    )
    env.action_space.seed(1)
    observation, _ = env.reset(seed=1)
    for _ in range(500):
        assert env.observation_space.contains(observation)
        observation, *_ = env.step(env.action_space.sample())


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_seed_gives_the_same_bits(kind: dict[str, Any]) -> None:
    lossy = spec(loss=0.05)
    first = rollout(PathEnv(emulator=lossy, **kind), 3, 300)
    assert rollout(PathEnv(emulator=lossy, **kind), 3, 300) == first
    assert rollout(PathEnv(emulator=lossy, **kind), 4, 300) != first


@pytest.mark.parametrize("pickled", [False, True])
@pytest.mark.parametrize("actions", ["indigo", "log_window"])
def test_a_restored_state_goes_on_with_the_same_bits(actions: str, pickled: bool) -> None:
    features = "indigo" if actions == "indigo" else "scale_free"
    arguments: dict[str, Any] = {"emulator": "calibrated/nepal", "features": features, "actions": actions}
    saved, other = PathEnv(**arguments), PathEnv(**arguments)
    saved.reset(seed=3)
    saved.reset()  # the second episode of that seed
    saved.action_space.seed(1)
    for _ in range(50):
        before, *_ = saved.step(saved.action_space.sample())
    state = saved.save_state()
    if pickled:
        state = pickle.loads(pickle.dumps(state))
    rest = [saved.action_space.sample() for _ in range(50)]
    expected = [saved.step(action)[:2] for action in rest]
    assert other.restore_state(state).tobytes() == before.tobytes()
    for action, (observation, reward) in zip(rest, expected, strict=True):
        again, reward_again, *_ = other.step(action)
        assert (again.tobytes(), reward_again) == (observation.tobytes(), reward)


def test_a_state_of_another_environment_is_refused() -> None:
    nepal, india = PathEnv(emulator="calibrated/nepal"), PathEnv(emulator="calibrated/india")
    nepal.reset(seed=1)
    with pytest.raises(InputError, match="another emulator"):
        india.restore_state(nepal.save_state())


def test_a_reset_without_a_seed_goes_on_to_another_episode() -> None:
    def episodes(seed: int) -> list[list[tuple[Any, ...]]]:
        env = PathEnv(emulator=spec(loss=0.05))
        return [rollout(env, seed, 200), rollout(env, None, 200), rollout(env, None, 200)]

    first, second, third = episodes(7)
    assert episodes(7) == [first, second, third]
    assert first != second != third != first


def test_without_any_seed_two_environments_differ() -> None:
    lossy = spec(loss=0.05)
    assert rollout(PathEnv(emulator=lossy), None, 200) != rollout(PathEnv(emulator=lossy), None, 200)


def test_indigo_actions_set_the_window() -> None:
    env = PathEnv(emulator=spec())
    env.reset(seed=1)
    windows = [env.step(action)[4]["cwnd_packets"] for action in (2, 3, 4, 1, 0, 0, 0, 0)]
    assert windows == [10, 20, 40, 30, 15, 7.5, 3.75, 2]


def test_log_window_actions_set_the_window() -> None:
    env = PathEnv(emulator=spec(), features="scale_free", actions="log_window")
    env.reset(seed=1)
    windows = [env.step(np.array([action], dtype=np.float32))[4]["cwnd_packets"] for action in (0, 1, -0.5)]
    assert windows == pytest.approx([10, 10 * np.e, 10 * np.e * np.exp(-0.5)], rel=1e-5)


def test_rate_actions_pace_the_flow() -> None:
    env = PathEnv(emulator=spec(rate_mbps=12.0, delay_ms=30), features="aurora", actions="rate")
    env.reset(seed=1)
    for _ in range(40):
        env.step(np.ones(1, dtype=np.float32))
    infos = [env.step(np.zeros(1, dtype=np.float32))[4] for _ in range(100)]
    paced_mbps = 10 * 1.025**40 * 1464 * 8e-3 / 60
    assert np.mean([info["throughput_mbps"] for info in infos]) == pytest.approx(paced_mbps, rel=0.05)
    assert {info["queue_packets"] for info in infos} <= {0.0, 1.0}


def info_of_a_step(**values: float) -> dict[str, np.ndarray[Any, np.dtype[np.float64]]]:
    info = {"throughput_mbps": 0.0, "delay_ms": 0.0, "loss": 0.0} | values
    return {name: np.array([value]) for name, value in info.items()}


@pytest.mark.parametrize(
    ("reward", "step", "worth"),
    [
        ("power", {"throughput_mbps": 6, "delay_ms": 120}, 0.5 * 0.5),
        ("power", {}, 0),
        # 6 Mbit/s are 500 packets of 1500 bytes per s
        ("aurora", {"throughput_mbps": 6, "delay_ms": 120, "loss": 0.1}, 5000 - 120 - 200),
        ("aurora", {"loss": 1}, -2000),
        ("copa", {"throughput_mbps": 6, "delay_ms": 100}, np.log(6) - np.log(10)),
        ("copa", {}, np.log(1e-3) - 0.5 * np.log(60)),
    ],
)
def test_rewards_are_what_they_are_documented_to_be(
    reward: str, step: dict[str, float], worth: float
) -> None:
    given = REWARDS[reward](info_of_a_step(**step), np.array([12.0]), np.array([60.0]))
    assert given == pytest.approx([worth])


def test_draws_the_episode_so_far() -> None:
    env = PathEnv(emulator=spec(), oracle_cwnd_packets=40.0, render_mode="rgb_array")
    pictures = []
    for seed in (1, 2):
        env.reset(seed=seed)
        pictures.append(env.render())
        for _ in range(50):
            env.step(3)
        pictures.append(env.render())
    empty, measured, empty_again, _ = (picture for picture in pictures if picture is not None)
    assert empty.shape == (480, 640, 3)
    assert empty.dtype == np.uint8
    assert not np.array_equal(empty, measured)
    np.testing.assert_array_equal(empty, empty_again)  # a new episode begins with an empty picture


def test_draws_nothing_unless_asked_to() -> None:
    assert PathEnv(emulator=spec()).render() is None
    with pytest.raises(InputError, match="render_mode: 'human' is unknown; known is rgb_array"):
        PathEnv(emulator=spec(), render_mode="human")


def steady_state(env: PathEnv, actions: tuple[int, ...]) -> tuple[dict[str, float], list[dict[str, Any]]]:
    """Means over time of what 2 s at a constant window give, and the info of each step."""
    env.reset(seed=1)
    for action in (*actions, *[STAY] * 100):
        start_ms = env.step(action)[4]["time_ms"]
    infos: list[dict[str, Any]] = []
    while not infos or infos[-1]["time_ms"] < start_ms + 2000:
        _, reward, _, _, info = env.step(STAY)
        infos.append({**info, "reward": reward})
    durations_ms = np.diff([start_ms, *[info["time_ms"] for info in infos]])
    keys = ("throughput_mbps", "delay_ms", "queue_packets", "reward")
    return {key: np.average([info[key] for info in infos], weights=durations_ms) for key in keys}, infos


def test_a_window_of_half_the_bdp_uses_half_the_link_without_a_queue() -> None:
    env = PathEnv(emulator=spec(rate_mbps=12.0, delay_ms=30), oracle_cwnd_packets=60.0)  # BDP 60 packets
    mean, infos = steady_state(env, actions=(3, 3))  # 30 packets
    assert mean["throughput_mbps"] == pytest.approx(30 * 1464 * 8e-3 / mean["delay_ms"], rel=0.03)
    assert 60 < mean["delay_ms"] < 64
    assert mean["reward"] == pytest.approx(0.46, rel=0.05)
    assert {info["loss"] for info in infos} == {0.0}
    assert {info["oracle_cwnd_packets"] for info in infos} == {60.0}


def test_a_window_of_twice_the_bdp_fills_the_link_and_doubles_the_delay() -> None:
    env = PathEnv(emulator=spec(rate_mbps=12.0, delay_ms=30))
    mean, _ = steady_state(env, actions=(4, 4, 4, 4, 1, 1, 1, 1))  # 120 packets
    assert mean["throughput_mbps"] == pytest.approx(12, rel=0.01)
    assert mean["delay_ms"] == pytest.approx(120 * 1464 * 8e-3 / 12, rel=0.02)
    assert mean["queue_packets"] == pytest.approx(60, rel=0.1)
    assert mean["reward"] == pytest.approx(0.5, rel=0.05)


def test_a_full_queue_shows_as_loss() -> None:
    env = PathEnv(emulator=spec(queue="droptail", packets=10))
    env.reset(seed=1)
    infos = [env.step(4 if step < 3 else STAY)[4] for step in range(200)]
    assert max(info["queue_packets"] for info in infos) <= 11
    assert 0 < np.mean([info["loss"] for info in infos]) < 1


def test_on_a_dead_path_reward_and_throughput_are_0_and_all_is_finite() -> None:
    env = PathEnv(emulator=spec(loss=1.0))
    env.reset(seed=1)
    observation, reward, _, _, info = env.step(STAY)
    assert reward == info["throughput_mbps"] == 0
    assert np.isfinite(observation).all()
    assert all(np.isfinite(value) for value in info.values())


@settings(max_examples=60, deadline=None)
@given(
    rate_mbps=st.floats(0.0002, 200) | st.floats(1, 50),
    delay_ms=st.integers(0, 1000),
    loss=st.just(0.0) | st.floats(0, 1),
    queue=st.sampled_from([{}, {"packets": 1}, {"packets": 50}, {"bytes": 1}, {"bytes": 30_000}]),
    arrivals=st.sampled_from(["constant", "poisson"]),
    kind=st.sampled_from(KINDS),
    seed=st.integers(0, 2**64 - 1),
)
def test_runs_over_any_path(
    rate_mbps: float,
    delay_ms: int,
    loss: float,
    queue: dict[str, int],
    arrivals: str,
    kind: dict[str, Any],
    seed: int,
) -> None:
    limited = {"queue": "droptail", **queue} if queue else {}
    env = PathEnv(emulator=spec(rate_mbps, delay_ms, loss=loss, arrivals=arrivals, **limited), **kind)
    env.action_space.seed(seed % 2**31)
    observation, _ = env.reset(seed=seed)
    time_ms = 0.0
    for _ in range(40):
        assert env.observation_space.contains(observation)
        observation, reward, _, _, info = env.step(env.action_space.sample())
        assert np.isfinite([reward, *info.values()]).all()
        assert info["time_ms"] > time_ms
        assert info["throughput_mbps"] >= 0
        assert 0 <= info["loss"] <= 1
        assert 2 <= info["cwnd_packets"] <= 100_000
        assert info["delay_ms"] == 0 or info["delay_ms"] >= 2 * delay_ms
        assert info["queue_packets"] <= queue.get("packets", np.inf)
        time_ms = info["time_ms"]


def test_time_runs_in_steps_of_ten_ms() -> None:
    env = PathEnv(emulator=spec())
    env.reset(seed=1)
    times = [env.step(4 if step < 3 else STAY)[4]["time_ms"] for step in range(100)]
    assert np.diff(times[50:]) == pytest.approx(10, abs=2)


def test_runs_over_a_file(tmp_path: Path) -> None:
    (tmp_path / "link.trace").write_text("1\n")
    path = tmp_path / "mine.yaml"
    path.write_text("emulators: [{name: a, delay_ms: 5, uplink: {trace: link.trace}}]")
    env = gymnasium.make(PATH_ENV_ID, emulator=f"file:{path}")
    observation, _ = env.reset(seed=1)
    assert observation.shape == (9,)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"features": "money"}, "features: 'money' is unknown; known are aurora, indigo, raw, scale_free"),
        (
            {"actions": "money"},
            "actions: 'money' is unknown; known are indigo, log_window, rate, window, window_and_rate",
        ),
        ({"reward": "money"}, "reward: 'money' is unknown; known are power, aurora, copa, vector"),
        (
            {"actions": "log_window"},
            "actions: features indigo hold the last of indigo's actions, not of 'log_window'",
        ),
        (
            {"emulator": "calibrated"},
            "emulator: 6 emulators for one flow; give one, a mix {NAME: WEIGHT}, or use make_vec",
        ),
        (
            {"emulator": []},
            "emulator: 0 emulators for one flow; give one, a mix {NAME: WEIGHT}, or use make_vec",
        ),
    ],
)
def test_a_bad_argument_is_told_in_one_line(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        PathEnv(**arguments)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("actions", "action", "message"),
    [
        ("indigo", -1, r"action -1 of flow 0 is not within \[0, 4\]"),
        ("indigo", 5, r"action 5 of flow 0 is not within \[0, 4\]"),
        ("indigo", 2.5, r"actions must be whole numbers within \[0, 4\], not float64"),
        ("log_window", 1.5, r"action 1.5 of flow 0 is not within \[-1, 1\]"),
        ("log_window", np.nan, r"action nan of flow 0 is not within \[-1, 1\]"),
    ],
)
def test_an_action_outside_the_space_is_refused(actions: str, action: float, message: str) -> None:
    env = PathEnv(emulator=spec(), features="scale_free", actions=actions)
    env.reset(seed=1)
    with pytest.raises(ValueError, match=message):
        env.step(action)


@pytest.mark.parametrize("companion", [None, 0, "", [], 1])
def test_a_companion_that_is_neither_true_nor_false_is_refused(companion: Any) -> None:
    with pytest.raises(InputError, match=r"companion: .* is neither True nor False"):
        PathEnv(emulator=spec(), companion=companion)


@pytest.mark.parametrize("window", [0, -1, float("inf"), "3", [3], b"3"])
def test_an_ideal_window_is_a_number_above_nothing(window: Any) -> None:
    with pytest.raises(InputError, match=r"oracle_cwnd_packets: .* is not a number above 0"):
        PathEnv(emulator=spec(), oracle_cwnd_packets=window)
