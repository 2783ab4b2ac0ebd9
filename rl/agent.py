"""The learner: PPO of stable-baselines3 around a network that is exported as a policy file.

Schulman et al., "Proximal Policy Optimization Algorithms", 2017. The networks are exactly those of
`ccgym.agents`: a trained network runs in the C++ controller, and a policy from there can be trained further.
"""

import copy
import math
from functools import partial
from typing import Any

import numpy as np
import torch
from ccgym.agents.lstm import LstmPolicy
from ccgym.agents.mlp import MlpPolicy
from ccgym.agents.policy_file import PolicyModule, load_policy
from ccgym.agents.policy_header import PolicyFileError, PolicySpec
from ccgym.agents.shipped import policy_path
from ccgym.envs.errors import InputError
from ccgym.training.device import CPU
from gymnasium import spaces
from numpy.typing import NDArray
from sb3_contrib import RecurrentPPO
from stable_baselines3 import PPO
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.vec_env import VecEnv, VecEnvWrapper

from .config import RlConfig
from .own_network import OwnNetworkPolicy, load_acting
from .shape import Shape

Model = PPO | RecurrentPPO

LEAST_DIFFERENCE = 0.01
"""Least scale of the differences in a group: flows whose rewards differ by less have acted nearly alike."""


def initial_policy(config: RlConfig) -> tuple[PolicyModule, PolicySpec]:
    """The policy to start from. Raises InputError if it cannot be read."""
    try:
        return load_policy(policy_path(config.init))
    except PolicyFileError as error:
        raise InputError(f"init: {error}") from None


class GroupRelative(VecEnvWrapper):
    """Environments whose rewards are relative to the mean of their group, and scaled.

    The flows of a group run over the same path with the same random numbers. The mean reward of a group
    depends on the path only, so it is subtracted. The differences are then divided by their scale so far:
    otherwise the links on which a window changes the reward most would dominate the training.
    """

    def __init__(self, envs: VecEnv, group_size: int, scale: float) -> None:
        super().__init__(envs)
        self._group_size = group_size
        self._scale = scale
        self._squares = np.zeros(envs.num_envs // group_size)
        self._steps = 0

    def reset(self) -> Any:
        """Resets the environments; returns their observations."""
        self._squares[:], self._steps = 0, 0
        return self.venv.reset()

    def step_wait(self) -> Any:
        """Returns observations, relative rewards, dones and infos."""
        observations, rewards, dones, infos = self.venv.step_wait()
        if self._group_size > 1:
            rewards = self._differences(rewards)
        return observations, (self._scale * rewards).astype(np.float32), dones, infos

    def _differences(self, rewards: NDArray[np.float32]) -> NDArray[np.float64]:
        groups = rewards.reshape(-1, self._group_size).astype(np.float64)
        groups -= groups.mean(axis=1, keepdims=True)
        self._squares += (groups**2).mean(axis=1)
        self._steps += 1
        spread = np.sqrt(self._squares / self._steps + LEAST_DIFFERENCE**2)
        differences: NDArray[np.float64] = (groups / spread[:, None]).ravel()
        return differences


def _arguments(config: RlConfig) -> dict[str, Any]:
    """The configuration in the words of stable-baselines3."""
    return {
        "n_steps": config.episode_steps,
        "batch_size": config.batch_decisions,
        "n_epochs": config.epochs,
        "gamma": config.discount,
        "gae_lambda": config.trace_decay,
        "clip_range": config.clip_range,
        "target_kl": config.max_divergence,
        "ent_coef": config.entropy_weight,
        "max_grad_norm": config.max_gradient_norm,
        "learning_rate": config.learning_rate,
        "seed": config.seed,
        "stats_window_size": config.environments,
    }


def make_model(config: RlConfig, shape: Shape, envs: VecEnv, device: torch.device = CPU) -> Model:
    """A learner with random weights from the seed, or with those of `config.init`.

    Raises:
        InputError: `held_steps` is set, but the actions are classes.
    """
    arguments = _arguments(config) | {"device": device}
    policy: dict[str, Any] = {
        "activation_fn": torch.nn.Tanh,
        "log_std_init": math.log(_spread(config, shape)),
    }
    if config.held_steps:
        if shape.actions == "indigo":
            raise InputError(f"held_steps ({config.held_steps}): actions indigo are classes; leave it out")
        arguments |= {"use_sde": True, "sde_sample_freq": config.held_steps}
    model: Model
    if shape.network:
        inputs, outputs = int(np.prod(envs.observation_space.shape or ())), _outputs(envs.action_space)
        make = partial(load_acting, shape.network, inputs, outputs, config.seed)
        policy = {"acting": make, "net_arch": {"pi": [], "vf": config.value_hidden}, **policy}
        model = PPO(OwnNetworkPolicy, envs, policy_kwargs=policy, **arguments)
    elif isinstance(shape.hidden, int):
        policy |= {"lstm_hidden_size": shape.hidden, "net_arch": {"pi": [], "vf": config.value_hidden}}
        model = RecurrentPPO("MlpLstmPolicy", envs, policy_kwargs=policy, **arguments)
    else:
        policy |= {"net_arch": {"pi": shape.hidden, "vf": config.value_hidden}}
        model = PPO("MlpPolicy", envs, policy_kwargs=policy, **arguments)
    model.set_logger(Logger(None, []))
    if config.init:
        _acting_part(model).load_state_dict(initial_policy(config)[0].state_dict())
    return model


def _outputs(actions: spaces.Space[Any]) -> int:
    """Number of outputs of a network with these actions: one for each class, or for each component."""
    return int(actions.n) if isinstance(actions, spaces.Discrete) else int(np.prod(actions.shape or ()))


def _spread(config: RlConfig, shape: Shape) -> float:
    """Standard deviation of an action; with held deviations, of the weights of the last layer's activations.

    Held deviations are generalised state-dependent exploration (Raffin et al., CoRL 2021): the activations,
    none of which is above 1, times random weights.
    """
    if not config.held_steps:
        return config.initial_spread
    last_units = shape.hidden if isinstance(shape.hidden, int) else shape.hidden[-1]
    return config.initial_spread / math.sqrt(last_units)


class _ActingPart(torch.nn.Module):
    """The parameters of a learner that choose actions, under the names of a policy file."""

    def __init__(self, **parts: torch.nn.Module) -> None:
        super().__init__()
        for name, part in parts.items():
            self.add_module(name, part)


def _acting_part(model: Model) -> torch.nn.Module:
    network: Any = model.policy
    if isinstance(network, OwnNetworkPolicy):
        return network.acting
    if isinstance(model, RecurrentPPO):
        return _ActingPart(lstm=network.lstm_actor, linear=network.action_net)
    inner = [layer for layer in network.mlp_extractor.policy_net if isinstance(layer, torch.nn.Linear)]
    return _ActingPart(layers=torch.nn.ModuleList([*inner, network.action_net]))


def to_policy(model: Model, shape: Shape) -> tuple[torch.nn.Module, PolicySpec]:
    """The policy of the learner: its most likely action, without exploration.

    The module is a `PolicyModule`, or the user's own network if it is no stack of known layers.
    """
    part = _acting_part(model)
    spec = PolicySpec(shape.features, shape.actions, companion=shape.companion)
    if shape.network:
        return copy.deepcopy(part).to(CPU), spec
    inputs = int(np.prod(model.observation_space.shape or ()))
    outputs = int(model.policy.action_net.out_features)  # type: ignore[arg-type]
    module: PolicyModule = (
        LstmPolicy(inputs, shape.hidden, outputs)
        if isinstance(shape.hidden, int)
        else MlpPolicy(inputs, shape.hidden, outputs)
    )
    module.load_state_dict(part.state_dict())
    return module, spec


def let_learn(model: Model, *, acting: bool) -> None:
    """Sets whether the part that chooses actions learns; the part that values states always does."""
    frozen = model.policy.frozen if isinstance(model.policy, OwnNetworkPolicy) else set()
    named = _acting_part(model).named_parameters()
    parameters = [parameter for name, parameter in named if name not in frozen]
    spread = getattr(model.policy, "log_std", None)
    for parameter in [*parameters, *([spread] if spread is not None else [])]:
        parameter.requires_grad_(acting)
