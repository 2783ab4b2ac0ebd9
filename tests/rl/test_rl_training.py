"""Reinforcement learning: exact, resumable, and what it leaves runs."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from ccgym.agents.policy_file import PolicyModule, load_policy, save_policy
from ccgym.agents.shipped import policy_path
from ccgym.envs import _core
from ccgym.envs.errors import InputError
from ccgym.envs.gym.sb3_vec_env import PathSb3VecEnv
from ccgym.envs.gym.vector_env import PathVectorEnv
from ccgym.rl.actor import as_actor
from ccgym.rl.agent import make_model, to_policy
from ccgym.rl.config import RlConfig
from ccgym.rl.shape import find_shape
from ccgym.rl.train import train
from ccgym.tests.weights import Weights, assert_same_weights
from ccgym.training.config import config_file, load_config
from ccgym.training.runs.run_directory import RunDirectory
from pydantic import ValidationError

TinyConfig = Callable[..., RlConfig]
RECURRENT = {"algo": "recurrent-ppo", "hidden": 8}
HELD = {"features": "scale_free", "actions": "log_window", "held_steps": 8}
KINDS: list[dict[str, Any]] = [{}, RECURRENT, HELD, {"features": "indigo", "actions": "indigo"}]
FROM_POLICY = {"features": None, "actions": None, "hidden": None, "reward": "log_power", "group_size": 2}
SHIPPED = [
    {"algo": "recurrent-ppo", "init": "indigo2", "held_steps": 8},
    {"algo": "recurrent-ppo", "init": "indigo"},
    {"algo": "ppo", "init": "aurora"},
]


def train_in(folder: Path, config: RlConfig, *, resume: bool = False, workers: int = 1) -> None:
    train(config, RunDirectory(folder, RlConfig), resume=resume, workers=workers)


def weights(folder: Path) -> Weights:
    return RunDirectory(folder, RlConfig).load().policy


@pytest.mark.parametrize("kind", [{}, RECURRENT, HELD])
def test_the_same_seed_gives_the_same_weights_also_when_resumed(
    tiny_config: TinyConfig, tmp_path: Path, kind: dict[str, Any]
) -> None:
    config = tiny_config(**kind)
    train_in(tmp_path / "whole", config, workers=2)
    halted = RunDirectory(tmp_path / "parts", RlConfig)
    train(config, halted, resume=False, workers=1, minutes=1e-9)
    assert halted.load().iterations == 1
    train_in(tmp_path / "parts", config, resume=True)
    assert_same_weights(weights(tmp_path / "whole"), weights(tmp_path / "parts"))
    train_in(tmp_path / "other", config.model_copy(update={"seed": 2}))
    assert not torch.equal(
        weights(tmp_path / "whole")["action_net.weight"], weights(tmp_path / "other")["action_net.weight"]
    )


def test_the_run_directory_is_that_of_imitation_training(tiny_config: TinyConfig, tmp_path: Path) -> None:
    config = tiny_config()
    train_in(tmp_path, config)
    assert RunDirectory(tmp_path, RlConfig).config() == config
    _, spec = load_policy(tmp_path / "best" / "policy.safetensors")
    assert (spec.feature_set, spec.actions) == ("aurora", "rate")
    assert spec.trained_on.startswith("ccgym train --config tiny")
    lines = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert [line["iteration"] for line in lines] == [0, 1, 2, 3]
    assert ["validation/negative_reward" in line for line in lines] == [False, True, False, True]
    assert lines[-1]["decisions"] == 4 * 4 * 32
    assert list(tmp_path.glob("events.out.tfevents.*"))


@pytest.mark.parametrize("kind", KINDS)
def test_what_has_been_learnt_is_the_likeliest_action_of_the_learner(
    tiny_config: TinyConfig, tmp_path: Path, kind: dict[str, Any]
) -> None:
    config = tiny_config(**kind)
    train_in(tmp_path, config)
    shape = find_shape(config)
    envs = PathSb3VecEnv(
        PathVectorEnv(1, emulator=config.emulators, features=shape.features, actions=shape.actions)
    )
    model = make_model(config.model_copy(update={"batch_decisions": 32}), shape, envs)
    model.policy.load_state_dict(weights(tmp_path))
    module, spec = to_policy(model, shape)
    assert isinstance(module, PolicyModule)
    save_policy(tmp_path / "policy.safetensors", module, spec, trained_on="nothing")
    envs.seed(1)
    observation, seen, chosen, state = envs.reset(), [], [], None
    for step in range(100):
        action, state = model.predict(
            observation, state, episode_start=np.array([step == 0]), deterministic=True
        )
        seen.append(observation[0])
        chosen.append(action.item())
        envs.step_async(action)
        observation, *_ = envs.step_wait()
    outputs = _core.evaluate_policy(str(tmp_path / "policy.safetensors"), np.array(seen))
    if config.actions == "indigo":
        np.testing.assert_array_equal(outputs.argmax(axis=1), chosen)
    else:
        np.testing.assert_allclose(np.clip(outputs[:, 0], -1, 1), chosen, atol=1e-5)


@pytest.mark.parametrize("start", SHIPPED)
def test_goes_on_from_a_shipped_policy_of_either_kind(
    tiny_config: TinyConfig, tmp_path: Path, start: dict[str, Any]
) -> None:
    # GIVEN a shipped policy, and a first half of the iterations in which only values are learnt
    config = tiny_config(**FROM_POLICY | start, value_iterations=2, evaluation_interval=4)
    before, spec = load_policy(policy_path(config.init))

    # WHEN it is trained for that half
    train_in(tmp_path / "values", config.model_copy(update={"iterations": 2}))

    # THEN it is what it was, and only further training changes it
    after, its_spec = load_policy(tmp_path / "values" / "best" / "policy.safetensors")
    assert_same_weights(dict(after.state_dict()), dict(before.state_dict()))
    assert (its_spec.feature_set, its_spec.actions) == (spec.feature_set, spec.actions)
    train_in(tmp_path / "on", config.model_copy(update={"value_iterations": 0}))
    changed, _ = load_policy(tmp_path / "on" / "best" / "policy.safetensors")
    last = list(before.state_dict())[-2]
    assert not torch.equal(changed.state_dict()[last], before.state_dict()[last])


def test_a_dead_link_to_validate_on_is_refused_before_the_training(
    tiny_config: TinyConfig, tmp_path: Path
) -> None:
    (tmp_path / "dead.yaml").write_text("emulators: [{name: a, delay_ms: 5, uplink: {rate_mbps: 0.0002}}]")
    with pytest.raises(InputError, match="a: next to nothing comes through in 4 s"):
        train_in(tmp_path / "run", tiny_config(algo="ppo", validation=f"file:{tmp_path / 'dead.yaml'}"))
    assert not (tmp_path / "run").exists()


def test_a_link_that_loses_everything_is_refused_before_the_training(
    tiny_config: TinyConfig, tmp_path: Path
) -> None:
    link = "{rate_mbps: 5, loss: 1}"
    (tmp_path / "dead.yaml").write_text(f"emulators: [{{name: a, delay_ms: 5, uplink: {link}}}]")
    with pytest.raises(InputError, match=r"a: uplink\.loss is 1"):
        train_in(tmp_path / "run", tiny_config(algo="ppo", emulators=f"file:{tmp_path / 'dead.yaml'}"))
    assert not (tmp_path / "run").exists()


def test_a_policy_of_another_kind_is_no_start(tiny_config: TinyConfig, tmp_path: Path) -> None:
    def starting(**options: Any) -> RlConfig:
        return tiny_config(**FROM_POLICY | {"algo": "ppo"} | options)

    with pytest.raises(InputError, match="init: indigo is an LSTM: algo must be recurrent-ppo, not ppo"):
        train_in(tmp_path / "run", starting(init="indigo"))
    with pytest.raises(InputError, match="init: aurora is without memory: algo must be ppo, not recurrent"):
        train_in(tmp_path / "run", starting(init="aurora", algo="recurrent-ppo"))
    with pytest.raises(InputError, match=r"init: indigo2 has hidden 64; the configuration 32"):
        train_in(tmp_path / "run", starting(init="indigo2", algo="recurrent-ppo", hidden=32))
    with pytest.raises(InputError, match=r"held_steps \(8\): actions indigo are classes"):
        train_in(tmp_path / "run", starting(init="indigo", algo="recurrent-ppo", held_steps=8))
    with pytest.raises(InputError, match=r"init: .*none: cannot be read"):
        train_in(tmp_path / "run", starting(init=str(tmp_path / "none")))
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("name", ["aurora", "indigo2-power", "indigo-power"])
def test_shipped_config_loads(name: str) -> None:
    config = load_config(config_file(name), {}, RlConfig)
    decisions = config.environments * config.episode_steps
    assert decisions % config.batch_decisions == 0


@pytest.mark.parametrize("options", [{}, {"reward_scale": 1e38, "learning_rate": 3e-3}, HELD, RECURRENT])
def test_a_training_that_diverges_says_so(
    tiny_config: TinyConfig, tmp_path: Path, options: dict[str, Any]
) -> None:
    config = tiny_config(**{"learning_rate": 1e30, **options})
    with pytest.raises(InputError, match=r"learning_rate \(.*\): .* did it diverge\? give a lower") as caught:
        train_in(tmp_path / "run", config)
    assert "\n" not in str(caught.value)


class Odd(torch.nn.Module):
    """Answers x / (3 - x)."""

    def initial_state(self, _flows: int) -> tuple[()]:
        return ()

    def step(self, observation: torch.Tensor, state: tuple[()]) -> tuple[torch.Tensor, tuple[()]]:
        if observation.max() > 5:
            raise KeyError("five")
        return observation / (3 - observation), state


def test_an_actor_tells_of_a_network_that_raises_or_gives_no_numbers() -> None:
    actor = as_actor(Odd(), "rate")
    assert actor(np.ones((2, 1), np.float32)).tolist() == [[0.5], [0.5]]
    with pytest.raises(InputError, match=r"network: step gave NaN or infinity, .* did it diverge\?"):
        actor(np.full((2, 1), 3, np.float32))
    with pytest.raises(InputError, match=r"network: Odd.step raised KeyError: 'five' \(test_rl_training.py"):
        actor(np.full((2, 1), 6, np.float32))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"hidden": 8}, "must be a list, units per layer for algo ppo"),
        ({"hidden": [4] * 17}, "must be at most 16 layers"),
        ({"algo": "recurrent-ppo"}, "must be a number of units for algo recurrent-ppo"),
        ({"features": "indigo"}, "features indigo hold the last of indigo's actions, not of rate"),
        ({"hidden": None}, "hidden is missing, and there is no init"),
        ({"group_size": 3}, r"group_size \(3\) must divide environments \(4\)"),
        ({"reward": "log_power"}, "reward log_power compares with the policy to start from: give init"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    tiny_config: TinyConfig, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValidationError, match=message):
        tiny_config(**options)
