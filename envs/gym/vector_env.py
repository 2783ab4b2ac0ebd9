"""`PathVectorEnv`: a batch of network paths as one native Gymnasium vector environment."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from ccgym.envs.errors import InputError, excerpt
from ccgym.envs.host.memory import check_memory
from ccgym.envs.specs.distributions import Emulators, emulator_of, sources_of
from gymnasium.utils import EzPickle
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from .engine.env_spaces import Features
from .engine.path_engine import DEFAULT_EMULATOR, EpisodeState, PathEngine
from .flow_of_batch import FlowOfBatch
from .registration import EPISODE_STEPS
from .rewards import Reward

if TYPE_CHECKING:
    from .rendering import EpisodePlot

T = TypeVar("T")

FLOW_BYTES = 30_000
"""Of memory for each flow, with a small window."""


class _NamesItsWrappers(type):
    """What stable-baselines3 prints of an environment that it does not take."""

    def __repr__(cls) -> str:
        return f"<class {cls.__module__}.{cls.__name__}: for stable-baselines3 write PathSb3VecEnv(envs)>"


class PathVectorEnv(
    VectorEnv[NDArray[np.float32], NDArray[Any], NDArray[Any]], EzPickle, metaclass=_NamesItsWrappers
):
    """A batch of flows, each what `PathEnv` is alone, advanced by one C++ call per step, the GIL released.

    Observations, actions, rewards and `info` are those of `PathEnv`, one row per flow; flow i runs over the
    i-th emulator, modulo their number. `reset(seed=s)` gives flow i the seed s + i, and flow i then goes
    through exactly what `PathEnv` goes through after `reset(seed=s + i)`, whatever the size of the batch and
    the number of threads.

    All episodes begin together, and so they end together. After their end, as Gymnasium has it, the next step
    ignores its actions and resets all flows; its rewards are 0. With `autoreset_mode="SameStep"` they are
    reset in the same step: its observations are the first of the next episode; the last of the old one stand
    in `info["final_obs"]`, their `info` in `info["final_info"]`. stable-baselines3 takes a
    `PathSb3VecEnv(envs)`.

    ```python
    >>> import gymnasium as gym
    >>> envs = gym.make_vec("ccgym/Path-v0", num_envs=256, emulator="synthetic,calibrated", threads=2)
    >>> observations, info = envs.reset(seed=1)
    >>> observations.shape
    (256, 9)

    ```

    | Parameter             | Type                 | Default              | Description                  |
    |-----------------------|----------------------|----------------------|------------------------------|
    | `num_envs`            | **int**              | `1`                  | flows in the batch           |
    | `max_episode_steps`   | **int**              | `1000`               | steps, then truncation       |
    | `emulator`            | **str**, spec, list  | `"calibrated/india"` | groups and lists as well     |
    | `oracle_cwnd_packets` | **float** or list    | `None`               | one for all, or per emulator |
    | `threads`             | **int**              | `1`                  | that share the batch         |
    | `autoreset_mode`      | **str** or mode      | `"NextStep"`         | as above                     |

    A distribution is one entry of such a list; every flow draws from it for itself. `features`, `actions`,
    `companion`, `reward`, `backend` and `render_mode` are those of `PathEnv`, and so are
    `save_state` and `restore_state`. Each flow has its own real shells; `render()` draws each flow.
    """

    metadata = {  # noqa: RUF012  as Gymnasium declares it
        "render_modes": ["rgb_array"],
        "render_fps": 100,
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        num_envs: int = 1,
        max_episode_steps: int = EPISODE_STEPS,
        *,
        emulator: Emulators = DEFAULT_EMULATOR,
        features: Features = "indigo",
        actions: str = "indigo",
        companion: bool = False,
        reward: str | Reward = "power",
        oracle_cwnd_packets: float | Sequence[float] | None = None,
        threads: int = 1,
        backend: str = "twin",
        render_mode: str | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
    ) -> None:
        """Builds the batch; see the class for the arguments.

        Raises:
            InputError: an argument is unknown or out of range, or an emulator or its trace is broken.
        """
        EzPickle.__init__(
            self,
            num_envs,
            max_episode_steps,
            emulator=emulator,
            features=features,
            actions=actions,
            companion=companion,
            reward=reward,
            oracle_cwnd_packets=oracle_cwnd_packets,
            threads=threads,
            backend=backend,
            render_mode=render_mode,
        )
        _check_counts(num_envs=num_envs, max_episode_steps=max_episode_steps, threads=threads)
        check_memory(FLOW_BYTES * num_envs, f"num_envs: {num_envs} flows")
        self.num_envs = num_envs
        self._engine = PathEngine(
            self._one_per_flow("emulator", sources_of(emulator)),
            features=features,
            actions=actions,
            companion=companion,
            reward=reward,
            threads=threads,
            oracle_cwnd_packets=self._oracle_windows(oracle_cwnd_packets),
            backend=backend,
        )
        self._declare_spaces()
        self.set_autoreset_mode(autoreset_mode)
        self._max_episode_steps = max_episode_steps
        self._elapsed_steps = 0
        self._rows = np.arange(num_envs, dtype=np.int32)
        self._all_rows = np.ones(num_envs, dtype=np.bool_)
        self._all_rows.flags.writeable = False  # handed out with every step
        self._flows: list[FlowOfBatch] = []
        self._seeded = False
        self.render_mode = render_mode
        self._plots = [] if render_mode is None else self._make_plots()

    def _declare_spaces(self) -> None:
        self.single_observation_space = self._engine.observation_space
        self.single_action_space = self._engine.action_space
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        space = self._engine.reward_space
        if space is not None:
            self.reward_space = space
            self.reward_dim = space.shape[0]
        self._reward_type: np.dtype[Any] = np.dtype(np.float64 if space is None else space.dtype)

    def set_autoreset_mode(self, mode: AutoresetMode | str) -> None:
        """When flows are reset whose episode has ended: `NextStep` or `SameStep`.

        Raises:
            InputError: it is neither.
        """
        known = {each.value: each for each in (AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP)}
        name = mode.value if isinstance(mode, AutoresetMode) else mode
        if name not in known:
            raise InputError(f"autoreset_mode: {excerpt(name)!r} is unknown; known are {', '.join(known)}")
        self.metadata = {**self.metadata, "autoreset_mode": known[name]}
        self._ezpickle_kwargs["autoreset_mode"] = known[name]

    @property
    def autoreset_mode(self) -> AutoresetMode:
        """As Gymnasium's own vector environments say it."""
        mode: AutoresetMode = self.metadata["autoreset_mode"]
        return mode

    @property
    def engine(self) -> PathEngine:
        """The flows underneath."""
        return self._engine

    @property
    def flows(self) -> list[FlowOfBatch]:
        """Each by itself."""
        if not self._flows:
            self._flows = [FlowOfBatch(self, flow) for flow in range(self.num_envs)]
        return self._flows

    def get_attr(self, name: str) -> tuple[Any, ...]:
        """The attribute of each flow, see `FlowOfBatch`; as Gymnasium's own vector environments have it."""
        return tuple(getattr(flow, name) for flow in self.flows)

    def set_attr(self, name: str, values: Any) -> None:
        """Sets the attribute of each flow: one value for all, or a list or tuple with one for each.

        Raises:
            InputError: so many values as flows are missing.
        """
        of_flows = list(values) if isinstance(values, (list, tuple)) else [values] * self.num_envs
        if len(of_flows) != self.num_envs:
            raise InputError(
                f"set_attr: {len(of_flows)} values for {self.num_envs} flows; give one, or one for each"
            )
        for flow, value in zip(self.flows, of_flows, strict=True):
            setattr(flow, name, value)

    def call(self, name: str, *args: Any, **kwargs: Any) -> tuple[Any, ...]:
        """What the method, or the attribute, of each flow gives, see `FlowOfBatch`."""
        found = self.get_attr(name)
        return tuple(each(*args, **kwargs) if callable(each) else each for each in found)

    def _make_plots(self) -> list["EpisodePlot"]:
        if self.render_mode not in self.metadata["render_modes"]:
            raise InputError(f"render_mode: {excerpt(self.render_mode)!r} is unknown; known is rgb_array")
        from .rendering import EpisodePlot  # matplotlib takes a while to load

        capacities, round_trips = self._engine.capacity_mbps, self._engine.propagation_rtt_ms
        return [
            EpisodePlot(spec.name, float(capacity), float(rtt))
            for spec, capacity, rtt in zip(self._engine.specs, capacities, round_trips, strict=True)
        ]

    def _one_per_flow(self, argument: str, values: Sequence[T]) -> list[T]:
        if not 0 < len(values) <= self.num_envs:
            raise InputError(
                f"{argument}: {len(values)} for {self.num_envs} flows; give 1 or more, at most one per flow"
            )
        return [values[flow % len(values)] for flow in range(self.num_envs)]

    def _oracle_windows(self, windows: float | Sequence[float] | None) -> list[float] | None:
        if windows is None:
            return None
        return self._one_per_flow(
            "oracle_cwnd_packets", windows if isinstance(windows, Sequence) else [windows]
        )

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begins a new episode of every flow.

        Args:
            seed: of flow 0, its successors for the others; or one per flow, None to keep the flow's own.
            options: `{"emulator": ...}`, other emulators from now on, as the constructor takes them.

        Returns:
            Observations of shape (num_envs, entries), and info.
        """
        if isinstance(seed, np.integer):
            seed = int(seed)
        super().reset(seed=seed if isinstance(seed, int) else None, options=options)
        emulator = emulator_of(options)
        if emulator is not None:
            self._engine.set_emulators(self._one_per_flow("emulator", sources_of(emulator)))
        if not self._seeded:
            self._engine.seed(self._rows, self.np_random.integers(2**63, size=self.num_envs).tolist())
            self._seeded = True
        self._seed_flows(range(seed, seed + self.num_envs) if isinstance(seed, int) else seed)
        observations = self._begin(self._engine.reset())
        return observations, _masked(self._engine.reset_info(), self._all_rows)

    def _begin(self, observations: NDArray[np.float32]) -> NDArray[np.float32]:
        self._elapsed_steps = 0
        if self._plots:
            self._plots = self._make_plots()
        return observations

    def _seed_flows(self, seeds: Any) -> None:
        if seeds is None:
            return
        if not isinstance(seeds, Sequence | np.ndarray) or isinstance(seeds, str) or np.ndim(seeds) == 0:
            raise InputError(f"seed: {excerpt(seeds)!r} is neither a whole number nor one for each flow")
        if len(seeds) != self.num_envs:
            raise InputError(
                f"seed: {len(seeds)} seeds for {self.num_envs} flows; give one seed, or one per flow"
            )
        given = {flow: seed for flow, seed in enumerate(seeds) if seed is not None}
        self._engine.seed(np.fromiter(given, dtype=np.int32), list(given.values()))

    def step(
        self, actions: NDArray[Any]
    ) -> tuple[NDArray[np.float32], NDArray[Any], NDArray[Any], NDArray[Any], dict[str, Any]]:
        """Advances every flow by one step, or resets all when their episodes have ended.

        Args:
            actions: one per flow, shape of `action_space`.

        Returns:
            Observations (num_envs, entries), rewards, terminations (never), truncations (num_envs,), info.

        Raises:
            ValueError: an action lies outside the action space.
        """
        terminations = np.zeros(self.num_envs, dtype=np.bool_)
        same_step = self.autoreset_mode is AutoresetMode.SAME_STEP
        # A restored state may be of an environment with longer episodes, and beyond the end of these.
        if not same_step and self._elapsed_steps >= self._max_episode_steps:
            observations = self._begin(self._engine.reset())
            infos = _masked(self._engine.reset_info(), self._all_rows)
            return observations, self._no_rewards(), terminations, terminations.copy(), infos
        observations, rewards, info = self._engine.step(actions)
        self._reward_type = rewards.dtype
        infos = _masked(info, self._all_rows)
        for row, plot in enumerate(self._plots):
            plot.add(info, row)
        self._elapsed_steps += 1
        over = self._elapsed_steps >= self._max_episode_steps
        if over and same_step:
            infos = self._final_infos(observations, infos)
            observations = self._begin(self._engine.reset())
        truncations = np.ones(self.num_envs, dtype=np.bool_) if over else terminations.copy()
        return observations, rewards, terminations, truncations, infos

    def _no_rewards(self) -> NDArray[Any]:
        """Of a step that resets, of the kind that other steps have."""
        space = self._engine.reward_space
        return np.zeros((self.num_envs, *(() if space is None else space.shape)), dtype=self._reward_type)

    def save_state(self) -> EpisodeState:
        """Where the episodes stand, for `restore_state`.

        Raises:
            InputError: the flows are in real shells, whose time does not come back.
        """
        return self._engine.save()

    def restore_state(self, state: EpisodeState) -> NDArray[np.float32]:
        """Goes back to a saved place; returns the observations there. Pictures begin there, too.

        Raises:
            InputError: it was saved by an environment of other emulators, features or actions.
        """
        observations = self._begin(self._engine.restore(state))
        self._seeded = True
        self._elapsed_steps = len(state.actions)
        return observations

    def render(self) -> tuple[NDArray[np.uint8], ...] | None:
        """The episode of each flow so far, a picture (480, 640, 3) each; None without a `render_mode`."""
        return None if self.render_mode is None else tuple(plot.draw() for plot in self._plots)

    def render_flow(self, flow: int) -> NDArray[np.uint8] | None:
        """The picture of one flow alone; None without a `render_mode`."""
        return None if self.render_mode is None else self._plots[flow].draw()

    def close_extras(self, **_: Any) -> None:
        """Takes down the shells of `backend="mahimahi"`."""
        self._engine.close()

    def _final_infos(self, observations: NDArray[np.float32], infos: dict[str, Any]) -> dict[str, Any]:
        final_obs = np.empty(self.num_envs, dtype=object)  # as gymnasium's own: an array of arrays
        for flow, observation in enumerate(observations):
            final_obs[flow] = observation
        final = {"final_info": infos, "final_obs": final_obs}
        return {
            **_masked(self._engine.reset_info(), self._all_rows),
            **_masked(final, self._all_rows),
        }


def _masked(info: Mapping[str, Any], present: NDArray[np.bool_]) -> dict[str, Any]:
    """Adds to each entry the mask that tells, under `_name`, which flows have it."""
    return {**info, **{f"_{name}": present for name in info}}


def _check_counts(**counts: object) -> None:
    """Raises InputError, which names the argument: one is no number of things."""
    for name, count in counts.items():
        if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
            raise InputError(f"{name}: {excerpt(count)} is not a whole number of at least 1")
