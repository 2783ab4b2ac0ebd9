"""A batch of learning flows in the twin: the one engine under the single and the vector environment."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from ccgym.envs import _core
from ccgym.envs.errors import InputError
from ccgym.envs.mahimahi.live_batch import LiveBatch
from ccgym.envs.specs.emulators import EmulatorSpec, select_emulators
from gymnasium import spaces
from numpy.typing import NDArray

from .rewards import REWARDS, Floats, Info, Reward

Emulators = str | EmulatorSpec | Sequence[str | EmulatorSpec]  # a selection, a spec, or several of either

DEFAULT_EMULATOR = "calibrated/india"

BACKENDS = {"twin": False, "mahimahi": True}
"""Where flows fly, and whether that is in real time."""

_KNOWN = TypeVar("_KNOWN")


def emulator_specs(emulators: Emulators) -> list[EmulatorSpec]:
    """Returns the specs of a selection as the command line takes it, of specs, or of a sequence of either.

    Raises:
        InputError: a name is unknown, or a file or a trace is broken.
    """
    if isinstance(emulators, EmulatorSpec):
        return [emulators]
    if isinstance(emulators, str):
        return [emulator.spec for emulator in select_emulators(emulators)]
    return [spec for one in emulators for spec in emulator_specs(one)]


def observation_space(features: str) -> spaces.Space[NDArray[np.float32]]:
    """Returns the space of one observation, float32; its entries are described in `PathEnv`.

    Raises:
        InputError: there is no such feature set.
    """
    size = len(_known("features", features, _core.POLICY_FEATURES))
    if features != "indigo":
        return spaces.Box(-4, 4, (size,), dtype=np.float32)
    high = np.full(size, np.inf, dtype=np.float32)
    high[-_core.POLICY_ACTIONS["indigo"] :] = 1  # the previous action, one-hot
    return spaces.Box(np.zeros(size, dtype=np.float32), high, dtype=np.float32)


def action_space(actions: str) -> spaces.Discrete | spaces.Box:
    """Returns the space of one action; its values are described in `PathEnv`.

    Raises:
        InputError: there is no such action set.
    """
    count = _known("actions", actions, _core.POLICY_ACTIONS)
    return spaces.Discrete(count) if actions == "indigo" else spaces.Box(-1, 1, (count,), dtype=np.float32)


def _known(argument: str, name: str, table: Mapping[str, _KNOWN]) -> _KNOWN:
    if name not in table:
        raise InputError(f"{argument}: {name!r} is unknown; known are {', '.join(table)}")
    return table[name]


MOST_THREADS = 1024


@dataclass(frozen=True, eq=False)
class EpisodeState:
    """A place in the episodes of an environment: its seed and the actions so far decide everything."""

    arguments: tuple[Any, ...]
    """Of the environment it belongs to."""
    seeds: NDArray[np.uint64]
    """Of each path."""
    episodes: NDArray[np.uint64]
    """The how manieth since that seed was given, of each path."""
    actions: tuple[NDArray[Any], ...]
    """Of all rows, for each step since the episodes began."""
    observations: NDArray[np.float32]
    """Of all rows, there."""
    agents: tuple[str, ...] = ()
    """Who was taking part, where agents have names."""
    flights: _core.BatchState | None = None
    """Copied in mid-air; a state that was pickled has none, and its actions lead back there."""

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "flights": None}


class PathEngine:
    """Paths with flows that learn, all stepped by one C++ call; a row is a learner, by default one per path.

    The seed of a path's k-th episode is a function of the path's own seed and k alone, and it draws all that
    chance decides there: arrivals, the place in a schedule at which the flow begins, loss. Neither the batch
    around it, nor the number of threads, nor when its neighbours are reset changes a bit of it.
    """

    def __init__(
        self,
        specs: Sequence[EmulatorSpec],
        *,
        features: str,
        actions: str,
        reward: str | Reward,
        threads: int,
        oracle_cwnd_packets: Sequence[float] | None = None,
        flows: Sequence[_core.Flow] = (),
        backend: str = "twin",
    ) -> None:
        """Builds the flows; they fly from the first `reset` on.

        Args:
            specs: the emulator of each path.
            features: feature set of the observations.
            actions: action set.
            reward: name in `REWARDS`, or a function as they are.
            threads: that share the paths.
            oracle_cwnd_packets: the ideal window of each row, where known; goes into info.
            flows: that share each path; those without a scheme learn.
            backend: `twin`, or `mahimahi` for real shells in real time.

        Raises:
            InputError: an argument is unknown, or the twin cannot emulate a spec.
        """
        self.observation_space = observation_space(features)
        self.action_space = action_space(actions)
        if features == "indigo" and actions != "indigo":
            raise InputError(
                f"actions: features indigo hold the last of indigo's actions, not of {actions!r}"
            )
        if not 1 <= threads <= MOST_THREADS:
            raise InputError(f"threads: {threads} is not within 1 and {MOST_THREADS}")
        self._reward = _known("reward", reward, REWARDS) if isinstance(reward, str) else reward
        self._flows = flows
        self._decided_by = (features, actions)
        self._live = _known("backend", backend, BACKENDS)
        paths = [self._path(spec) for spec in specs]
        self._specs = tuple(specs)
        self._batch: _core.PathBatch | LiveBatch
        if self._live:
            self._batch = LiveBatch(paths, features=features, actions=actions)
        else:
            self._batch = _core.PathBatch(paths, features=features, actions=actions, threads=threads)
        size = len(self._batch)
        self._actions = np.zeros(size, dtype=np.float32)
        self._observations = np.zeros((size, self._batch.observation_size), dtype=np.float32)
        self._telemetry = np.zeros((size, len(_core.TELEMETRY)), dtype=np.float64)
        self._measure(specs)
        self._oracle = (
            None if oracle_cwnd_packets is None else np.array(oracle_cwnd_packets, dtype=np.float64)
        )
        self._seeds = np.zeros(len(specs), dtype=np.uint64)
        self._episodes = np.zeros(len(specs), dtype=np.uint64)
        self._acted: list[NDArray[Any]] = []

    def _path(self, spec: EmulatorSpec) -> Any:
        learners = sum(flow.scheme is None for flow in spec.flows) if spec.flows else 1
        if not self._flows and learners != 1:
            raise InputError(
                f"emulator: {spec.name} has {learners} flows that learn, a row of the environment is one: "
                "take another, or PathParallelEnv"
            )
        return spec if self._live else spec.to_path(flows=self._flows)

    def close(self) -> None:
        """Takes down what runs outside this process."""
        if isinstance(self._batch, LiveBatch):
            self._batch.close()

    def set_emulators(self, specs: Sequence[EmulatorSpec]) -> None:
        """Other emulators, one per path, from each path's next reset on; their ideal windows are unknown."""
        for index, spec in enumerate(specs):
            self._batch.set_path(index, self._path(spec))
        self._specs = tuple(specs)
        self._measure(specs)
        self._oracle = None

    def _measure(self, specs: Sequence[EmulatorSpec]) -> None:
        extra_ms = [flow.extra_delay_ms for flow in self._flows if not flow.scheme] or [0.0]
        capacities = [spec.uplink.schedule().mean_rate_mbps for spec in specs]
        self.capacity_mbps = np.repeat(capacities, len(extra_ms))
        self.propagation_rtt_ms = np.array(
            [max(2.0 * (spec.delay_ms + extra), 1.0) for spec in specs for extra in extra_ms]
        )

    @property
    def states(self) -> list[str]:
        """Of each row, a name of `_core.FLOW_STATES`."""
        return [_core.FLOW_STATES[state] for state in self._batch.states]

    def seed(self, paths: NDArray[np.int32], seeds: Sequence[int]) -> None:
        """Sets the seeds of some paths; the next episode of each is its first."""
        self._seeds[paths] = [seed % 2**64 for seed in seeds]
        self._episodes[paths] = 0

    def save(self) -> EpisodeState:
        """Where the episodes stand.

        Raises:
            InputError: the flows are in real shells, whose time does not come back.
        """
        if self._live:
            raise InputError("save_state: real time does not come back; it is the twin's alone")
        assert isinstance(self._batch, _core.PathBatch)
        return EpisodeState(
            self._arguments(),
            self._seeds.copy(),
            self._episodes - np.uint64(1),
            tuple(self._acted),
            self._observations.copy(),
            flights=self._batch.save(),
        )

    def restore(self, state: EpisodeState) -> NDArray[np.float32]:
        """Goes back to a saved place, or flies there again where the state was pickled.

        Returns:
            The observations of all rows, shape (rows, entries).

        Raises:
            InputError: it was saved by an environment of other emulators, flows, features or actions.
        """
        if state.arguments != self._arguments():
            raise InputError("restore_state: saved with another emulator, features or actions: make the same")
        self._seeds[:], self._episodes[:] = state.seeds, state.episodes
        if state.flights is None:
            self.reset()
            for actions in state.actions:
                self.step(actions)
            return self._observations.copy()
        assert isinstance(self._batch, _core.PathBatch)
        self._episodes += np.uint64(1)
        self._acted = list(state.actions)
        self._batch.restore(state.flights)
        self._observations[:] = state.observations
        return self._observations.copy()

    def _arguments(self) -> tuple[Any, ...]:
        flows = tuple((flow.scheme, flow.start_s, flow.stop_s, flow.extra_delay_ms) for flow in self._flows)
        return self._specs, flows, *self._decided_by

    def reset(self) -> NDArray[np.float32]:
        """Begins the next episode of every path and flies it to its first decisions.

        Returns:
            The observations of all rows, shape (rows, entries).
        """
        seeds = _episode_seeds(self._seeds, self._episodes)
        self._episodes += np.uint64(1)
        self._acted.clear()
        for index, (spec, seed) in enumerate(zip(self._specs, seeds.tolist(), strict=True)):
            self._batch.set_path(index, self._path(spec.drawn(seed, begins=not self._live)))
        self._batch.reset(np.arange(len(seeds), dtype=np.int32), seeds, self._observations)
        return self._observations.copy()

    def reset_info(self) -> Info:
        """What is known before the first step, each entry of shape (rows,)."""
        return {} if self._oracle is None else {"oracle_cwnd_packets": self._oracle.copy()}

    def step(self, actions: Any) -> tuple[NDArray[np.float32], Floats, Info]:
        """Lets every learner act and flies it to its next decision.

        Args:
            actions: one per row, shape (rows,) or (rows, 1); that of a row which does not decide is ignored.

        Returns:
            The observations, shape (rows, entries); the rewards, shape (rows,); and what `PathEnv` calls
            info, each entry of shape (rows,). A row that lets this instant pass keeps its observation; its
            reward and its info are 0.

        Raises:
            ValueError: an action lies outside the action space.
        """
        given = np.array(actions).reshape(self._actions.shape)
        self._check_actions(given)
        self._acted.append(given)
        self._actions[:] = given
        self._batch.step(self._actions, self._observations, self._telemetry)
        info = self._step_info()
        rewards = self._reward(info, self.capacity_mbps, self.propagation_rtt_ms)
        return self._observations.copy(), np.where(info["time_ms"] > 0, rewards, 0.0), info

    def _check_actions(self, actions: NDArray[Any]) -> None:
        space = self.action_space
        low, high = (0, int(space.n) - 1) if isinstance(space, spaces.Discrete) else (-1, 1)
        if isinstance(space, spaces.Discrete) and actions.dtype.kind not in "iu":
            raise ValueError(f"actions must be whole numbers within [{low}, {high}], not {actions.dtype}")
        # So that nan fails too. As ufuncs, without numpy's Python around them: this is in every step.
        if not (np.minimum.reduce(actions) >= low and np.maximum.reduce(actions) <= high):
            flow = int(np.argmin((actions >= low) & (actions <= high)))
            raise ValueError(f"action {actions[flow]} of flow {flow} is not within [{low}, {high}]")

    def _step_info(self) -> Info:
        column = dict(zip(_core.TELEMETRY, self._telemetry.T.copy(), strict=True))
        lost_bytes = np.maximum(column["lost_bytes"], 0)  # below 0 when packets given up came after all
        return {
            "time_ms": column["time_ms"],
            "throughput_mbps": 0.008 * column["delivered_bytes"] / np.maximum(column["step_ms"], 1e-6),
            "delay_ms": column["mean_rtt_ms"],
            "loss": lost_bytes / np.maximum(column["delivered_bytes"] + lost_bytes, 1),
            "queue_packets": column["queue_packets"],
            "cwnd_packets": column["cwnd_packets"],
            **self.reset_info(),
        }


def _episode_seeds(seeds: NDArray[np.uint64], episodes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Output k + 1 of SplitMix64 for each seed and episode k (Steele, Lea, Flood, OOPSLA 2014)."""
    mixed: NDArray[np.uint64] = seeds + (episodes + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return mixed
