"""`PathEnv`: one network path as a Gymnasium environment."""

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
from ccgym.envs.errors import InputError, excerpt
from ccgym.envs.specs.distributions import Emulators, Source, emulator_of, sources_of
from gymnasium.utils import EzPickle
from gymnasium.wrappers import TimeLimit
from numpy.typing import NDArray

from .engine.env_spaces import Features
from .engine.path_engine import DEFAULT_EMULATOR, EpisodeState, PathEngine
from .rewards import Info, Reward

if TYPE_CHECKING:
    from .rendering import EpisodePlot


class PathEnv(gymnasium.Env[NDArray[np.float32], Any], EzPickle):
    """A sender with endless data on one network path: the agent sets its congestion window.

    ## Description

    A sender with endless data faces a network path: a bottleneck link with a queue, loss, and a propagation
    delay each way, as one of the project's emulators describes it (`ccgym emulators` lists them). Every 10 ms
    the agent sets the congestion window, the number of packets that may be in flight; it sees what the
    acknowledgements of the last step tell, nothing of the path itself. A small window leaves the link idle, a
    large one fills its queue and makes every packet wait. The setting is that of Indigo in "Pantheon: the
    training ground for Internet congestion-control research" (Yan et al., USENIX ATC 2018), section 6.

    The path is mahimahi's in virtual time: packet for packet what the real program would do.

    ## Action Space

    With `actions="indigo"`, a `Discrete(5)`; W is the congestion window in packets:

    | Num | Action           |
    |-----|------------------|
    | 0   | W becomes W / 2  |
    | 1   | W becomes W - 10 |
    | 2   | W stays          |
    | 3   | W becomes W + 10 |
    | 4   | W becomes 2 W    |

    With `actions="log_window"`, a `Box(-1, 1, (1,), float32)`: action y makes the window W exp(y). Packets
    leave no faster than 1.5 windows per least round trip.

    With `companion=True`, which makes flows share a bottleneck fairly, the window may differ from the one
    that the action asks for: see docs/concepts/sharing.md. It grows as in slow start until an action first
    asks for no more, or a packet is lost. For two round trips in every five or more with a standing queue the
    action is ignored, while the flow drains the queue or observes whether others do. Where other flows are
    detected, 1.2 sqrt(r) packets are added to the window, with r the rate in packets per ms, and little more
    may wait in the queue; now and then some packets are held back and then sent at once; beside flows that
    fill every queue the window is that of a Cubic flow. Where a queue of a few packets overflows, packets are
    paced hardly faster than they are delivered.

    With `actions="rate"`, a `Box(-1, 1, (1,), float32)`: packets leave at a pacing rate, and action a makes
    it 1 + 0.025 a times what it was, or 1 / (1 - 0.025 a) times for a < 0. W is then what the rate puts
    in flight over the path without a queue, and the flow stops two round trips after the last
    acknowledgement. It is the action of Aurora in "A Deep Reinforcement Learning Perspective on Internet
    Congestion Control" (Jay et al., ICML 2019), section 3.1.

    With `actions="window"`, a `Box(1, 100000, (1,), float32)`: the window in packets; a fraction of one
    admits a whole one. With `actions="window_and_rate"`, a `Box` of shape `(2,)`: the window in packets, and
    the rate in Mbit/s, 0.001 to 100,000, at which payload leaves, 1436 bytes a packet, one a second at
    least. Nothing is put around them. Before the first action there is no rate.

    The window begins at 10 packets and stays between 2 (these two: 1) and 100,000.

    ## Observation Space

    With `features="indigo"`, a `ndarray` of shape `(9,)`, float32. The averages run over the acknowledgements
    of the last step, each new one with weight 1/8; they are 0 when none came.

    | Num | Observation                                            | Unit         | Min | Max |
    |-----|--------------------------------------------------------|--------------|-----|-----|
    | 0   | queueing delay: round-trip time minus the least so far | 200 ms       | 0   | Inf |
    | 1   | delivery rate over the last round trip                 | 200 Mbit/s   | 0   | Inf |
    | 2   | sending rate over the last round trip                  | 200 Mbit/s   | 0   | Inf |
    | 3   | congestion window                                      | 5000 packets | 0   | Inf |
    | 4-8 | previous action, one-hot; at first the last one        | -            | 0   | 1   |

    With `features="scale_free"`, a `ndarray` of shape `(30,)`, float32, each entry divided by its own
    constant (`ccgym.envs._core.POLICY_FEATURES`) and cut to [-4, 4]. R is the least round-trip time so far, q
    the mean queueing delay of the step, bdp(r) the packets that a rate r delivers in R. Means over n round
    trips are exponential. Entries 20 to 24 are by the receiver's clock, which the way of the ACKs does not
    disturb.

    | Num | Observation                                                       | Unit       | Min | Max |
    |-----|-------------------------------------------------------------------|------------|-----|-----|
    | 0   | ln W                                                              | ln packets | -4  | 4   |
    | 1   | ln(1 + R)                                                         | ln ms      | -4  | 4   |
    | 2   | ln(1 + q / R)                                                     | -          | -4  | 4   |
    | 3   | ln(1 + q / 10 ms)                                                 | -          | -4  | 4   |
    | 4   | ln(1 + least queueing delay of the step / 10 ms)                  | -          | -4  | 4   |
    | 5   | ln(bdp(delivery rate in the step) / W)                            | -          | -4  | 4   |
    | 6   | ln(bdp(delivery rate over the last round trip) / W)               | -          | -4  | 4   |
    | 7   | as 6, with the mean over 4 round trips                            | -          | -4  | 4   |
    | 8   | as 6, with the mean over 16 round trips                           | -          | -4  | 4   |
    | 9   | as 6, with the maximum over 10 round trips                        | -          | -4  | 4   |
    | 10  | ln(sending rate / delivery rate) over the last round trip         | -          | -4  | 4   |
    | 11  | ln((packets in flight + 1) / W)                                   | -          | -4  | 4   |
    | 12  | square root of the loss over 2 round trips                        | -          | -4  | 4   |
    | 13  | square root of the loss over 16 round trips                       | -          | -4  | 4   |
    | 14  | ln(1 + mean deviation of the round-trip time / 10 ms)             | -          | -4  | 4   |
    | 15  | ln((q + 1 ms) / (q over 2 round trips + 1 ms))                    | -          | -4  | 4   |
    | 16  | ln((q over 2 round trips + 1 ms) / (q over 8 round trips + 1 ms)) | -          | -4  | 4   |
    | 17  | ln(duration of the step / 10 ms)                                  | -          | -4  | 4   |
    | 18  | age of the flow / 20 R, at most 1                                 | -          | -4  | 4   |
    | 19  | previous action, as it was carried out                            | -          | -1  | 1   |
    | 20  | ln(1 + mean queueing delay of the data in the step / 10 ms)       | -          | -4  | 4   |
    | 21  | ln(1 + that of the packet acknowledged last / 10 ms)              | -          | -4  | 4   |
    | 22  | ln(1 + least q over 8 round trips / 10 ms)                        | -          | -4  | 4   |
    | 23  | ln(bdp(rate at which the step's data arrived) / W)                | -          | -4  | 4   |
    | 24  | as 23, with the mean over 2 round trips                           | -          | -4  | 4   |
    | 25  | ln W less its mean over 2 round trips                             | -          | -4  | 4   |
    | 26  | ln W less its mean over 8 round trips                             | -          | -4  | 4   |
    | 27  | the companion probes the queue, or ACKs of its probe are coming   | -          | 0   | 1   |
    | 28  | the companion believes that others are on the bottleneck          | -          | 0   | 1   |
    | 29  | preference from low delay (0) to full throughput (1): 0.5         | -          | -4  | 4   |

    With `features="aurora"`, a `ndarray` of shape `(30,)`, float32, cut to [-4, 4]: three entries for each of
    the last ten steps, the oldest first. A step without acknowledgements repeats both ratios.

    | Num      | Observation                                                   | Unit      | Min | Max |
    |----------|---------------------------------------------------------------|-----------|-----|-----|
    | 0, 3, .. | change of the mean round-trip time since the last step / time | ms per ms | -4  | 4   |
    | 1, 4, .. | mean round-trip time / least so far                           | 2         | 0   | 4   |
    | 2, 5, .. | sending rate / delivery rate over the last round trip         | 2         | 0   | 4   |

    With `features="raw"`, a `ndarray` of shape `(24,)`, float32: what was measured in the step, unscaled, the
    base for features of one's own. `ccgym.envs._core.RAW_FEATURES` has the names. Counts, sums and means are
    of the step alone, and 0 when no acknowledgement came.

    | Num | Name                       | Observation                                                      |
    |-----|----------------------------|------------------------------------------------------------------|
    | 0   | `time_ms`                  | of the decision, since the flow began                            |
    | 1   | `step_ms`                  | since the decision before, at first since the flow began         |
    | 2   | `acks`                     | acknowledgements that came                                       |
    | 3   | `acked_packets`            | packets acknowledged                                             |
    | 4   | `acked_bytes`              | bytes acknowledged                                               |
    | 5   | `lost_packets`             | packets given up                                                 |
    | 6   | `lost_bytes`               | bytes given up                                                   |
    | 7   | `ce_packets`               | acknowledged packets with the mark "congestion experienced"      |
    | 8   | `least_rtt_ms`             | least round-trip time of the flow so far                         |
    | 9   | `step_least_rtt_ms`        | least round-trip time of the step                                |
    | 10  | `mean_rtt_ms`              | mean round-trip time of the step's acknowledgements              |
    | 11  | `last_rtt_ms`              | round-trip time of the last acknowledgement                      |
    | 12  | `smoothed_rtt_ms`          | as in RFC 6298                                                   |
    | 13  | `rtt_deviation_ms`         | mean distance from it, each acknowledgement with weight 1/16     |
    | 14  | `least_one_way_ms`         | least one-way delay so far; with the offset of the two clocks    |
    | 15  | `mean_one_way_queueing_ms` | mean one-way delay of the step above the least so far            |
    | 16  | `last_one_way_queueing_ms` | the same of the packet acknowledged last                         |
    | 17  | `arrival_interval_ms`      | from the last arrival before the step to the last one of it      |
    | 18  | `delivery_rate_mbps`       | delivery rate over the last round trip                           |
    | 19  | `delivery_interval_ms`     | time over which that was measured                                |
    | 20  | `send_rate_mbps`           | sending rate over the last round trip                            |
    | 21  | `inflight_packets`         | packets in flight after the last acknowledgement                 |
    | 22  | `window_packets`           | congestion window before the coming action                       |
    | 23  | `limited_by`               | what kept from sending: 0 window, 1 pacing, 2 no data            |

    A class of one's own, or its name `my.module:NAME`, makes of these what an agent sees: see
    `ccgym.envs.gym.own_features`, which has Aurora's and the scale-free ones as such classes.

    ## Rewards

    Each is of the step alone; T is its throughput, D the mean round-trip time of its acknowledgements.

    | `reward` | Value                                                                | In a silent step  |
    |----------|----------------------------------------------------------------------|-------------------|
    | `power`  | (T / mean rate of the link) / (D / propagation round-trip time)      | 0                 |
    | `aurora` | 10 T - 1000 D - 2000 loss; T in packets of 1500 bytes per s, D in s  | D is 0            |
    | `copa`   | ln(T in Mbit/s) - 0.5 ln(D in ms): Copa's utility (NSDI 2018)        | T is 1 kbit/s     |

    `vector` is three numbers, each the more the better, as MO-Gymnasium has them: T in Mbit/s, -D in ms (a
    silent step: the propagation round-trip time), and less the share lost. `reward_space` holds them. A
    function of one's own takes info, the mean rates of the links in Mbit/s and the round-trip times of the
    empty paths in ms, read-only, each entry of shape (flows,), and returns rewards (flows,); `my.module:NAME`
    names one.

    `power` is at most about 1; on a link whose rate varies it can exceed 1 for a while.

    ## Starting State

    A new flow at time 0 of the link's schedule, run to its first decision: one step after its first
    acknowledgement.

    ## Episode End

    1. Truncation: 1000 steps (`max_episode_steps` of `gymnasium.make`).

    It never terminates. A step lasts 10 ms; one in which no acknowledgement comes, up to 1 s.

    ## Information

    `step` returns in `info`:

    | Key                   | Meaning                                                   | Unit    |
    |-----------------------|-----------------------------------------------------------|---------|
    | `time_ms`             | since the flow began                                      | ms      |
    | `throughput_mbps`     | delivered in the step                                     | Mbit/s  |
    | `delay_ms`            | mean round-trip time of the step's acknowledgements       | ms      |
    | `loss`                | lost in the step / (delivered + lost)                     | -       |
    | `queue_packets`       | that wait at the bottleneck                               | packets |
    | `cwnd_packets`        | congestion window                                         | packets |
    | `oracle_cwnd_packets` | as given to the constructor, if it was; also from `reset` | packets |

    ## Arguments

    ```python
    >>> import gymnasium as gym
    >>> env = gym.make("ccgym/Path-v0", emulator="calibrated/nepal", features="scale_free")
    >>> observation, info = env.reset(seed=1)
    >>> observation.shape
    (30,)

    ```

    | Parameter             | Type                | Default              | Description                |
    |-----------------------|---------------------|----------------------|----------------------------|
    | `emulator`            | see below           | `"calibrated/india"` | a path, or a distribution  |
    | `features`            | **str**, class      | `"indigo"`           | as above                   |
    | `actions`             | **str**             | `"indigo"`           | as above                   |
    | `companion`           | **bool**            | `False`              | beside `log_window`        |
    | `reward`              | **str**, function   | `"power"`            | as above                   |
    | `oracle_cwnd_packets` | **float** or None   | `None`               | the ideal window, for info |
    | `backend`             | **str**             | `"twin"`             | `twin` or `mahimahi`       |
    | `render_mode`         | **str** or None     | `None`               | `rgb_array`: see below     |

    `emulator` is a name, group/name, or `file:PATH` of a file with one emulator, or an `EmulatorSpec`; or a
    distribution, from which every episode draws its path, on its seed: `random:train` (also `validation`,
    `test`), a function from a NumPy generator to an `EmulatorSpec`, `my.module:NAME` of one, or a mapping
    from any of these, groups as well, to weights. Features `indigo` need actions `indigo`.

    With `backend="mahimahi"` the native sender runs in real mahimahi shells, in real time: it goes on with
    its window until the action comes, seeds change nothing, and `queue_packets` is NaN, since nobody can
    know. A program that is killed ends the episode with a `MahimahiError`; `close()` takes the shells down.

    `render()` draws the window, the throughput and the round-trip time of the episode so far, beside the mean
    rate of the link and the propagation round-trip time.

    `save_state()` in mid-episode copies the flow; `restore_state(value)`, in any environment of the same
    arguments, goes back there in microseconds, and all that follows has the same bits. A value that was
    pickled holds the seed and the actions so far, which decide everything: `restore_state` runs them again.

    Same arguments, same seed, same actions: same bits. The seed decides which packets are lost. `reset()`
    without a seed goes on to the next episode of the last one.

    ## Vectorized environment

    `gymnasium.make_vec("ccgym/Path-v0", num_envs=256, ...)` makes a `PathVectorEnv`: one call steps all.

    ## Version History

    * v0: initial version.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": 100}  # noqa: RUF012  as Gymnasium declares it

    def __init__(
        self,
        *,
        emulator: Emulators = DEFAULT_EMULATOR,
        features: Features = "indigo",
        actions: str = "indigo",
        companion: bool = False,
        reward: str | Reward = "power",
        oracle_cwnd_packets: float | None = None,
        backend: str = "twin",
        render_mode: str | None = None,
    ) -> None:
        """Builds the path; see the class for the arguments.

        Raises:
            InputError: an argument is unknown, or the emulator or its trace is broken.
        """
        EzPickle.__init__(
            self,
            emulator=emulator,
            features=features,
            actions=actions,
            companion=companion,
            reward=reward,
            oracle_cwnd_packets=oracle_cwnd_packets,
            backend=backend,
            render_mode=render_mode,
        )
        self._engine = PathEngine(
            one_source(emulator),
            features=features,
            actions=actions,
            companion=companion,
            reward=reward,
            threads=1,
            oracle_cwnd_packets=None if oracle_cwnd_packets is None else [oracle_cwnd_packets],
            backend=backend,
        )
        self.observation_space = self._engine.observation_space
        self.action_space = self._engine.action_space
        if self._engine.reward_space is not None:
            self.reward_space = self._engine.reward_space
            self.reward_dim = self.reward_space.shape[0]
        self._time_limits: list[TimeLimit[Any, Any]] = []  # around it
        self._path = np.zeros(1, dtype=np.int32)
        self._seeded = False
        self.render_mode = render_mode
        self._plot = None if render_mode is None else self._make_plot()

    def _make_plot(self) -> "EpisodePlot":
        if self.render_mode not in self.metadata["render_modes"]:
            raise InputError(f"render_mode: {excerpt(self.render_mode)!r} is unknown; known is rgb_array")
        from .rendering import EpisodePlot  # matplotlib takes a while to load

        return EpisodePlot(
            self._engine.specs[0].name,
            float(self._engine.capacity_mbps[0]),
            float(self._engine.propagation_rtt_ms[0]),
        )

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begins a new episode.

        Args:
            seed: of this episode and those that follow; None: go on with the last seed, at first with any.
            options: `{"emulator": ...}`, another one from now on, as the constructor takes it.

        Returns:
            The first observation, and info.

        Raises:
            InputError: the emulator is unknown or broken.
        """
        if isinstance(seed, np.integer):
            seed = int(seed)
        super().reset(seed=seed, options=options)
        self._time_limits = list(_time_limits_around(self))
        emulator = emulator_of(options)
        if emulator is not None:
            self._engine.set_emulators(one_source(emulator))
        if seed is None and not self._seeded:
            seed = int(self.np_random.integers(2**63))
        if seed is not None:
            self._engine.seed(self._path, [seed])
            self._seeded = True
        observation: NDArray[np.float32] = self._engine.reset()[0]
        if self._plot is not None:
            self._plot = self._make_plot()
        return observation, _only(self._engine.reset_info())

    def step(self, action: Any) -> tuple[NDArray[np.float32], Any, bool, bool, dict[str, Any]]:
        """Acts and runs to the next decision.

        Returns:
            Observation, reward (with `reward="vector"` an array), terminated (never), truncated (never: the
            time limit is a wrapper), info.

        Raises:
            ValueError: the action lies outside the action space.
        """
        observations, rewards, info = self._engine.step(action)
        if self._plot is not None:
            self._plot.add(info, 0)
        reward = float(rewards[0]) if rewards.ndim == 1 else rewards[0]
        return observations[0], reward, False, False, _only(info)

    def save_state(self) -> "EpisodeState":
        """Where the episode stands, for `restore_state`.

        Raises:
            InputError: the flow is in real shells, whose time does not come back.
        """
        return self._engine.save()

    def restore_state(self, state: "EpisodeState") -> NDArray[np.float32]:
        """Goes back to a saved place; returns the observation there. A picture begins there, too.

        Raises:
            InputError: it was saved by an environment of another emulator, features or actions.
        """
        observation: NDArray[np.float32] = self._engine.restore(state)[0]
        self._seeded = True
        for limit in self._time_limits:
            limit._elapsed_steps = len(state.actions)  # type: ignore[assignment]
        if self._plot is not None:
            self._plot = self._make_plot()
        return observation

    def close(self) -> None:
        """Takes down the shells of `backend="mahimahi"`."""
        self._engine.close()

    def render(self) -> NDArray[np.uint8] | None:
        """The episode so far as a picture (480, 640, 3); None without a `render_mode`."""
        return None if self._plot is None else self._plot.draw()


def _time_limits_around(env: PathEnv) -> Iterator["TimeLimit[Any, Any]"]:
    """The wrappers whose `reset` has called down to that of `env`: nothing else leads from it to them."""
    frame = sys._getframe(1)
    while frame is not None:
        caller = frame.f_locals.get("self")
        if isinstance(caller, TimeLimit) and caller.unwrapped is env:
            yield caller
        frame = frame.f_back  # type: ignore[assignment]


def one_source(emulator: Emulators) -> list[Source]:
    """The only emulator, or distribution of emulators, of one flow.

    Raises:
        InputError: there are several, or it is unknown.
    """
    sources = sources_of(emulator)
    if len(sources) != 1:
        raise InputError(
            f"emulator: {len(sources)} emulators for one flow; give one, a mix {{NAME: WEIGHT}}, "
            "or use make_vec"
        )
    return sources


def _only(info: Info) -> dict[str, Any]:
    return {name: float(values[0]) for name, values in info.items()}
