"""A batch of learning flows in the twin: the one engine under the single and the vector environment."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from ccgym.envs import _core
from ccgym.envs.errors import InputError, excerpt
from ccgym.envs.gym.own_features import Observer
from ccgym.envs.gym.rewards import Floats, Info, Reward
from ccgym.envs.mahimahi.live_batch import LiveBatch
from ccgym.envs.specs.distributions import Source, draw
from ccgym.envs.specs.emulators import EmulatorSpec
from numpy.typing import NDArray

from .arguments import known, oracle_windows, whole_seed
from .checked_reward import CheckedReward, read_only
from .env_spaces import (
    LEAST_WINDOW_PACKETS,
    WINDOW_ACTIONS,
    Features,
    action_space,
    label_space,
    observation_space,
    own_or_native,
)
from .episode_paths import EpisodePaths
from .given_actions import GivenActions
from .window_growth import WindowGrowth

DEFAULT_EMULATOR = "calibrated/india"

BACKENDS = {"twin": False, "mahimahi": True}
"""Where flows run, and whether that is in real time."""

LEAST_CHANGED_PACKETS = 2.0
"""What the window stays above under actions that change it."""
MOST_THREADS = 1024
_DRAW = 1
"""What a random stream is for, after the seed of the episode."""
_INFO_COLUMNS = {
    name: _core.TELEMETRY.index({"delay_ms": "mean_rtt_ms"}.get(name, name))
    for name in ("time_ms", "throughput_mbps", "delay_ms", "loss", "queue_packets", "cwnd_packets")
}
_DECIDING = _core.FLOW_STATES.index("deciding")


@dataclass(frozen=True, eq=False)
class EpisodeState:
    """A place in the episodes of an environment: its seed and the actions so far decide everything."""

    arguments: tuple[Any, ...]
    """Of the environment it belongs to."""
    seeds: NDArray[np.uint64]
    """Of each path."""
    episodes: NDArray[np.uint64]
    """Of each path: episodes since that seed was given."""
    actions: tuple[NDArray[Any], ...]
    """Of all rows, for each step since the episodes began."""
    observations: NDArray[np.float32]
    """Of all rows, there."""
    agents: tuple[str, ...] = ()
    """Who was taking part, where agents have names."""
    specs: tuple[EmulatorSpec, ...] = ()
    """Of each path, as these episodes drew it."""
    observer: Observer | None = None
    """What features of one's own remember."""
    saved: _core.BatchState | None = None
    """A copy of the flows there; a state that was pickled has none: its actions are run again."""

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "saved": None, "observer": None}


class PathEngine:
    """Paths with flows that learn, all stepped by one C++ call; a row is a learner, by default one per path.

    The seed of a path's k-th episode is a function of the path's own seed and k alone, and it draws all that
    chance decides there: arrivals, the place in a schedule at which the flow begins, loss. Neither the batch
    around it, nor the number of threads, nor when its neighbours are reset changes a bit of it.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        *,
        features: Features,
        actions: str,
        reward: str | Reward,
        threads: int,
        companion: bool = False,
        oracle_cwnd_packets: Sequence[float] | None = None,
        flows: Sequence[_core.Flow] = (),
        backend: str = "twin",
    ) -> None:
        """Builds the flows; they run from the first `reset` on.

        Args:
            sources: the emulator of each path, or the distribution that each of its episodes is drawn from.
            features: feature set of the observations, or features of one's own.
            actions: action set.
            reward: name in `REWARDS`, `vector`, a function of that shape, or the name of one.
            threads: that share the paths.
            companion: changes what `log_window` asks for where other flows are detected on the bottleneck.
            oracle_cwnd_packets: the ideal window of each row, where known; goes into info.
            flows: that share each path; those without a scheme learn.
            backend: `twin`, or `mahimahi` for real shells in real time.

        Raises:
            InputError: an argument is unknown, or the twin cannot emulate a spec.
        """
        kind = own_or_native(features)
        self._own_features = None if isinstance(kind, str) else kind
        self.observation_space = observation_space(kind)
        self.action_space = action_space(actions)
        label_space(self.observation_space, ccgym=features if isinstance(features, str) else str(features))
        label_space(self.action_space, ccgym=actions, ccgym_companion=companion)
        _check_together(features, actions, companion)
        _check_threads(threads)
        self._reward = CheckedReward(reward)
        self.reward_space = self._reward.space
        self._flows = flows
        self._decided_by = (kind, actions, companion)
        self._in_real_time = known("backend", backend, BACKENDS)
        self._sources = tuple(sources)
        self._set_paths([draw(source, np.random.default_rng(0)) for source in sources])
        paths = [self._path(spec) for spec in self._specs]
        self._batch = self._make_batch(paths, threads)
        size = len(self._batch)
        self._given_actions = GivenActions(self.action_space, size)
        self._actions = np.zeros(self._given_actions.shape, np.float32)
        self._observations = np.zeros((size, self._batch.observation_size), dtype=np.float32)
        self._growth = WindowGrowth(size, sets_window=actions in WINDOW_ACTIONS)
        self._paths_of_batch: list[_core.Path | None] = [None] * len(paths)
        """Those that the batch has copied: the same one is not given to it again."""
        self._observer = None if self._own_features is None else Observer(self._own_features, size)
        self._oracle = None if oracle_cwnd_packets is None else oracle_windows(oracle_cwnd_packets)
        self._seeds = np.zeros(len(paths), dtype=np.uint64)
        self._episodes = np.zeros(len(paths), dtype=np.uint64)
        self._actions_so_far: list[NDArray[Any]] = []

    def _make_batch(self, paths: Sequence[Any], threads: int) -> _core.PathBatch | LiveBatch:
        features, actions, companion = self._decided_by
        decisions: dict[str, Any] = {
            "features": "raw" if self._own_features else features,  # from which one's own are computed
            "actions": actions,
            "companion": companion,
            "min_cwnd_packets": LEAST_WINDOW_PACKETS if actions in WINDOW_ACTIONS else LEAST_CHANGED_PACKETS,
        }
        if self._in_real_time:
            return LiveBatch(paths, **decisions)
        return _core.PathBatch(paths, threads=threads, **decisions)

    def _path(self, spec: EmulatorSpec) -> Any:
        self._check_learners(spec)
        return spec if self._in_real_time else spec.to_path(flows=self._flows)

    def _check_learners(self, spec: EmulatorSpec) -> None:
        if not self._flows and spec.learners != 1:
            raise InputError(
                f"emulator: {spec.name} has {spec.learners} flows that learn, this environment has one: "
                "take another emulator, or PathParallelEnv"
            )

    def close(self) -> None:
        """Takes down what runs outside this process."""
        if isinstance(self._batch, LiveBatch):
            self._batch.close()

    @property
    def specs(self) -> tuple[EmulatorSpec, ...]:
        """The emulator of each path in the present episode."""
        return self._specs

    def set_emulators(self, sources: Sequence[Source]) -> None:
        """Other emulators, one per path, from each path's next reset on; their ideal windows are unknown."""
        for source in sources:
            self._path(draw(source, np.random.default_rng(0)))  # complains now, not in the next episode
        self._sources = tuple(sources)
        self._oracle = None

    def set_emulator(self, path: int, source: Source) -> None:
        """Another emulator of one path from its next reset on; the ideal windows are unknown then."""
        self._path(draw(source, np.random.default_rng(0)))
        self._sources = (*self._sources[:path], source, *self._sources[path + 1 :])
        self._oracle = None

    def _set_paths(self, specs: Sequence[EmulatorSpec]) -> None:
        self._specs = tuple(specs)
        self._episode_paths: dict[int, EpisodePaths] = {}  # by the identity of the emulator
        extra_ms = [self._extra_delays_ms(spec) for spec in specs]
        capacities = [spec.uplink.schedule().mean_rate_mbps for spec in specs]
        self.capacity_mbps = read_only(np.repeat(capacities, [len(extras) for extras in extra_ms]))
        self.propagation_rtt_ms = read_only(
            np.array(
                [
                    max(2.0 * (spec.delay_ms + extra), 1.0)
                    for spec, extras in zip(specs, extra_ms, strict=True)
                    for extra in extras
                ]
            )
        )

    def _extra_delays_ms(self, spec: EmulatorSpec) -> list[float]:
        """One way, of each learner on a path of this emulator."""
        flows = self._flows or spec.flows
        return [flow.extra_delay_ms for flow in flows if not flow.scheme] or [0.0]

    @property
    def cwnd_packets(self) -> Floats:
        """The window of each row now."""
        if isinstance(self._batch, LiveBatch):
            raise InputError("cwnd_packets: not known of a flow in real shells; see info")
        return self._batch.cwnd_packets

    @property
    def states(self) -> list[str]:
        """Of each row, a name of `_core.FLOW_STATES`."""
        return [_core.FLOW_STATES[state] for state in self._batch.states]

    def seed(self, paths: NDArray[np.int32], seeds: Sequence[int]) -> None:
        """Sets the seeds of some paths; the next episode of each is its first.

        Raises:
            InputError: one is no whole number from 0.
        """
        self._seeds[paths] = [whole_seed(seed) % 2**64 for seed in seeds]
        self._episodes[paths] = 0

    def save(self) -> EpisodeState:
        """Where the episodes stand.

        Raises:
            InputError: the flows are in real shells, whose time does not come back.
        """
        if self._in_real_time:
            raise InputError("save_state: real time does not come back; it is the twin's alone")
        assert isinstance(self._batch, _core.PathBatch)
        return EpisodeState(
            self._arguments(),
            self._seeds.copy(),
            self._episodes - np.uint64(1),
            tuple(self._actions_so_far),
            self._current_observations().copy(),
            specs=self._specs,
            observer=copy.deepcopy(self._observer),
            saved=self._batch.save(),
        )

    def restore(self, state: EpisodeState) -> NDArray[np.float32]:
        """Goes back to a saved place, or runs there again where the state was pickled.

        Returns:
            The observations of all rows, shape (rows, entries).

        Raises:
            InputError: it was saved by an environment of other emulators, flows, features or actions.
        """
        if not isinstance(state, EpisodeState) or state.arguments != self._arguments():
            raise InputError(
                "restore_state: the state is of an environment of another emulator, features or actions"
            )
        self._seeds[:], self._episodes[:] = state.seeds, state.episodes
        if state.saved is None:
            if state.specs != self._specs:
                self._set_paths(state.specs)  # not a draw of the sources: another may have been set since
            self._begin(self._next_seeds())
            for actions in state.actions:
                self.step(actions)
            return self._current_observations().copy()
        assert isinstance(self._batch, _core.PathBatch)
        self._episodes += np.uint64(1)
        self._actions_so_far = list(state.actions)
        self._growth.forget()
        self._batch.restore(state.saved)
        if state.specs != self._specs:
            self._set_paths(state.specs)
        self._observer = copy.deepcopy(state.observer)
        if self._observer is None:
            self._observations[:] = state.observations
        return self._current_observations().copy()

    def _arguments(self) -> tuple[Any, ...]:
        flows = tuple((flow.scheme, flow.start_s, flow.stop_s, flow.extra_delay_ms) for flow in self._flows)
        return self._sources, flows, *self._decided_by

    def reset(self) -> NDArray[np.float32]:
        """Begins the next episode of every path and runs it to its first decisions.

        Returns:
            The observations of all rows, shape (rows, entries).
        """
        seeds = self._next_seeds()
        self._draw_emulators(seeds.tolist())
        return self._begin(seeds)

    def _next_seeds(self) -> NDArray[np.uint64]:
        """Of the next episode of every path."""
        seeds = _episode_seeds(self._seeds, self._episodes)
        self._episodes += np.uint64(1)
        return seeds

    def _begin(self, seeds: NDArray[np.uint64]) -> NDArray[np.float32]:
        """Begins episodes of these seeds over the present emulators."""
        self._actions_so_far.clear()
        self._growth.forget()
        for index, (spec, seed) in enumerate(zip(self._specs, seeds.tolist(), strict=True)):
            path = self._episode_path(spec, seed)
            if path is not self._paths_of_batch[index]:
                self._batch.set_path(index, path)
                self._paths_of_batch[index] = path
        self._batch.reset(np.arange(len(seeds), dtype=np.int32), seeds, self._observations)
        if self._own_features is not None:
            self._observer = Observer(self._own_features, len(self._observations), apart=bool(self._flows))
            self._observe(np.zeros_like(self._actions))
        return self._current_observations().copy()

    def _episode_path(self, spec: EmulatorSpec, seed: int) -> Any:
        if self._in_real_time:
            return spec.drawn(seed, begins=False)
        if id(spec) not in self._episode_paths:
            self._check_learners(spec)
            self._episode_paths[id(spec)] = EpisodePaths(spec, self._flows)
        return self._episode_paths[id(spec)].path(seed)

    def _draw_emulators(self, seeds: Sequence[int]) -> None:
        specs = tuple(
            source if isinstance(source, EmulatorSpec) else draw(source, np.random.default_rng([seed, _DRAW]))
            for source, seed in zip(self._sources, seeds, strict=True)
        )
        if specs != self._specs:
            self._set_paths(specs)

    def _observe(self, actions: NDArray[Any]) -> None:
        if self._observer is not None:
            self._observer.observe(self._observations, actions, self._batch.states == _DECIDING)

    def _current_observations(self) -> NDArray[np.float32]:
        return self._observations if self._observer is None else self._observer.observations

    def reset_info(self) -> Info:
        """What is known before the first step, each entry of shape (rows,)."""
        return {} if self._oracle is None else {"oracle_cwnd_packets": self._oracle.copy()}

    def step(self, actions: Any) -> tuple[NDArray[np.float32], Floats, Info]:
        """Lets every learner act and runs it to its next decision.

        Args:
            actions: one per row, shape (rows,) or (rows, numbers); that of a row which does not decide is
                ignored.

        Returns:
            The observations, shape (rows, entries); the rewards, shape (rows,); and what `PathEnv` calls
            info, each entry of shape (rows,). A row that lets this instant pass keeps its observation; its
            reward and its info are 0.

        Raises:
            ValueError: an action lies outside the action space.
            InputError: a reward or features of one's own raise, or give something else than numbers; or the
                windows of many flows have filled the memory.
        """
        given = self._given_actions.checked(actions)
        if not self._in_real_time:
            self._growth.check(given, lambda: self.cwnd_packets)
        self._actions_so_far.append(given)
        self._actions[:] = given
        telemetry = np.zeros((len(given), len(_core.TELEMETRY)))
        self._batch.step(self._actions, self._observations, telemetry)
        self._observe(given)
        info = self._step_info(telemetry)
        rewards = self._reward(info, self.capacity_mbps, self.propagation_rtt_ms)
        return self._current_observations().copy(), rewards, info

    def _step_info(self, telemetry: Floats) -> Info:
        info = {name: telemetry[:, index] for name, index in _INFO_COLUMNS.items()}
        return info if self._oracle is None else info | self.reset_info()


def _check_threads(threads: int) -> None:
    """Raises InputError: no machine has so many."""
    if not 1 <= threads <= MOST_THREADS:
        raise InputError(f"threads: {threads} is not within 1 and {MOST_THREADS}")


def _check_together(features: Features, actions: str, companion: bool) -> None:
    """Raises InputError: one of them does not go with another one."""
    if features == "indigo" and actions != "indigo":
        raise InputError(f"actions: features indigo hold the last of indigo's actions, not of {actions!r}")
    if not isinstance(companion, bool):
        raise InputError(f"companion: {excerpt(companion)!r} is neither True nor False")
    if companion and actions != "log_window":
        raise InputError(f"companion: goes with actions log_window, not with {actions}; leave it out")


def _episode_seeds(seeds: NDArray[np.uint64], episodes: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Output k + 1 of SplitMix64 for each seed and episode k (Steele, Lea, Flood, OOPSLA 2014)."""
    mixed: NDArray[np.uint64] = seeds + (episodes + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return mixed
