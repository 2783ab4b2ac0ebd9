"""The learner: PPO of stable-baselines3 around a network that leaves as a policy file.

Schulman et al., "Proximal Policy Optimization Algorithms", 2017. The networks are exactly those of
`ccgym.agents`, so what has been learnt flies in the C++ controller, and what flies there can be learnt from.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from ccgym.agents.lstm import LstmPolicy, LstmState
from ccgym.agents.mlp import MlpPolicy
from ccgym.agents.policy_file import PolicyFileError, PolicyModule, PolicySpec, load_policy
from ccgym.agents.shipped import policy_path
from ccgym.envs.errors import InputError
from numpy.typing import NDArray
from sb3_contrib import RecurrentPPO
from stable_baselines3 import PPO
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.vec_env import VecEnv, VecEnvWrapper

from .config import RlConfig

Model = PPO | RecurrentPPO


class ScaledRewards(VecEnvWrapper):
    """The same environments with every reward multiplied by a constant."""

    def __init__(self, envs: VecEnv, scale: float) -> None:
        super().__init__(envs)
        self._scale = scale

    def reset(self) -> Any:
        """As the environments do."""
        return self.venv.reset()

    def step_wait(self) -> Any:
        """Observations, scaled rewards, dones and infos."""
        observations, rewards, dones, infos = self.venv.step_wait()
        return observations, rewards * np.float32(self._scale), dones, infos


def make_model(config: RlConfig, envs: VecEnv) -> Model:
    """A learner with random weights from the seed, or with those of `config.init`.

    Raises:
        InputError: `config.init` cannot be read, or is a policy of another kind.
    """
    arguments: dict[str, Any] = {
        "n_steps": config.episode_steps,
        "batch_size": config.batch_decisions,
        "n_epochs": config.epochs,
        "gamma": config.discount,
        "gae_lambda": config.trace_decay,
        "clip_range": config.clip_range,
        "ent_coef": config.entropy_weight,
        "max_grad_norm": config.max_gradient_norm,
        "learning_rate": config.learning_rate,
        "seed": config.seed,
        "device": "cpu",
    }
    policy: dict[str, Any] = {
        "activation_fn": torch.nn.Tanh,
        "log_std_init": float(np.log(config.initial_spread)),
    }
    model: Model
    if isinstance(config.hidden, int):
        policy |= {"lstm_hidden_size": config.hidden, "net_arch": {"pi": [], "vf": config.value_hidden}}
        model = RecurrentPPO("MlpLstmPolicy", envs, policy_kwargs=policy, **arguments)
    else:
        policy |= {"net_arch": {"pi": config.hidden, "vf": config.value_hidden}}
        model = PPO("MlpPolicy", envs, policy_kwargs=policy, **arguments)
    model.set_logger(Logger(None, []))
    if config.init:
        _acting_part(model).load_state_dict(_initial_policy(config).state_dict())
    return model


def _initial_policy(config: RlConfig) -> PolicyModule:
    try:
        module, spec = load_policy(policy_path(config.init))
    except PolicyFileError as error:
        raise InputError(f"init: {error}") from None
    hidden = module.lstm.hidden_size if isinstance(module, LstmPolicy) else module.hidden
    theirs = (spec.feature_set, spec.actions, hidden)
    if theirs != (config.features, config.actions, config.hidden):
        raise InputError(
            f"init: {config.init} has features {theirs[0]}, actions {theirs[1]} and hidden {theirs[2]}; "
            f"the configuration {config.features}, {config.actions} and {config.hidden}"
        )
    return module


class _ActingPart(torch.nn.Module):
    """The parameters of a learner that choose actions, under the names of a policy file."""

    def __init__(self, **parts: torch.nn.Module) -> None:
        super().__init__()
        for name, part in parts.items():
            self.add_module(name, part)


def _acting_part(model: Model) -> _ActingPart:
    network: Any = model.policy
    if isinstance(model, RecurrentPPO):
        return _ActingPart(lstm=network.lstm_actor, linear=network.action_net)
    inner = [layer for layer in network.mlp_extractor.policy_net if isinstance(layer, torch.nn.Linear)]
    return _ActingPart(layers=torch.nn.ModuleList([*inner, network.action_net]))


def to_policy(model: Model, config: RlConfig) -> tuple[PolicyModule, PolicySpec]:
    """What the learner has become: its most likely action, without the chance of exploration."""
    part = _acting_part(model)
    inputs = int(np.prod(model.observation_space.shape or ()))
    outputs = int(model.policy.action_net.out_features)  # type: ignore[arg-type]
    module: PolicyModule = (
        LstmPolicy(inputs, config.hidden, outputs)
        if isinstance(config.hidden, int)
        else MlpPolicy(inputs, config.hidden, outputs)
    )
    module.load_state_dict(part.state_dict())
    return module, PolicySpec(feature_set=config.features, actions=config.actions)


def let_learn(model: Model, *, acting: bool) -> None:
    """Whether the part that chooses actions learns; the one that judges them always does."""
    parameters = list(_acting_part(model).parameters())
    spread = getattr(model.policy, "log_std", None)
    for parameter in [*parameters, *([spread] if spread is not None else [])]:
        parameter.requires_grad_(acting)


def as_actor(module: PolicyModule, actions: str) -> Callable[[NDArray[np.float32]], NDArray[Any]]:
    """A policy as a function of the observations (N, I) of N flows, asked step by step from their start."""
    state: LstmState | None = None

    def act(observations: NDArray[np.float32]) -> NDArray[Any]:
        nonlocal state
        with torch.inference_mode():
            if isinstance(module, LstmPolicy):
                outputs, state = module(torch.from_numpy(observations)[:, None], state)
                outputs = outputs[:, 0]
            else:
                outputs = module(torch.from_numpy(observations))
        chosen = outputs.argmax(dim=1) if actions == "indigo" else outputs.clamp(-1, 1)
        answer: NDArray[Any] = chosen.numpy()
        return answer

    return act
