"""Several learning flows on one path: PettingZoo's contract, and agreement with the single environment."""

import copy
import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from ccgym.envs._core import Flow
from ccgym.envs.errors import InputError
from ccgym.envs.gym.parallel_env import PathParallelEnv
from ccgym.envs.gym.path_env import PathEnv
from ccgym.envs.specs.emulators import EmulatorSpec
from pettingzoo.test import parallel_api_test, parallel_seed_test

STAY = 2
SHARED = EmulatorSpec.model_validate(
    {
        "name": "shared",
        "delay_ms": 20,
        "uplink": {"rate_mbps": 12.0, "loss": 0.005, "queue": "droptail", "packets": 60},
    }
)
JOINING = [Flow(), Flow(start_s=0.3, stop_s=0.8), Flow("reno"), Flow(start_s=0.5, extra_delay_ms=15)]
KINDS = [{}, {"features": "aurora", "actions": "rate", "reward": "aurora"}]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("flows", [1, 3, JOINING])
def test_passes_the_tests_of_pettingzoo(kind: dict[str, Any], flows: Any) -> None:
    def make() -> PathParallelEnv:
        return PathParallelEnv(emulator=SHARED, flows=flows, max_steps=150, **kind)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about unbounded observations
        parallel_api_test(make(), num_cycles=400)
        parallel_seed_test(make, num_cycles=60)


@pytest.mark.parametrize("kind", KINDS)
def test_one_flow_alone_is_the_single_environment(kind: dict[str, Any]) -> None:
    alone, shared = PathEnv(emulator=SHARED, **kind), PathParallelEnv(emulator=SHARED, flows=1, **kind)
    alone.action_space.seed(1)
    observation, _ = alone.reset(seed=5)
    observations, _ = shared.reset(seed=5)
    for _ in range(200):
        np.testing.assert_array_equal(observation, observations["flow_0"])
        action = alone.action_space.sample()
        observation, reward, *_, info = alone.step(action)
        observations, rewards, _, _, infos = shared.step({"flow_0": action})
        assert rewards == {"flow_0": reward}
        assert infos == {"flow_0": info}


def test_flows_join_and_leave() -> None:
    env = PathParallelEnv(emulator=SHARED, flows=JOINING, max_steps=200)
    env.reset(seed=2)
    assert env.possible_agents == ["flow_0", "flow_1", "flow_3"]
    assert env.agents == ["flow_0"]
    lives: dict[str, list[float]] = {}
    ended: dict[str, float] = {}
    while env.agents:
        *_, terminations, truncations, infos = env.step(dict.fromkeys(env.agents, STAY))
        for agent, info in infos.items():
            lives.setdefault(agent, []).append(info["time_ms"])
        time_ms = infos["flow_0"]["time_ms"]
        ended |= {agent: time_ms for agent, gone in terminations.items() if gone}
    assert set(lives) == {"flow_0", "flow_1", "flow_3"}
    assert ended == {"flow_1": pytest.approx(800, abs=20)}
    assert all(truncations.values())
    assert lives["flow_3"][-1] < lives["flow_0"][-1] - 480  # each counts from its own start
    assert len(lives["flow_0"]) == 200


@pytest.mark.parametrize("kind", KINDS)
def test_a_restored_state_goes_on_with_the_same_bits(kind: dict[str, Any]) -> None:
    saved = PathParallelEnv(emulator=SHARED, flows=JOINING, max_steps=150, **kind)
    other = PathParallelEnv(emulator=SHARED, flows=JOINING, max_steps=150, **kind)
    saved.reset(seed=2)
    space = saved.action_space("flow_0")
    space.seed(1)

    def acts() -> dict[str, Any]:
        return {agent: space.sample() for agent in saved.agents}

    for _ in range(60):  # of four flows three have come
        before, *_ = saved.step(acts())
    state = pickle.loads(pickle.dumps(saved.save_state()))
    past = []
    while saved.agents:
        given = acts()
        past.append((given, saved.step(given)))
    np.testing.assert_equal(other.restore_state(state), before)
    for given, expected in past:
        assert set(other.agents) == set(given)
        np.testing.assert_equal(other.step(given), expected)
    assert not other.agents


def test_a_state_of_other_flows_is_refused() -> None:
    two, joining = PathParallelEnv(emulator=SHARED), PathParallelEnv(emulator=SHARED, flows=JOINING)
    two.reset(seed=1)
    with pytest.raises(InputError, match="another emulator"):
        joining.restore_state(two.save_state())


def test_an_agent_that_decides_needs_an_action() -> None:
    env = PathParallelEnv(emulator=SHARED, flows=3)
    env.reset(seed=1)
    while env._engine.states != ["deciding"] * 3:
        env.step(dict.fromkeys(env.agents, STAY))
    windows = env._engine.cwnd_packets.tolist()
    with pytest.raises(InputError, match=r"none of flow_1, flow_2; give one for each of env\.agents"):
        env.step({"flow_0": STAY})
    assert env._engine.cwnd_packets.tolist() == windows
    with pytest.raises(InputError, match="actions: 'flow_9' is no agent; agents are flow_0, flow_1, flow_2"):
        env.step({**dict.fromkeys(env.agents, STAY), "flow_9": STAY})
    with pytest.raises(InputError, match="is no dictionary of agents"):
        env.step([STAY] * 3)  # type: ignore[arg-type]


def test_an_agent_that_lets_instants_pass_needs_none() -> None:
    env = PathParallelEnv(emulator=SHARED, flows=3, max_steps=100)
    env.reset(seed=1)
    left_out = 0
    while env.agents:
        states = dict(zip(env.possible_agents, env._engine.states, strict=True))
        actions = {agent: STAY for agent in env.agents if states[agent] == "deciding"}
        left_out += len(env.agents) - len(actions)
        env.step(actions)
    assert left_out > 0


@pytest.mark.parametrize("flows", [2, [Flow(stop_s=0.5)]])
def test_a_step_after_the_end_gives_nothing(flows: Any) -> None:
    env = PathParallelEnv(emulator=SHARED, flows=flows, max_steps=100)
    env.reset(seed=1)
    while env.agents:
        env.step(dict.fromkeys(env.agents, STAY))
    assert env.step({}) == ({}, {}, {}, {}, {})
    assert env.step({"flow_0": STAY}) == ({}, {}, {}, {}, {})
    env.reset()
    assert env.step(dict.fromkeys(env.agents, STAY))[0]


def test_a_state_beyond_the_end_of_shorter_episodes_ends_with_its_next_step() -> None:
    long, short = PathParallelEnv(emulator=SHARED), PathParallelEnv(emulator=SHARED, max_steps=5)
    long.reset(seed=1)
    for _ in range(10):
        long.step(dict.fromkeys(long.agents, STAY))
    short.restore_state(long.save_state())
    *_, truncations, _ = short.step(dict.fromkeys(short.agents, STAY))
    assert truncations == {"flow_0": True, "flow_1": True}
    assert short.agents == []


def test_the_second_flow_may_come_after_the_first_has_left() -> None:
    env = PathParallelEnv(emulator=SHARED, flows=[Flow(stop_s=0.5), Flow(start_s=1)], max_steps=100)
    env.reset(seed=1)
    seen: set[str] = set()
    for _ in range(100):
        seen |= set(env.step(dict.fromkeys(env.agents, STAY))[0])
    assert seen == {"flow_0", "flow_1"}
    assert env.step({})[0] == {}


def test_a_reset_takes_another_emulator_and_no_other_option() -> None:
    env = PathParallelEnv(emulator=SHARED)
    first, _ = env.reset(seed=1, options={"emulator": "calibrated/nepal"})
    np.testing.assert_equal(first, PathParallelEnv(emulator="calibrated/nepal").reset(seed=1)[0])
    with pytest.raises(InputError, match=r"options: .* known is "):
        env.reset(seed=1, options={"emulatr": "calibrated/nepal"})
    with pytest.raises(InputError, match="emulator: 6 emulators for one path; give one"):
        env.reset(seed=1, options={"emulator": "calibrated"})


def test_actions_may_be_lists() -> None:
    env = PathParallelEnv(emulator=SHARED, features="raw", actions="window_and_rate")
    env.reset(seed=1)
    while env._engine.states != ["deciding"] * 2:
        env.step({agent: [20, 5.0] for agent in env.agents})
    env.step({"flow_0": [30, 5.0], "flow_1": (40, 6)})
    assert env._engine.cwnd_packets.tolist() == [30, 40]
    with pytest.raises(InputError, match=r"actions: of flow_1 it has shape \(3,\), should have \(2,\)"):
        env.step({"flow_0": [30, 5.0], "flow_1": [1, 2, 3]})


def test_flows_share_the_link_as_their_windows() -> None:
    env = PathParallelEnv(emulator="synthetic/20mbps-40ms", flows=4, max_steps=600)
    env.reset(seed=1)
    delivered = dict.fromkeys(env.possible_agents, 0.0)
    last_ms = dict.fromkeys(env.possible_agents, 0.0)
    windows = dict.fromkeys(env.possible_agents, 0.0)
    for step in range(600):
        *_, infos = env.step(dict.fromkeys(env.agents, 3 if step < 6 else STAY))
        for agent, info in infos.items():
            if info["time_ms"]:  # it has not let this instant pass
                if step >= 200:
                    delivered[agent] += info["throughput_mbps"] * (info["time_ms"] - last_ms[agent])
                last_ms[agent], windows[agent] = info["time_ms"], info["cwnd_packets"]
    rates_mbps = np.array(list(delivered.values())) / 4000
    assert rates_mbps.sum() == pytest.approx(20, rel=0.02)
    shares = np.array(list(windows.values())) / sum(windows.values())
    assert rates_mbps == pytest.approx(20 * shares, rel=0.05)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        *(
            (
                {"flows": flows},
                f"flows: {str(flows)!r} is neither a whole number of at least 1 nor a list of Flow, as in "
                '[Flow(), Flow("cubic")]',
            )
            for flows in (0, True, 2.0, None, "cubic", ["cubic"], {"cubic": 1})
        ),
        ({"flows": [Flow("reno")]}, "flows: none learns; give one Flow() or more without a scheme"),
        ({"flows": 10**12}, "flows: 1000000000000: a path has at most 10000"),
        ({"flows": []}, "flows: none learns; give one Flow() or more without a scheme"),
        *(
            ({"max_steps": steps}, f"max_steps: {steps} is not a whole number of at least 1")
            for steps in (0, True, 1.5, "9", None, np.nan)
        ),
        ({"emulator": "calibrated"}, "emulator: 6 emulators for one path; give one"),
    ],
)
def test_a_bad_argument_is_told_in_one_line(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        PathParallelEnv(**arguments)
    assert str(caught.value) == message


@pytest.mark.parametrize("flows", [2, [*JOINING, Flow(bytes=30_000, mean_think_s=0.1)]])
def test_a_copy_is_a_new_path_of_the_same_arguments(flows: Any) -> None:
    env = PathParallelEnv(emulator=SHARED, flows=flows, max_steps=60)
    told = []
    for each in (env, copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
        steps = [each.reset(seed=3)[0]]
        while each.agents:
            steps.append(each.step(dict.fromkeys(each.agents, STAY))[0])
        told.append(str(steps))
    assert told[0] == told[1] == told[2]
