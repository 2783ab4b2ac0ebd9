"""The native vector environment: one row is one `PathEnv`, whatever stands around it."""

import copy
import pickle
import resource
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from ccgym.envs.errors import InputError
from ccgym.envs.gym.engine.path_engine import PathEngine
from ccgym.envs.gym.path_env import PathEnv
from ccgym.envs.gym.registration import EPISODE_STEPS, PATH_ENV_ID, register_environments
from ccgym.envs.gym.rendering import EpisodePlot
from ccgym.envs.gym.vector_env import PathVectorEnv
from ccgym.envs.specs.emulators import EmulatorSpec
from gymnasium.vector import AsyncVectorEnv, AutoresetMode, SyncVectorEnv
from gymnasium.wrappers.vector import NormalizeObservation
from hypothesis import given, settings
from hypothesis import strategies as st

register_environments()

STAY = 2
LOSSY = [
    EmulatorSpec.model_validate(
        {
            "name": f"lossy-{rate}",
            "delay_ms": delay,
            "uplink": {"rate_mbps": rate, "loss": 0.03, "queue": "droptail", "packets": 40},
        }
    )
    for rate, delay in ((2.0, 5), (12.0, 20), (30.0, 40))
]


def rows(envs: PathVectorEnv, actions: np.ndarray[Any, Any], seed: int) -> list[list[Any]]:
    """What each flow goes through under actions (steps, flows): its observations, rewards and info."""
    observations, _ = envs.reset(seed=seed)
    seen = [[observation.tobytes()] for observation in observations]
    for action in actions:
        observations, rewards, terminations, truncations, info = envs.step(action)
        for flow, row in enumerate(seen):
            row.append(observations[flow].tobytes())
            row.append((rewards[flow], terminations[flow], truncations[flow]))
            row.append({name: float(info[name][flow]) for name in ("time_ms", "loss") if name in info})
    return seen


def random_actions(steps: int, flows: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(11).integers(0, 5, size=(steps, flows))


def test_gymnasium_makes_the_native_vector_environment() -> None:
    envs = gymnasium.make_vec(PATH_ENV_ID, num_envs=4, emulator="calibrated/india")
    assert isinstance(envs.unwrapped, PathVectorEnv)
    assert envs.metadata["autoreset_mode"] is AutoresetMode.NEXT_STEP
    observations, _ = envs.reset(seed=1)
    assert observations in envs.observation_space
    assert observations.dtype == np.float32
    envs.action_space.seed(1)
    observations, rewards, terminations, truncations, _ = envs.step(envs.action_space.sample())
    assert observations in envs.observation_space
    assert rewards.shape == terminations.shape == truncations.shape == (4,)
    envs.close()


def alone(spec: EmulatorSpec, window: float, length: int) -> gymnasium.Env[Any, Any]:
    return gymnasium.wrappers.TimeLimit(PathEnv(emulator=spec, oracle_cwnd_packets=window), length)


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_agrees_step_by_step_with_gymnasiums_own_vector_over_single_environments(mode: AutoresetMode) -> None:
    steps, length = 60, 25  # two ends of episode
    ours = PathVectorEnv(
        3, length, emulator=LOSSY, oracle_cwnd_packets=[5, 50, 250], autoreset_mode=mode.value
    )
    theirs = SyncVectorEnv(
        [partial(alone, spec, window, length) for spec, window in zip(LOSSY, (5, 50, 250), strict=True)],
        autoreset_mode=mode,
    )
    assert_equal(ours.reset(seed=9), theirs.reset(seed=9))
    for actions in random_actions(steps, 3):
        assert_equal(ours.step(actions), theirs.step(actions))


def assert_equal(ours: Any, theirs: Any) -> None:
    if isinstance(theirs, dict):
        assert ours.keys() == theirs.keys()
        for name in theirs:
            assert_equal(ours[name], theirs[name])
    elif isinstance(theirs, tuple) or (isinstance(theirs, np.ndarray) and theirs.dtype == object):
        assert len(ours) == len(theirs)
        for our, their in zip(ours, theirs, strict=True):
            assert_equal(our, their)
    else:
        np.testing.assert_array_equal(ours, theirs, strict=isinstance(theirs, np.ndarray))


def test_the_same_seed_gives_the_same_bits_on_any_number_of_threads() -> None:
    actions = random_actions(120, 7)
    first = rows(PathVectorEnv(7, 50, emulator=LOSSY), actions, seed=3)
    assert rows(PathVectorEnv(7, 50, emulator=LOSSY), actions, seed=3) == first
    assert rows(PathVectorEnv(7, 50, emulator=LOSSY, threads=2), actions, seed=3) == first
    assert rows(PathVectorEnv(7, 50, emulator=LOSSY, threads=5), actions, seed=3) == first
    assert rows(PathVectorEnv(7, 50, emulator=LOSSY), actions, seed=4) != first


@settings(max_examples=20, deadline=None)
@given(
    position=st.integers(0, 8), size=st.integers(1, 9), threads=st.integers(1, 3), seed=st.integers(0, 2**40)
)
def test_neither_position_nor_size_of_the_batch_matters(
    position: int, size: int, threads: int, seed: int
) -> None:
    position = min(position, size - 1)
    actions = random_actions(60, 1)
    alone = rows(PathVectorEnv(1, 40, emulator=LOSSY[1]), actions, seed=seed + position)
    batch = PathVectorEnv(size, 40, emulator=LOSSY[1], threads=threads)
    assert rows(batch, np.repeat(actions, size, axis=1), seed=seed)[position] == alone[0]


def test_a_seed_per_flow_restarts_only_the_seeded_ones() -> None:
    envs = PathVectorEnv(2, emulator=LOSSY[1])
    actions = random_actions(80, 2)

    def rewards(seed: Any) -> np.ndarray[Any, Any]:
        envs.reset(seed=seed)
        return np.array([envs.step(action)[1] for action in actions])

    first = rewards([5, 6])
    second = rewards([5, None])
    np.testing.assert_array_equal(first[:, 0], second[:, 0])
    assert (first[:, 1] != second[:, 1]).any()
    np.testing.assert_array_equal(first, rewards([5, 6]))


def test_an_ended_episode_is_reset_in_the_same_step_if_asked_for() -> None:
    envs = PathVectorEnv(2, 3, emulator=LOSSY[1], autoreset_mode="SameStep")
    stay = np.full(2, STAY)
    envs.reset(seed=1)
    for _ in range(2):
        *_, truncations, info = envs.step(stay)
        assert not truncations.any()
        assert "final_obs" not in info
    observations, _, terminations, truncations, info = envs.step(stay)
    assert truncations.all()
    assert not terminations.any()
    assert info["_final_obs"].all()
    assert "time_ms" not in info
    assert info["final_info"]["time_ms"].min() > 0
    assert not np.array_equal(info["final_obs"][0], observations[0])
    *_, truncations, info = envs.step(stay)
    assert not truncations.any()
    assert info["time_ms"].max() < 1000


def test_an_episode_lasts_a_thousand_steps_when_made_by_gymnasium() -> None:
    envs = gymnasium.make_vec(PATH_ENV_ID, num_envs=2, emulator="synthetic/5mbps-10ms")
    envs.reset(seed=1)
    ends = [envs.step(np.full(2, STAY))[3].tolist() for _ in range(EPISODE_STEPS)]
    assert ends == [[False, False]] * (EPISODE_STEPS - 1) + [[True, True]]


@pytest.mark.parametrize("threads", [1, 2])
def test_a_restored_state_goes_on_with_the_same_bits(threads: int) -> None:
    saved = PathVectorEnv(3, 30, emulator=LOSSY)
    other = PathVectorEnv(3, 30, emulator=LOSSY, threads=threads)
    actions = random_actions(100, 3)
    saved.reset(seed=3)
    for action in actions[:50]:  # into the second episode
        before, *_ = saved.step(action)
    state = pickle.loads(pickle.dumps(saved.save_state()))
    expected = [saved.step(action) for action in actions[50:]]  # two more ends of episode
    assert other.restore_state(state).tobytes() == before.tobytes()
    for action, step in zip(actions[50:], expected, strict=True):
        assert_equal(other.step(action), step)


@pytest.mark.parametrize("mode", ["NextStep", "SameStep"])
def test_a_state_beyond_the_end_of_shorter_episodes_is_at_their_end(mode: str) -> None:
    long, short = PathVectorEnv(2, 30), PathVectorEnv(2, 5, autoreset_mode=mode)
    long.reset(seed=1)
    for _ in range(10):
        long.step(np.full(2, STAY))
    short.restore_state(long.save_state())
    ends = [short.step(np.full(2, STAY))[3].all() for _ in range(6)]
    assert ends == ([True, *[False] * 4, True] if mode == "SameStep" else [*[False] * 5, True])


def test_a_pickled_state_runs_over_its_own_emulators_not_the_next_ones() -> None:
    saved = PathVectorEnv(2, emulator="calibrated/india")
    saved.reset(seed=1)
    saved.set_attr("emulator", "calibrated/nepal")
    before, *_ = saved.step(np.full(2, STAY))
    state = pickle.loads(pickle.dumps(saved.save_state()))
    expected = saved.step(np.full(2, 3))
    other = PathVectorEnv(2, emulator="calibrated/nepal")
    assert other.restore_state(state).tobytes() == before.tobytes()
    assert_equal(other.step(np.full(2, 3)), expected)
    assert [spec.name for spec in other.get_attr("emulator")] == ["india"] * 2
    other.reset()
    assert [spec.name for spec in other.get_attr("emulator")] == ["nepal"] * 2


def test_a_new_emulator_is_checked_once_for_each_flow(monkeypatch: pytest.MonkeyPatch) -> None:
    envs = PathVectorEnv(8)
    looked: list[object] = []
    look = PathEngine._path

    def counted(engine: PathEngine, spec: EmulatorSpec) -> Any:
        looked.append(spec)
        return look(engine, spec)

    monkeypatch.setattr(PathEngine, "_path", counted)
    envs.set_attr("emulator", LOSSY[0])
    assert len(looked) == 8


def test_one_flow_is_drawn_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    envs = PathVectorEnv(4, 20, emulator=LOSSY[0], render_mode="rgb_array")
    envs.reset(seed=1)
    envs.step(np.full(4, STAY))
    drawn: list[object] = []
    monkeypatch.setattr(EpisodePlot, "draw", lambda plot: drawn.append(plot))
    assert len(envs.call("render")) == 4
    assert len(drawn) == 4


def test_a_seed_may_be_a_number_of_numpy() -> None:
    envs = PathVectorEnv(2, emulator=LOSSY[1])
    ours, _ = envs.reset(seed=np.int64(5))  # type: ignore[arg-type]
    assert ours.tobytes() == envs.reset(seed=5)[0].tobytes()
    alone, _ = PathEnv(emulator=LOSSY[1]).reset(seed=np.int64(5))  # type: ignore[arg-type]
    assert alone.tobytes() == ours[0].tobytes()


@pytest.mark.parametrize("seed", [3.5, "1", {"a": 1}, np.array(3)])
def test_what_is_no_seed_is_told_in_one_line(seed: Any) -> None:
    with pytest.raises(InputError, match=r"seed: .* is neither a whole number nor one for each flow"):
        PathVectorEnv(2).reset(seed=seed)


def test_render_fps_is_that_of_the_single_environment() -> None:
    assert PathVectorEnv(1).metadata["render_fps"] == PathEnv.metadata["render_fps"]


def test_a_state_does_not_change_with_what_is_done_later() -> None:
    envs = PathVectorEnv(2, emulator=LOSSY[1])
    envs.reset(seed=1)
    action = np.full(2, STAY)
    before, *_ = envs.step(action)
    state = envs.save_state()
    action[:] = 4
    envs.step(action)
    assert envs.restore_state(state).tobytes() == before.tobytes()


def test_a_state_of_other_emulators_is_refused() -> None:
    lossy, changed = PathVectorEnv(2, emulator=LOSSY[0]), PathVectorEnv(2, emulator=LOSSY[0])
    lossy.reset(seed=1)
    changed.reset(seed=1, options={"emulator": LOSSY[1]})
    with pytest.raises(InputError, match="another emulator"):
        changed.restore_state(lossy.save_state())


def test_ten_thousand_environments_run_in_one_process() -> None:
    before = resident_kilobytes()
    envs = PathVectorEnv(10_000, emulator=LOSSY[1], threads=2)
    envs.reset(seed=1)
    for _ in range(3):
        _, rewards, *_ = envs.step(np.full(10_000, STAY))
    assert (rewards > 0).all()
    assert (resident_kilobytes() - before) / 10_000 < 100


def resident_kilobytes() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / 1e3


def test_each_flow_is_drawn_from_the_beginning_of_its_episode() -> None:
    envs = gymnasium.make_vec(
        PATH_ENV_ID, num_envs=2, emulator=LOSSY[:2], max_episode_steps=40, render_mode="rgb_array"
    )
    alone = PathEnv(emulator=LOSSY[1], render_mode="rgb_array")
    envs.reset(seed=4)
    alone.reset(seed=5)
    for step, action in enumerate(random_actions(46, 2)):  # into the second episode
        envs.step(action)
        if step == 40:
            alone.reset()
        else:
            alone.step(action[1])
    frames = envs.render()
    assert frames is not None
    first, second = frames
    np.testing.assert_array_equal(second, alone.render())
    assert not np.array_equal(first, second)


def test_without_a_render_mode_nothing_is_drawn() -> None:
    assert PathVectorEnv(1).render() is None
    with pytest.raises(InputError, match="render_mode: 'human' is unknown; known is rgb_array"):
        PathVectorEnv(1, render_mode="human")


def test_emulators_are_given_to_flows_in_turn() -> None:
    envs = PathVectorEnv(
        4, emulator=["synthetic/5mbps-10ms", "synthetic/200mbps-80ms"], oracle_cwnd_packets=[15, 2760]
    )
    envs.reset(seed=1)
    *_, info = envs.step(np.full(4, STAY))
    delays_ms = info["delay_ms"]
    assert delays_ms[0] == delays_ms[2] < 60
    assert delays_ms[1] == delays_ms[3] > 150
    assert info["oracle_cwnd_packets"].tolist() == [15, 2760, 15, 2760]


def test_what_a_step_returns_is_not_overwritten_by_the_next() -> None:
    envs = PathVectorEnv(2, emulator=LOSSY[1])
    envs.reset(seed=1)
    step = envs.step(np.full(2, 4))
    kept = [part.copy() for part in step[:4]] + [step[4]["time_ms"].copy()]
    envs.step(np.full(2, 4))
    for before, after in zip(kept, [*step[:4], step[4]["time_ms"]], strict=True):
        np.testing.assert_array_equal(before, after)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"num_envs": 5, "emulator": "calibrated"},
            "emulator: 6 for 5 flows; give 1 or more, at most one per flow",
        ),
        (
            {"num_envs": 2, "emulator": []},
            "emulator: 0 for 2 flows; give 1 or more, at most one per flow",
        ),
        ({"num_envs": 0}, "num_envs: 0 is not a whole number of at least 1"),
        ({"num_envs": 2.5}, "num_envs: 2.5 is not a whole number of at least 1"),
        ({"num_envs": True}, "num_envs: True is not a whole number of at least 1"),
        ({"threads": "2"}, "threads: 2 is not a whole number of at least 1"),
        ({"threads": None}, "threads: None is not a whole number of at least 1"),
        (
            {"oracle_cwnd_packets": [1, 2]},
            "oracle_cwnd_packets: 2 for 1 flows; give 1 or more, at most one per flow",
        ),
        ({"threads": 0}, "threads: 0 is not a whole number of at least 1"),
        ({"max_episode_steps": 0}, "max_episode_steps: 0 is not a whole number of at least 1"),
    ],
)
def test_a_bad_argument_is_told_in_one_line(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        PathVectorEnv(**arguments)
    assert str(caught.value) == message


def test_the_number_of_seeds_must_fit() -> None:
    with pytest.raises(InputError, match="seed: 3 seeds for 2 flows; give one seed, or one per flow"):
        PathVectorEnv(2).reset(seed=[1, 2, 3])


def test_an_action_outside_the_space_names_its_flow() -> None:
    envs = PathVectorEnv(3)
    envs.reset(seed=1)
    with pytest.raises(ValueError, match=r"action 7 of flow 2 is not within \[0, 4\]"):
        envs.step(np.array([0, 1, 7]))


@pytest.mark.parametrize("emulator", ["shared/three-flows", "all"])
def test_an_emulator_of_several_learners_is_refused_when_built(emulator: str) -> None:
    with pytest.raises(InputError, match="three-flows has 3 flows that learn"):
        PathVectorEnv(200, emulator=emulator)


@pytest.mark.parametrize("threads", [0, 40_000])
def test_threads_beyond_any_machine_are_refused(threads: int) -> None:
    with pytest.raises(InputError, match="threads"):
        PathVectorEnv(1, threads=threads)


def test_gymnasiums_normalising_wrapper_takes_what_make_vec_makes() -> None:
    envs = NormalizeObservation(gymnasium.make_vec(PATH_ENV_ID, num_envs=4, max_episode_steps=5))
    envs.reset(seed=1)
    seen = [envs.step(np.full(4, STAY))[0] for _ in range(20)]
    assert np.isfinite(seen).all()


def test_an_unknown_autoreset_mode_is_refused() -> None:
    with pytest.raises(
        InputError, match="autoreset_mode: 'Disabled' is unknown; known are NextStep, SameStep"
    ):
        PathVectorEnv(2, autoreset_mode=AutoresetMode.DISABLED)


def test_flows_have_attributes_and_methods_as_gymnasiums_own_vectors_have() -> None:
    envs = gymnasium.make_vec(PATH_ENV_ID, num_envs=3, emulator="calibrated/india")
    assert isinstance(envs, PathVectorEnv)
    envs.reset(seed=1)
    envs.set_attr("emulator", ["calibrated/nepal", "calibrated/mexico", "calibrated/nepal"])
    assert [spec.name for spec in envs.get_attr("emulator")] == ["india"] * 3  # until the reset
    envs.reset(seed=1)
    assert [spec.name for spec in envs.get_attr("emulator")] == ["nepal", "mexico", "nepal"]
    assert envs.call("cwnd_packets") == (10.0,) * 3
    assert envs.call("set_emulator", "calibrated/india") == (None,) * 3
    with pytest.raises(InputError, match="set_attr: 2 values for 3 flows"):
        envs.set_attr("emulator", ["calibrated/nepal"] * 2)
    with pytest.raises(AttributeError, match="reward is given to make_vec"):
        envs.set_attr("reward", "copa")
    with pytest.raises(AttributeError, match="a flow has no 'reset'"):
        envs.call("reset")


@pytest.mark.parametrize("options", [{"emulatr": "calibrated/india"}, {"reset_mask": [True, False]}, "india"])
def test_an_option_that_is_none_is_refused(options: Any) -> None:
    for env in (PathEnv(), PathVectorEnv(2)):
        with pytest.raises(InputError, match=r"options: .* known is "):
            env.reset(seed=1, options=options)


@pytest.mark.parametrize("state", [None, {"arguments": 1}])
def test_what_no_environment_saved_cannot_be_restored(state: Any) -> None:
    envs = PathVectorEnv(1)
    envs.reset(seed=1)
    with pytest.raises(InputError, match="restore_state: the state is of an environment of another"):
        envs.restore_state(state)


def test_a_list_is_no_set_of_actions() -> None:
    with pytest.raises(InputError, match=r"actions: .* is unknown; known are indigo"):
        PathVectorEnv(1, actions=["indigo"])  # type: ignore[arg-type]


def test_seeds_may_stand_in_an_array() -> None:
    one, other = PathVectorEnv(2), PathVectorEnv(2)
    one.reset(seed=[3, 2**40])
    other.reset(seed=np.array([3, 2**40]))  # type: ignore[arg-type]
    assert one.save_state().seeds.tolist() == other.save_state().seeds.tolist() == [3, 2**40]


def test_a_copy_is_a_new_batch_of_the_same_arguments() -> None:
    envs = PathVectorEnv(3, 4, emulator=LOSSY, features="aurora", actions="rate", threads=2)
    envs.set_autoreset_mode("SameStep")
    for other in (copy.deepcopy(envs), pickle.loads(pickle.dumps(envs))):
        assert other.autoreset_mode is AutoresetMode.SAME_STEP
        assert rows(other, np.zeros((6, 3, 1), np.float32), 5) == rows(
            envs, np.zeros((6, 3, 1), np.float32), 5
        )


@pytest.mark.parametrize("seed", [[-1, 1], [1, np.int64(-1)], (None, -5)])
def test_a_negative_seed_is_refused_in_a_list_as_alone(seed: Any) -> None:
    envs = PathVectorEnv(2)
    with pytest.raises(InputError, match=r"seed: .*-[15].* is not a whole number from 0"):
        envs.reset(seed=seed)
    with pytest.raises(gymnasium.error.Error, match="greater or equal to zero"):
        envs.reset(seed=-1)


@pytest.mark.slow
def test_gymnasiums_own_processes_run_paths() -> None:
    make = partial(gymnasium.make, f"ccgym.envs:{PATH_ENV_ID}", emulator=LOSSY[0], max_episode_steps=3)
    actions = np.full((5, 2), STAY)
    told = []
    for envs in (AsyncVectorEnv([make, make], context="spawn"), SyncVectorEnv([make, make])):
        observations = [envs.reset(seed=3)[0].copy()]
        observations += [envs.step(each)[0].copy() for each in actions]
        envs.close()
        told.append(np.stack(observations))
    np.testing.assert_array_equal(told[0], told[1])
