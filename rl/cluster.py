"""The flows of an iteration on a Ray cluster: each machine steps a part of them, the networks act here.

A flow does not depend on the batch it is in, so the figures are those of a single process, to the bit. If the
worker or machine of a part is lost, the part is made again and repeats the episode so far with the same
actions.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from ccgym.envs.errors import InputError
from ccgym.envs.gym.sb3_vec_env import PathSb3VecEnv
from ccgym.envs.specs.emulator_spec import EmulatorSpec
from ccgym.training.executors import Kept, RayExecutor
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv

from .actor import make_batch
from .config import RlConfig
from .log_power import LogPower, Reference
from .shape import Shape

Step = tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]
"""Observations (flows, entries), rewards, dones and infos."""


class EpisodesPart(PathSb3VecEnv):
    """Some flows of an iteration, in one process."""

    def __init__(
        self, config: RlConfig, shape: Shape, spec: EmulatorSpec, flows: int, threads: int = 1
    ) -> None:
        """Makes the flows; they run over `spec` until `prepare` gives them other paths."""
        self._log_power = LogPower(config.delay_weight, [])
        super().__init__(
            make_batch(
                shape,
                self._log_power if config.reward == "log_power" else config.reward,
                [spec],
                flows=flows,
                steps=config.episode_steps,
                threads=threads,
            )
        )

    def prepare(
        self, specs: Sequence[EmulatorSpec], seeds: Sequence[int], references: Sequence[Reference] | None
    ) -> None:
        """Sets the paths and the other flows on them from the next reset on, one of each per flow."""
        self.set_emulators(list(specs))
        self.seed_each(seeds)
        if references is not None:
            self._log_power.compare_with(references)


@dataclass
class _Episode:
    """Everything on which an episode of some flows depends."""

    prepared: tuple[Any, ...]
    """Arguments of `EpisodesPart.prepare`."""
    number: int
    """Number of the episode."""
    actions: list[NDArray[Any]] = field(default_factory=list)
    """The actions of each step so far."""


class _Replayed:
    """A part on a worker; after a loss it may have been made in the middle of an episode."""

    def __init__(self, part: Callable[[int], EpisodesPart], flows: int) -> None:
        self._part = part(flows)
        self._place = (0, 0)
        """Number of the present episode, and of the steps made in it."""

    def begin(self, episode: _Episode) -> NDArray[np.float32]:
        """Begins an episode; returns its first observations."""
        self._part.prepare(*episode.prepared)
        self._place = (episode.number, 0)
        return self._part.reset()

    def step(self, number: int, steps: int, actions: NDArray[Any]) -> Step | None:
        """Makes the step after `steps` steps of episode `number`; None: this part is not at that place."""
        if self._place != (number, steps):
            return None
        self._place = (number, steps + 1)
        return self._run(actions)

    def catch_up(self, episode: _Episode) -> Step:
        """Repeats the episode from its beginning; returns its latest step."""
        self.begin(episode)
        steps = [self._run(actions) for actions in episode.actions]
        self._place = (episode.number, len(steps))
        return steps[-1]

    def _run(self, actions: NDArray[Any]) -> Step:
        self._part.step_async(actions)
        return self._part.step_wait()


class ClusterVecEnv(VecEnv):
    """The flows of an iteration, a part of them on each processor of a cluster."""

    def __init__(self, cluster: RayExecutor, part: Callable[[int], EpisodesPart], flows: int) -> None:
        """`part` makes a number of flows; it is pickled."""
        self._one = part(1)  # for attributes that all flows share; the base class reads it at once
        super().__init__(flows, self._one.observation_space, self._one.action_space)
        self._rows = np.array_split(np.arange(flows), min(cluster.processors, flows))
        self._parts: list[Kept] = [cluster.keep(_Replayed, part, len(rows)) for rows in self._rows]
        self._episodes: list[_Episode] = []
        self._number = 0

    def prepare(
        self, specs: Sequence[EmulatorSpec], seeds: Sequence[int], references: Sequence[Reference] | None
    ) -> None:
        """As `EpisodesPart.prepare`."""
        columns = (specs, seeds, references)
        self._number += 1
        self._episodes = [
            _Episode(tuple(column and [column[row] for row in rows] for column in columns), self._number)
            for rows in self._rows
        ]

    def reset(self) -> NDArray[np.float32]:
        """Begins the episode that was prepared; observations (flows, entries)."""
        begun = [
            part.call("begin", episode) for part, episode in zip(self._parts, self._episodes, strict=True)
        ]
        return np.concatenate([future.result() for future in begun])

    def step_async(self, actions: NDArray[Any]) -> None:
        """Sends the actions to the parts."""
        self._running = []
        for part, episode, rows in zip(self._parts, self._episodes, self._rows, strict=True):
            steps = len(episode.actions)
            episode.actions.append(actions[rows])
            self._running.append(part.call("step", episode.number, steps, actions[rows]))

    def step_wait(self) -> Step:
        """Observations (flows, entries), rewards, dones and infos of the step."""
        steps: list[Step] = []
        for part, episode, future in zip(self._parts, self._episodes, self._running, strict=True):
            steps.append(future.result() or part.call("catch_up", episode).result())
        observations, rewards, dones, infos = zip(*steps, strict=True)
        told = [info for part in infos for info in part]
        return np.concatenate(observations), np.concatenate(rewards), np.concatenate(dones), told

    def close(self) -> None:
        """Does nothing: the cluster ends the parts when it is left."""

    def get_attr(self, attr_name: str, indices: int | Iterable[int] | None = None) -> list[Any]:
        """The attribute, which all flows share."""
        return self._one.get_attr(attr_name) * len(list(self._get_indices(indices)))

    def set_attr(self, attr_name: str, value: Any, indices: int | Iterable[int] | None = None) -> None:  # noqa: ARG002
        """Raises InputError: flows on other machines depend on the configuration alone."""
        raise InputError(f"{attr_name}: cannot be set of flows on a cluster")

    def env_method(
        self,
        method_name: str,
        *method_args: Any,  # noqa: ARG002
        indices: int | Iterable[int] | None = None,  # noqa: ARG002
        **method_kwargs: Any,  # noqa: ARG002
    ) -> list[Any]:
        """Raises InputError, as `set_attr`."""
        raise InputError(f"{method_name}: cannot be called of flows on a cluster")

    def env_is_wrapped(
        self,
        wrapper_class: type[Any],  # noqa: ARG002
        indices: int | Iterable[int] | None = None,
    ) -> list[bool]:
        """False for every flow."""
        return [False] * len(list(self._get_indices(indices)))
