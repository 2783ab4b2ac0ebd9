"""`PathParallelEnv`: several learning flows on one network path, for PettingZoo."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from ccgym.envs._core import Flow
from ccgym.envs.errors import InputError, excerpt
from ccgym.envs.specs.distributions import Emulators, Source, emulator_of, sources_of
from gymnasium import spaces
from gymnasium.utils import EzPickle
from numpy.typing import NDArray
from pettingzoo import ParallelEnv

from .engine.env_spaces import Features
from .engine.path_engine import DEFAULT_EMULATOR, EpisodeState, PathEngine
from .registration import EPISODE_STEPS
from .rewards import VECTOR, Info, Reward

Observations = dict[str, NDArray[np.float32]]
Infos = dict[str, dict[str, Any]]

MOST_FLOWS = 10_000
"""As many as the twin takes on a path."""
_OF_PETTINGZOOS_TEST = {"options": 1}
"""Which every environment has to take."""


class PathParallelEnv(ParallelEnv, EzPickle):  # type: ignore[misc]  # PettingZoo has no types
    """Several flows on one network path, each an agent that sets its own congestion window or rate.

    What an agent sees, does and earns is that of `PathEnv`; with one flow this is `PathEnv`, bit for bit. All
    agents decide in the same instants, every 10 ms; one that hears nothing lets instants pass: it keeps its
    observation, its action is ignored, its reward and its info are 0. `queue_packets` counts the packets of
    all flows.

    An agent joins `agents` when its flow has come to its first decision. It is terminated when its flow has
    stopped, and truncated with all others after `max_steps`. After that a step gives five empty dictionaries.

    ```python
    >>> from ccgym.envs._core import Flow
    >>> flows = [Flow(), Flow(start_s=1, stop_s=5), Flow("cubic", extra_delay_ms=20)]
    >>> env = PathParallelEnv(emulator="synthetic/20mbps-40ms", flows=flows)
    >>> observations, infos = env.reset(seed=1)
    >>> env.possible_agents
    ['flow_0', 'flow_1']

    ```

    | Parameter   | Type                   | Default              | Description                             |
    |-------------|------------------------|----------------------|-----------------------------------------|
    | `emulator`  | **str** or spec        | `"calibrated/india"` | a name, or `EmulatorSpec`               |
    | `flows`     | **int** or list        | `2`                  | that learn; or `Flow` objects, of which |
    |             |                        |                      | those that name no scheme learn         |
    | `max_steps` | **int**                | `1000`               | instants, then truncation               |

    `features`, `actions`, `companion` and `reward` are those of `PathEnv`, and so are `save_state` and
    `restore_state`.
    """

    metadata = {"name": "ccgym/Path-v0", "render_modes": []}  # noqa: RUF012  as PettingZoo declares it

    def __init__(
        self,
        *,
        emulator: Emulators = DEFAULT_EMULATOR,
        flows: int | Sequence[Flow] = 2,
        features: Features = "indigo",
        actions: str = "indigo",
        companion: bool = False,
        reward: str | Reward = "power",
        max_steps: int = EPISODE_STEPS,
    ) -> None:
        """Builds the path; see the class for the arguments.

        Raises:
            InputError: an argument is unknown or out of range, none of the flows learns, or the emulator or
                its trace is broken.
        """
        EzPickle.__init__(
            self,
            emulator=emulator,
            flows=flows,
            features=features,
            actions=actions,
            companion=companion,
            reward=reward,
            max_steps=max_steps,
        )
        shared = _shared(flows)
        if not _is_count(max_steps):
            raise InputError(f"max_steps: {excerpt(max_steps)} is not a whole number of at least 1")
        if reward == VECTOR:
            raise InputError("reward: vector is for one flow; agents have one number each")
        self._engine = PathEngine(
            _one_path(emulator),
            features=features,
            actions=actions,
            companion=companion,
            reward=reward,
            threads=1,
            flows=shared,
        )
        self.possible_agents = [f"flow_{i}" for i, flow in enumerate(shared) if not flow.scheme]
        self.agents: list[str] = []
        self._max_steps = max_steps
        self._elapsed_steps = 0
        self._seeded = False
        self.render_mode = None

    def observation_space(self, agent: str) -> spaces.Space[NDArray[np.float32]]:  # noqa: ARG002
        """The same for every agent, see `PathEnv`."""
        return self._engine.observation_space

    def action_space(self, agent: str) -> spaces.Space[Any]:  # noqa: ARG002
        """The same for every agent, see `PathEnv`."""
        return self._engine.action_space

    def reset(
        self,
        seed: int | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Observations, Infos]:
        """Begins a new episode and runs it to the first decision of whoever decides first.

        Args:
            seed: of this episode and those that follow; None: go on with the last seed, at first with any.
            options: `{"emulator": ...}`, another one from now on, as the constructor takes it.

        Raises:
            InputError: the emulator is unknown or broken.
        """
        emulator = None if options == _OF_PETTINGZOOS_TEST else emulator_of(options)
        if emulator is not None:
            self._engine.set_emulators(_one_path(emulator))
        if seed is None and not self._seeded:
            seed = int(np.random.default_rng().integers(2**63))
        path = np.zeros(1, dtype=np.int32)
        if seed is not None:
            self._engine.seed(path, [seed])
            self._seeded = True
        observations = self._begin(self._engine.reset())
        return observations, {agent: {} for agent in self.agents}

    def _begin(self, observations: NDArray[np.float32]) -> Observations:
        self._elapsed_steps = 0
        self.agents = []
        self._note_who_joins()
        return self._given(observations)

    def step(
        self, actions: dict[str, Any]
    ) -> tuple[Observations, dict[str, float], dict[str, bool], dict[str, bool], Infos]:
        """Lets every agent act and runs on to the next instant at which one decides.

        Args:
            actions: one for each of `agents`; one that hears nothing may be left out.

        Returns:
            For each agent observation, reward, terminated, truncated and info.

        Raises:
            InputError: an agent that decides has no action, or an agent is unknown.
            ValueError: an action lies outside the action space.
        """
        if self._is_over():
            return {}, {}, {}, {}, {}
        self._check_agents(actions)
        observations, rewards, info = self._engine.step(self._flat(actions))
        self._elapsed_steps += 1
        self._note_who_joins()
        over = self._elapsed_steps >= self._max_steps
        states = self._engine.states
        gone = {agent: states[self._row(agent)] == "gone" for agent in self.agents}
        result = (
            self._given(observations),
            {agent: float(rewards[self._row(agent)]) for agent in self.agents},
            gone,
            dict.fromkeys(self.agents, over),
            {agent: self._info_of(agent, info) for agent in self.agents},
        )
        self.agents = [] if over else [agent for agent in self.agents if not gone[agent]]
        return result

    def _is_over(self) -> bool:
        """Nobody will decide any more; `agents` may be empty before that, where a flow has yet to start."""
        if self.agents:
            return False  # nor where a restored state is beyond the end: its next step is the last
        return self._elapsed_steps >= self._max_steps or set(self._engine.states) == {"gone"}

    def _check_agents(self, actions: Any) -> None:
        if not isinstance(actions, Mapping):
            raise InputError(f"actions: {excerpt(actions)!r} is no dictionary of agents and their actions")
        unknown = [agent for agent in actions if agent not in self.possible_agents]
        if unknown:
            known = excerpt(", ".join(self.possible_agents))
            raise InputError(f"actions: {excerpt(unknown[0])!r} is no agent; agents are {known}")
        missing = [agent for agent in self.possible_agents if self._decides(agent) and agent not in actions]
        if missing:
            raise InputError(
                f"actions: none of {excerpt(', '.join(missing))}; give one for each of env.agents"
            )

    def _decides(self, agent: str) -> bool:
        return self._engine.states[self._row(agent)] == "deciding"

    def _flat(self, actions: Mapping[str, Any]) -> NDArray[Any]:
        """The actions of all rows."""
        given = {agent: np.asarray(action) for agent, action in actions.items()}
        flat = self._idle_actions(np.result_type(*given.values()) if given else np.dtype(np.int64))
        for agent, action in given.items():
            if action.size != flat.shape[1]:
                raise InputError(
                    f"actions: of {agent} it has shape {action.shape}, should have "
                    f"{self._engine.action_space.shape}"
                )
            flat[self._row(agent)] = action.reshape(flat.shape[1])
        return flat

    def _idle_actions(self, kind: np.dtype[Any]) -> NDArray[Any]:
        """One for each row, within the space: of those that do not decide it is ignored."""
        space = self._engine.action_space
        rows = len(self.possible_agents)
        if isinstance(space, spaces.Discrete):
            return np.zeros((rows, 1), kind)
        return np.tile(np.maximum(space.low, 0).astype(np.result_type(kind, np.float32)), (rows, 1))

    def save_state(self) -> EpisodeState:
        """Where the episode stands, for `restore_state`."""
        return replace(self._engine.save(), agents=tuple(self.agents))

    def restore_state(self, state: EpisodeState) -> Observations:
        """Goes back to a saved place; returns the observations there.

        Raises:
            InputError: it was saved by an environment of another emulator, flows, features or actions.
        """
        observations = self._engine.restore(state)
        self._seeded = True
        self._elapsed_steps = len(state.actions)
        self.agents = list(state.agents)
        return self._given(observations)

    def _row(self, agent: str) -> int:
        return self.possible_agents.index(agent)

    def _note_who_joins(self) -> None:
        states = zip(self.possible_agents, self._engine.states, strict=True)
        deciding = {agent for agent, state in states if state == "deciding"}
        self.agents = [agent for agent in self.possible_agents if agent in deciding or agent in self.agents]

    def _given(self, observations: NDArray[np.float32]) -> Observations:
        return {agent: observations[self._row(agent)] for agent in self.agents}

    def _info_of(self, agent: str, info: Info) -> dict[str, Any]:
        return {name: float(values[self._row(agent)]) for name, values in info.items()}


def _shared(flows: Any) -> list[Flow]:
    """Those that share the path, of which one or more learn."""
    if _is_count(flows):
        if flows > MOST_FLOWS:
            raise InputError(f"flows: {flows}: a path has at most {MOST_FLOWS}")
        return [Flow() for _ in range(flows)]
    if not isinstance(flows, Sequence) or not all(isinstance(flow, Flow) for flow in flows):
        raise InputError(
            f"flows: {excerpt(flows)!r} is neither a whole number of at least 1 nor a list of Flow, as in "
            '[Flow(), Flow("cubic")]'
        )
    if all(flow.scheme for flow in flows):
        raise InputError("flows: none learns; give one Flow() or more without a scheme")
    return list(flows)


def _is_count(number: Any) -> bool:
    return isinstance(number, int | np.integer) and not isinstance(number, bool) and int(number) >= 1


def _one_path(emulator: Emulators) -> list[Source]:
    """The only emulator, or distribution of emulators, of one path.

    Raises:
        InputError: there are several, or it is unknown.
    """
    sources = sources_of(emulator)
    if len(sources) != 1:
        raise InputError(f"emulator: {len(sources)} emulators for one path; give one")
    return sources
