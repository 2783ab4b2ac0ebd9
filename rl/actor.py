"""Runs policies in the gym and measures their rewards."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from ccgym.agents.lstm import LstmPolicy, LstmState
from ccgym.agents.mlp import MlpPolicy
from ccgym.envs.errors import InputError
from ccgym.envs.gym.rewards import Reward
from ccgym.envs.gym.vector_env import PathVectorEnv
from ccgym.envs.import_strings import telling
from ccgym.envs.specs.emulator_spec import EmulatorSpec
from numpy.typing import NDArray

from .shape import Shape

Actor = Callable[[NDArray[np.float32]], NDArray[Any]]
"""Maps the observations of N flows, shape (N, inputs), to their actions; called each step from the start."""


def as_actor(module: torch.nn.Module, actions: str) -> Actor:
    """A policy as an actor for one episode, with this action set; the user's own networks have no memory.

    The actor raises InputError if the user's network raises an exception or gives NaN or infinity.
    """
    state: LstmState | None = None

    def act(observations: NDArray[np.float32]) -> NDArray[Any]:
        nonlocal state
        with torch.inference_mode():
            if isinstance(module, LstmPolicy):
                outputs, state = module(torch.from_numpy(observations)[:, None], state)
                outputs = outputs[:, 0]
            elif isinstance(module, MlpPolicy):
                outputs = module(torch.from_numpy(observations))
            else:
                own: Any = module
                with telling(f"network: {type(own).__name__}.step"):
                    seen = torch.from_numpy(observations)
                    outputs, _ = own.step(seen, own.initial_state(len(observations)))
        if not outputs.isfinite().all():
            raise InputError(
                "network: step gave NaN or infinity, should give finite numbers; did it diverge?"
            )
        chosen = outputs.argmax(dim=1) if actions == "indigo" else outputs.clamp(-1, 1)
        answer: NDArray[Any] = chosen.numpy()
        return answer

    return act


def make_batch(
    shape: Shape,
    reward: str | Reward,
    specs: Sequence[EmulatorSpec],
    *,
    flows: int,
    steps: int,
    threads: int = 1,
) -> PathVectorEnv:
    """Environments of flows over these emulators, with episodes of `steps` steps."""
    return PathVectorEnv(
        flows,
        steps,
        emulator=specs,
        features=shape.features,
        actions=shape.actions,
        companion=shape.companion,
        reward=reward,
        threads=threads,
    )


def mean_reward(envs: PathVectorEnv, actor: Actor, steps: int, seed: int) -> float:
    """Mean reward per step and flow over the first `steps` steps of an episode."""
    observations, _ = envs.reset(seed=seed)
    total = 0.0
    for _ in range(steps):
        observations, rewards, *_ = envs.step(actor(observations))
        total += float(rewards.mean())
    return total / steps
