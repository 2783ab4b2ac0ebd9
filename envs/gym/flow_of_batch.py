"""One flow of a batch, as those see it who know environments that stand side by side."""

from typing import Any, Protocol

import numpy as np
from ccgym.envs.specs.distributions import Emulators
from ccgym.envs.specs.emulator_spec import EmulatorSpec
from numpy.typing import NDArray

from .engine.path_engine import PathEngine
from .path_env import one_source

_OF_THE_BATCH = (
    "actions", "action_space", "backend", "companion", "features", "max_episode_steps", "observation_space",
    "oracle_cwnd_packets", "render_mode", "reward", "threads",
)  # fmt: skip

_FOR_ALL = ("reset", "step", "close", "flows", "get_attr", "set_attr", "call")


class Batch(Protocol):
    """What a flow asks of its batch by name, see `PathVectorEnv`."""

    @property
    def engine(self) -> PathEngine:
        """What runs the flows."""

    def render_flow(self, flow: int) -> NDArray[np.uint8] | None:
        """The episode of one flow so far."""


class FlowOfBatch:
    """One flow of the batch, for `get_attr`, `set_attr` and `env_method`; keeps what else is set on it."""

    def __init__(self, envs: Batch, flow: int) -> None:
        self._envs = envs
        self._flow = flow

    @property
    def emulator(self) -> EmulatorSpec:
        """What it runs over in the present episode; another one, once set, from the next reset on."""
        return self._envs.engine.specs[self._flow]

    @emulator.setter
    def emulator(self, emulator: Emulators) -> None:
        self._envs.engine.set_emulator(self._flow, one_source(emulator)[0])

    @property
    def cwnd_packets(self) -> float:
        """Its window now."""
        return float(self._envs.engine.cwnd_packets[self._flow])

    def __setattr__(self, name: str, value: Any) -> None:
        """Raises AttributeError: it is of the whole batch, from its beginning on."""
        if name in _OF_THE_BATCH:
            raise AttributeError(
                f"{name} is given to make_vec, and the same from then on; emulator can be set"
            )
        super().__setattr__(name, value)

    def set_emulator(self, emulator: Emulators) -> None:
        """Another emulator, or a distribution of emulators, from the next reset on."""
        self.emulator = emulator

    def render(self) -> NDArray[np.uint8] | None:
        """Its episode so far."""
        return self._envs.render_flow(self._flow)

    def __getattr__(self, name: str) -> Any:
        """What one flow has as the batch has it."""
        if name.startswith("_") or name in _FOR_ALL or not hasattr(self._envs, name):
            raise AttributeError(
                f"a flow has no {name!r}; of its own it has emulator, cwnd_packets, set_emulator"
            )
        of_one = {"observation_space": "single_observation_space", "action_space": "single_action_space"}
        return getattr(self._envs, of_one.get(name, name))
