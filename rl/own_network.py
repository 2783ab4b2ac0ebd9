"""PPO on the user's own network, which acts; a second network beside it values the states."""

import copy
from collections.abc import Callable
from typing import Any

import torch
from ccgym.envs.errors import InputError
from ccgym.training.own_network import load_network, state_size
from stable_baselines3.common.policies import ActorCriticPolicy


def load_acting(name: str, inputs: int, outputs: int, seed: int) -> torch.nn.Module:
    """The network that `name` names, with weights from the seed.

    Raises:
        InputError: there is no such network, its shape is wrong, or it has a memory.
    """
    network = load_network(name, inputs, outputs, seed)
    if remembered := state_size(network):
        raise InputError(
            f"network: {name} remembers {remembered} numbers of a flow: ppo trains what has no memory; "
            "recurrent-ppo has an LSTM of its own, and dagger trains any network"
        )
    return network


class OwnNetworkPolicy(ActorCriticPolicy):
    """stable-baselines3's policy, whose actions' means are the outputs of a given network."""

    def __init__(self, *args: Any, acting: Callable[[], torch.nn.Module], **kwargs: Any) -> None:
        """`acting`: makes the network."""
        self._make_acting = acting
        super().__init__(*args, **{**kwargs, "ortho_init": False})  # keeps the network's own weights

    @property
    def acting(self) -> torch.nn.Module:
        """The user's network, which chooses actions."""
        network: torch.nn.Module = self.mlp_extractor.acting  # type: ignore[assignment]
        return network

    def _build_mlp_extractor(self) -> None:
        super()._build_mlp_extractor()
        values = copy.deepcopy(self.mlp_extractor.value_net)
        size = self.mlp_extractor.latent_dim_vf
        acting = self._make_acting()
        parameters = acting.named_parameters()
        self.frozen = {name for name, parameter in parameters if not parameter.requires_grad}
        """Names of the network's parameters that are never trained."""
        self.mlp_extractor = _Outputs(acting, values, size)  # type: ignore[assignment]

    def _build(self, lr_schedule: Any) -> None:
        super()._build(lr_schedule)
        self.action_net = torch.nn.Identity()
        optimiser: Any = self.optimizer_class
        self.optimizer = optimiser(self.parameters(), lr=lr_schedule(1), **self.optimizer_kwargs)


class _Outputs(torch.nn.Module):
    """Outputs of the user's network for the actions, and features of another network for the value."""

    def __init__(self, acting: torch.nn.Module, values: torch.nn.Module, value_features: int) -> None:
        super().__init__()
        self.acting = acting
        self.values = values
        with torch.no_grad():
            self.latent_dim_pi = int(self.forward_actor(torch.zeros(1, _inputs(values))).shape[1])
        self.latent_dim_vf = value_features

    def forward(self, observations: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Outputs for the actions and features for the value."""
        return self.forward_actor(observations), self.forward_critic(observations)

    def forward_actor(self, observations: torch.Tensor) -> torch.Tensor:
        """Outputs for the actions, one decision of each flow."""
        network: Any = self.acting
        outputs: torch.Tensor = network.step(observations, network.initial_state(len(observations)))[0]
        return outputs

    def forward_critic(self, observations: torch.Tensor) -> torch.Tensor:
        """Features from which the value is computed."""
        features: torch.Tensor = self.values(observations)
        return features


def _inputs(network: torch.nn.Module) -> int:
    first = next(layer for layer in network.modules() if isinstance(layer, torch.nn.Linear))
    return first.in_features
