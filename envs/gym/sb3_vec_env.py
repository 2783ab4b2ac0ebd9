"""`PathSb3VecEnv`: the native batch as a vector environment of stable-baselines3."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from ccgym.envs.errors import InputError, excerpt
from ccgym.envs.specs.distributions import Emulators, emulator_of
from gymnasium.vector import AutoresetMode, VectorEnv
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv

from .flow_of_batch import FlowOfBatch
from .vector_env import PathVectorEnv


class PathSb3VecEnv(VecEnv):
    """A `PathVectorEnv` for stable-baselines3: a step is one C++ call for all, without a loop over flows.

    ```python
    >>> import gymnasium as gym
    >>> from stable_baselines3 import PPO
    >>> links = "random:train"
    >>> envs = gym.make_vec("ccgym/Path-v0", num_envs=64, emulator=links, features="aurora", actions="rate")
    >>> model = PPO("MlpPolicy", PathSb3VecEnv(envs), n_steps=100)

    ```

    Flows whose episode ends are reset in the same step. An `info` holds what `PathEnv` calls info; that of a
    flow whose episode has ended also `terminal_observation`, `TimeLimit.truncated` and `episode` (`r`: sum of
    rewards, `l`: steps). `get_attr`, `set_attr` and `env_method` reach each flow as a `FlowOfBatch`:
    `set_attr("emulator", "calibrated/nepal", indices=[0])` gives flow 0 another emulator.
    """

    def __init__(self, envs: VectorEnv[Any, Any, Any]) -> None:
        """Takes over `envs`, a `PathVectorEnv` as `gymnasium.make_vec` makes it.

        Raises:
            InputError: `envs` is something else, or has vector rewards.
        """
        native = envs.unwrapped
        if not isinstance(native, PathVectorEnv):
            raise InputError(
                f"PathSb3VecEnv: takes a PathVectorEnv, as make_vec makes it, not a {type(envs).__name__}"
            )
        if native.engine.reward_space is not None:
            raise InputError("PathSb3VecEnv: reward: stable-baselines3 wants one number, not vector")
        native.set_autoreset_mode(AutoresetMode.SAME_STEP)
        self._envs = native  # the base class reads it at once
        super().__init__(native.num_envs, native.single_observation_space, native.single_action_space)
        self._actions: NDArray[Any] = np.zeros(0)
        self._returns = np.zeros(native.num_envs)
        self._lengths = np.zeros(native.num_envs, dtype=np.int64)

    def set_emulators(self, emulator: Emulators) -> None:
        """Sets other emulators from the next reset on, as `PathVectorEnv` takes them."""
        self._options = [{"emulator": emulator}]  # one for all: `set_options` would copy it for every flow

    def seed_each(self, seeds: Sequence[int]) -> None:
        """Sets the flows' seeds for the next reset; flows of one emulator and seed have the same path."""
        self._seeds = list(seeds)

    def reset(self) -> NDArray[np.float32]:
        """Begins a new episode of every flow, with the seeds that `seed` or `seed_each` set.

        Returns:
            Observations of shape (num_envs, entries).
        """
        observations, _ = self._envs.reset(seed=self._seeds, options=self._options_of_all())
        self._reset_seeds()
        self._reset_options()
        self._returns[:] = 0
        self._lengths[:] = 0
        return observations

    def _options_of_all(self) -> dict[str, Any]:
        """The options of all flows; if they differ, each flow takes its own, and none is left for all."""
        first = self._options[0]
        if len(self._options) != self.num_envs and len(self._options) != 1:
            raise InputError(
                f"set_options: {len(self._options)} options for {self.num_envs} flows; give one for all, or "
                "one for each"
            )
        if all(options == first for options in self._options):
            return first
        for flow, options in zip(self._envs.flows, self._options, strict=True):
            emulator = emulator_of(options)
            if emulator is not None:
                flow.set_emulator(emulator)
        return {}

    def get_images(self) -> Sequence[NDArray[np.uint8] | None]:
        """The episode of each flow so far; None without a `render_mode`."""
        pictures = self._envs.render()
        return [None] * self.num_envs if pictures is None else list(pictures)

    def step_async(self, actions: NDArray[Any]) -> None:
        """Keeps the actions; `step_wait` makes the step."""
        self._actions = actions

    def step_wait(
        self,
    ) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Observations (num_envs, entries), rewards, dones and infos of the step."""
        observations, rewards, _, truncations, infos = self._envs.step(self._actions)
        self._returns += rewards
        self._lengths += 1
        return observations, rewards.astype(np.float32), truncations, self._infos_of_flows(truncations, infos)

    def _infos_of_flows(self, ended: NDArray[np.bool_], infos: dict[str, Any]) -> list[dict[str, Any]]:
        info = infos.get("final_info", infos)
        columns = {name: values.tolist() for name, values in info.items() if not name.startswith("_")}
        of_flows: list[dict[str, Any]] = [
            dict(zip(columns, figures, strict=True)) for figures in zip(*columns.values(), strict=True)
        ]
        for flow in np.flatnonzero(ended):
            of_flows[flow] |= {
                "terminal_observation": infos["final_obs"][flow],
                "TimeLimit.truncated": True,
                "episode": {"r": float(self._returns[flow]), "l": int(self._lengths[flow])},
            }
        self._returns[ended] = 0
        self._lengths[ended] = 0
        return of_flows

    def close(self) -> None:
        """Ends the flows."""
        self._envs.close()

    def get_attr(self, attr_name: str, indices: int | Iterable[int] | None = None) -> list[Any]:
        """The attribute of each flow, see `FlowOfBatch`."""
        return [getattr(flow, attr_name) for flow in self._chosen(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: int | Iterable[int] | None = None) -> None:
        """Sets the attribute of each flow, see `FlowOfBatch`."""
        for flow in self._chosen(indices):
            setattr(flow, attr_name, value)

    def env_method(
        self,
        method_name: str,
        *method_args: Any,
        indices: int | Iterable[int] | None = None,
        **method_kwargs: Any,
    ) -> list[Any]:
        """Calls the method of each flow, see `FlowOfBatch`."""
        return [getattr(flow, method_name)(*method_args, **method_kwargs) for flow in self._chosen(indices)]

    def _chosen(self, indices: int | Iterable[int] | None) -> list[FlowOfBatch]:
        chosen = list(self._get_indices(indices))
        if not all(-self.num_envs <= index < self.num_envs for index in chosen):
            raise InputError(f"indices: {excerpt(chosen)}: there are {self.num_envs} flows, from 0 on")
        return [self._envs.flows[index] for index in chosen]

    def env_is_wrapped(
        self,
        wrapper_class: type[Any],  # noqa: ARG002
        indices: int | Iterable[int] | None = None,
    ) -> list[bool]:
        """False for every flow."""
        return [False] * len(list(self._get_indices(indices)))
