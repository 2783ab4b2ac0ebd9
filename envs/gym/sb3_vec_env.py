"""`PathSb3VecEnv`: the native batch as stable-baselines3 takes environments."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv

from .path_engine import Emulators
from .vector_env import PathVectorEnv


class PathSb3VecEnv(VecEnv):
    """A `PathVectorEnv` for stable-baselines3: a step is one C++ call for all, without a loop over flows.

    ```python
    >>> from stable_baselines3 import PPO
    >>> from ccgym.envs.gym.vector_env import PathVectorEnv
    >>> envs = PathVectorEnv(num_envs=64, emulator="synthetic", features="aurora", actions="rate")
    >>> model = PPO("MlpPolicy", PathSb3VecEnv(envs), n_steps=100)

    ```

    Flows whose episode ends are reset in the same step. Only they have entries in their `info`:
    `terminal_observation`, `TimeLimit.truncated`, `episode` (`r`: sum of rewards, `l`: steps), and what
    `PathEnv` calls info.
    """

    def __init__(self, envs: PathVectorEnv) -> None:
        """`envs` is from now on this object's own."""
        self._envs = envs  # read by the base class at once
        super().__init__(envs.num_envs, envs.single_observation_space, envs.single_action_space)
        self._actions: NDArray[Any] = np.zeros(0)
        self._returns = np.zeros(envs.num_envs)
        self._lengths = np.zeros(envs.num_envs, dtype=np.int64)
        self._infos: list[dict[str, Any]] = [{} for _ in range(envs.num_envs)]

    def fly_over(self, emulator: Emulators) -> None:
        """Other emulators from the next reset on, as `PathVectorEnv` takes them."""
        self._options = [{"emulator": emulator}]  # one for all: `set_options` would copy it for every flow

    def seed_each(self, seeds: Sequence[int]) -> None:
        """The seeds of the flows at the next reset; those of one emulator and one seed fly the same path."""
        self._seeds = list(seeds)

    def reset(self) -> NDArray[np.float32]:
        """Begins a new episode of every flow, with the seeds that `seed` or `seed_each` set.

        Returns:
            Observations of shape (num_envs, entries).
        """
        observations, _ = self._envs.reset(seed=self._seeds, options=self._options[0])
        self._reset_seeds()
        self._reset_options()
        self._returns[:] = 0
        self._lengths[:] = 0
        return observations

    def step_async(self, actions: NDArray[Any]) -> None:
        """Keeps the actions; `step_wait` flies."""
        self._actions = actions

    def step_wait(
        self,
    ) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Observations (num_envs, entries), rewards, dones and infos of the step."""
        observations, rewards, _, truncations, infos = self._envs.step(self._actions)
        self._returns += rewards
        self._lengths += 1
        return observations, rewards.astype(np.float32), truncations, self._told(truncations, infos)

    def _told(self, ended: NDArray[np.bool_], infos: dict[str, Any]) -> list[dict[str, Any]]:
        told = self._infos.copy()
        for flow in np.flatnonzero(ended):
            final = infos["final_info"]
            told[flow] = {
                **{name: float(final[name][flow]) for name in final if not name.startswith("_")},
                "terminal_observation": infos["final_obs"][flow],
                "TimeLimit.truncated": True,
                "episode": {"r": float(self._returns[flow]), "l": int(self._lengths[flow])},
            }
        self._returns[ended] = 0
        self._lengths[ended] = 0
        return told

    def close(self) -> None:
        """Ends the flows."""
        self._envs.close()

    def get_attr(self, attr_name: str, indices: int | Iterable[int] | None = None) -> list[Any]:
        """The batch's attribute, the same for every flow."""
        return [getattr(self._envs, attr_name)] * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:  # noqa: ARG002
        """Refused: a flow has nothing of its own that could be set; see `fly_over`."""
        raise AttributeError(f"{attr_name}: the flows of a native batch cannot be changed one by one")

    def env_method(self, method_name: str, *_: Any, indices: Any = None, **__: Any) -> list[Any]:  # noqa: ARG002
        """Refused: there is no Python object per flow."""
        raise AttributeError(f"{method_name}: the flows of a native batch have no methods of their own")

    def env_is_wrapped(
        self,
        wrapper_class: type[Any],  # noqa: ARG002
        indices: int | Iterable[int] | None = None,
    ) -> list[bool]:
        """No flow is."""
        return [False] * len(list(self._get_indices(indices)))
