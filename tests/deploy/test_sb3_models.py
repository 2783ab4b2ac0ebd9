"""A model that stable-baselines3 has saved runs natively; what is none is one line."""

import json
import zipfile
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
import torch
from ccgym.agents.policy_file import save_policy
from ccgym.agents.sb3_archive import ModelError
from ccgym.agents.sb3_model import read_model
from ccgym.cli.main import main
from ccgym.envs import _core
from ccgym.envs.gym.sb3_vec_env import PathSb3VecEnv
from sb3_contrib import RecurrentPPO
from stable_baselines3 import PPO, SAC

SQUASHED = partial(PPO, use_sde=True)
KINDS: list[Any] = [
    (PPO, "MlpPolicy", {}, "aurora", "rate"),
    (PPO, "MlpPolicy", {"activation_fn": torch.nn.ELU, "net_arch": [24]}, "scale_free", "log_window"),
    (PPO, "MlpPolicy", {"net_arch": {"pi": [], "vf": [8]}}, "indigo", "indigo"),
    (PPO, "MlpPolicy", {}, "raw", "window_and_rate"),
    (SAC, "MlpPolicy", {"net_arch": [32, 16]}, "scale_free", "log_window"),
    (SQUASHED, "MlpPolicy", {"squash_output": True}, "scale_free", "log_window"),
    (SQUASHED, "MlpPolicy", {"squash_output": True, "activation_fn": torch.nn.ReLU}, "aurora", "rate"),
    (RecurrentPPO, "MlpLstmPolicy", {"lstm_hidden_size": 12, "net_arch": [8]}, "scale_free", "log_window"),
]


def name_of(kind: Any) -> str:
    return "squashed" if kind is SQUASHED else str(kind.__name__)


def model_of(kind: Any, policy: str, arguments: dict[str, Any], features: str, actions: str) -> Any:
    made = gymnasium.make_vec("ccgym/Path-v0", num_envs=2, features=features, actions=actions)
    return kind(policy, PathSb3VecEnv(made), policy_kwargs=arguments, seed=1, device="cpu")


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: f"{name_of(kind[0])}-{kind[3]}-{kind[4]}")
def test_a_saved_model_acts_natively_as_in_stable_baselines3(kind: Any, tmp_path: Path) -> None:
    model = model_of(*kind)
    with torch.no_grad():
        for parameter in model.policy.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=torch.Generator().manual_seed(2)) * 0.05)
    model.save(tmp_path / "model.zip")
    module, spec = read_model(tmp_path / "model.zip")
    assert (spec.feature_set, spec.actions) == kind[3:]
    save_policy(tmp_path / "policy.safetensors", module, spec, trained_on="")
    inputs = model.observation_space.shape[0]
    seen = np.random.default_rng(1).uniform(0, 1, (300, inputs)).astype(np.float32)
    ours = _core.evaluate_policy(str(tmp_path / "policy.safetensors"), seen)
    state, theirs = None, []
    for row, observation in enumerate(seen):
        if kind[0] is RecurrentPPO:
            action, state = model.predict(
                observation, state=state, episode_start=np.array([row == 0]), deterministic=True
            )
        else:
            action, _ = model.predict(observation, deterministic=True)
        theirs.append(action)
    if spec.actions == "indigo":
        np.testing.assert_array_equal(ours.argmax(axis=1), np.array(theirs))
    else:
        space = model.action_space
        np.testing.assert_allclose(np.clip(ours, space.low, space.high), np.array(theirs), atol=1e-5)


def test_a_saved_model_is_exported_as_a_scheme(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model_of(*KINDS[0]).save(tmp_path / "model.zip")
    assert main(["export", str(tmp_path / "model.zip"), "--name", "mine", "--out", str(tmp_path)]) == 0
    assert (tmp_path / "mine" / "policy.safetensors").is_file()
    assert (
        main(["export", str(tmp_path / "mine" / "policy.safetensors"), "--name", "x", "--actions", "rate"])
        == 2
    )
    assert "go with a model.zip" in capsys.readouterr().err


def test_what_is_no_such_model_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def complaint(*more: str) -> str:
        assert (
            main(["export", str(tmp_path / "model.zip"), "--name", "mine", "--out", str(tmp_path), *more])
            == 2
        )
        told = capsys.readouterr().err
        assert told.count("\n") == 1
        assert len(told) <= 300 + len(str(tmp_path))
        assert not (tmp_path / "mine").exists()
        return told

    file = tmp_path / "model.zip"
    assert "cannot read the model: No such file" in complaint()
    file.write_bytes(b"PK nothing")
    assert "no model of stable-baselines3" in complaint()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("data", json.dumps({}))
    assert "should hold data and policy.pth" in complaint()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("data", "{}")
        archive.writestr("policy.pth", b"\x80\x04N.")
    assert "no model of stable-baselines3" in complaint()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data", bytes(17 << 20))
        archive.writestr("policy.pth", b"")
    assert "data has more than 16 MB" in complaint()
    PPO("MlpPolicy", "CartPole-v1", device="cpu").save(file)
    assert "the model sees 4 numbers; features that run natively have" in complaint()
    model_of(*KINDS[0]).save(file)
    assert "actions indigo are 5 numbers, the model has 1" in complaint("--actions", "indigo")
    assert "features wide do not run natively" in complaint("--features", "wide")


@pytest.mark.parametrize(
    ("kind", "arguments"), [(SAC, {"net_arch": [4]}), (SQUASHED, {"squash_output": True})]
)
def test_squashed_windows_are_refused(kind: Any, arguments: dict[str, Any], tmp_path: Path) -> None:
    model_of(kind, "MlpPolicy", arguments, "raw", "window").save(tmp_path / "model.zip")
    with pytest.raises(ModelError, match="SAC squashes"):
        read_model(tmp_path / "model.zip")
