"""The user's own features: computed from the measurements of a step (`features="raw"`) for the agent.

A class of this shape can be given wherever features are named, as the class or as `my.module:NAME`:

    class MyFeatures:
        size = 2                          # numbers in an observation

        def __init__(self, flows):        # anew at the start of every episode
            ...

        def observe(self, raw, action):   # raw["mean_rtt_ms"] and all others: (flows,)
            return np.stack([...], axis=1)   # (flows, size)

`AuroraFeatures` and `ScaleFreeFeatures` are two such classes; the native sets of these names compute the same
in C++.
"""

from collections.abc import Mapping
from typing import Any, Protocol

import gymnasium
import numpy as np
from ccgym.envs import _core
from ccgym.envs.errors import InputError, excerpt
from ccgym.envs.import_strings import telling
from gymnasium import spaces
from numpy.typing import NDArray

Floats = NDArray[np.float64]

MOST_NUMBERS = 65_536
"""Most numbers in an observation."""
_CLIP = 4.0
"""Entries of Aurora's and of the scale-free features are clipped to this, either side of 0."""
_LEAST_MS = 1e-3
"""Times are at least this, so that nothing is divided by 0."""


class OwnFeatures(Protocol):
    """The shape of the user's own features; see the module."""

    size: int
    """Numbers in an observation."""

    def __init__(self, flows: int) -> None: ...

    def observe(self, raw: Mapping[str, Floats], action: Floats) -> Any:
        """The observations, (flows, size). `action`: the last actions, (flows, numbers), at first 0."""


class Observer:
    """Computes the user's own features for all rows of a batch.

    Rows that may let instants pass have an object each, because what they remember must not change meanwhile.
    """

    def __init__(self, kind: type[OwnFeatures], rows: int, *, apart: bool = False) -> None:
        self._kind = kind
        with telling(f"features: {kind.__name__}(flows)"):
            self._features = [kind(1) for _ in range(rows)] if apart else [kind(rows)]
        self._apart = apart
        self.observations = np.zeros((rows, kind.size), dtype=np.float32)

    def observe(
        self, raw: NDArray[np.float32], actions: NDArray[Any], deciding: NDArray[np.bool_]
    ) -> NDArray[np.float32]:
        """The observations of all rows; rows that do not decide keep the previous one.

        Raises:
            InputError: the features raise an exception, or do not give `size` finite numbers for each row.
        """
        if not self._apart:
            self.observations = self._compute(self._features[0], raw, actions)
        else:
            for row in np.flatnonzero(deciding).tolist():
                rows = slice(row, row + 1)
                self.observations[rows] = self._compute(self._features[row], raw[rows], actions[rows])
        return self.observations

    def _compute(
        self, features: OwnFeatures, raw: NDArray[np.float32], actions: NDArray[Any]
    ) -> NDArray[np.float32]:
        measurements = dict(zip(_core.RAW_FEATURES, raw.astype(np.float64).T, strict=True))
        with telling(f"features: {self._kind.__name__}.observe"):
            returned = np.asarray(features.observe(measurements, actions.astype(np.float64)))
            if returned.dtype.kind not in "fiub":
                is_complex = np.iscomplexobj(returned)
                raise TypeError("complex numbers" if is_complex else f"no numbers: {returned.dtype}")
            with np.errstate(over="ignore"):  # infinity is refused below
                observations: NDArray[np.float32] = returned.astype(np.float32)
        shape = (len(raw), self._kind.size)
        if observations.shape != shape or not np.isfinite(observations).all():
            wrong = _not_finite(returned) if observations.shape == shape else f"shape {observations.shape}"
            raise InputError(
                f"features: {self._kind.__name__}.observe gave {wrong}, should give finite numbers of shape "
                f"{shape}"
            )
        return observations


def _not_finite(returned: NDArray[Any]) -> str:
    return "numbers above float32, 3.4e+38" if np.isfinite(returned).all() else "NaN or infinity"


def own_features(kind: Any) -> type[OwnFeatures]:
    """Returns `kind` after a check of its shape.

    Raises:
        InputError: it has no `size` or no `observe`.
    """
    size = getattr(kind, "size", None)
    if (
        not isinstance(kind, type)
        or not isinstance(size, int | np.integer)
        or isinstance(size, bool)
        or not 1 <= size <= MOST_NUMBERS
        or not callable(getattr(kind, "observe", None))
    ):
        raise InputError(
            f"features: {excerpt(kind)} should be a class with an attribute size, a whole number from 1 "
            f"to {MOST_NUMBERS}, and a method observe(raw, action)"
        )
    return kind


class FeaturesObservation(gymnasium.ObservationWrapper[NDArray[np.float32], Any, NDArray[np.float32]]):
    """An environment with `features="raw"`, wrapped in the user's own features."""

    def __init__(self, env: gymnasium.Env[NDArray[np.float32], Any], kind: type[OwnFeatures]) -> None:
        super().__init__(env)
        self._kind = own_features(kind)
        self.observation_space = spaces.Box(-np.inf, np.inf, (kind.size,), dtype=np.float32)
        self._begin()

    def _begin(self) -> None:
        self._observer = Observer(self._kind, 1)
        shape = self.env.action_space.shape
        self._action = np.zeros((1, shape[0] if shape else 1))  # a class is one number

    def reset(self, **arguments: Any) -> tuple[NDArray[np.float32], dict[str, Any]]:
        """Begins a new episode with new features, which remember nothing."""
        self._begin()
        return super().reset(**arguments)

    def step(self, action: Any) -> Any:
        """Makes a step of the environment."""
        self._action = np.asarray(action, dtype=np.float64).reshape(1, -1)
        return super().step(action)

    def observation(self, observation: NDArray[np.float32]) -> NDArray[np.float32]:
        """The features computed from a raw observation."""
        deciding = np.ones(1, dtype=np.bool_)
        features: NDArray[np.float32] = self._observer.observe(observation[None], self._action, deciding)[0]
        return features


class AuroraFeatures:
    """Latency gradient, latency ratio and send ratio of the last ten steps, the oldest first."""

    size = 30

    def __init__(self, flows: int) -> None:
        self._history = np.tile([0.0, 1.0, 1.0], (flows, 10, 1))
        self._last_rtt_ms = np.zeros(flows)
        self._since_ms = np.zeros(flows)  # since the last step with ACKs

    def observe(self, raw: Mapping[str, Floats], _action: Floats) -> Floats:
        """See `PathEnv`."""
        has_acks = raw["acks"] > 0
        self._since_ms += raw["step_ms"]
        rtt_ms, min_rtt_ms = raw["mean_rtt_ms"], np.maximum(raw["least_rtt_ms"], 1e-6)
        gradient = np.where(self._last_rtt_ms > 0, (rtt_ms - self._last_rtt_ms) / self._since_ms, 0)
        delivery_mbps = raw["delivery_rate_mbps"] * np.minimum(raw["delivery_interval_ms"] / min_rtt_ms, 1)
        send_ratio = np.where(
            delivery_mbps > 0, raw["send_rate_mbps"] / np.where(delivery_mbps > 0, delivery_mbps, 1), 1
        )
        newest = np.stack([gradient, rtt_ms / min_rtt_ms, send_ratio], axis=1)
        without_acks = self._history[:, -1] * [0.0, 1.0, 1.0]  # both ratios stay
        self._last_rtt_ms = np.where(has_acks, rtt_ms, self._last_rtt_ms)
        self._since_ms = np.where(has_acks, 0, self._since_ms)
        entry = np.where(has_acks[:, None], newest, without_acks)
        self._history = np.concatenate([self._history[:, 1:], entry[:, None]], axis=1)
        scaled = self._history / [1.0, 2.0, 2.0]
        observations: Floats = np.clip(scaled, -_CLIP, _CLIP).reshape(len(entry), -1)
        return observations


class ScaleFreeFeatures:
    """Rates as windows relative to the present one, delays relative to the min RTT, over several times.

    Rates are in bytes per ms.
    """

    size = 30
    preference = 0.5
    """From low delay (0) to full throughput (1)."""

    def __init__(self, flows: int) -> None:
        self._flows = flows
        self._measured: dict[str, Floats] = {}
        """Measurements of the last step that had ACKs."""
        self._averages: dict[str, Floats] = {}
        """By quantity and round trips, as in `loss_16`."""
        self._standing_queue_ms = np.zeros(flows)
        self._max_delivery_rate = np.zeros(flows)
        self._last_cwnd: Floats | None = None

    def observe(self, raw: Mapping[str, Floats], _action: Floats) -> Floats:
        """See `PathEnv`."""
        step_ms = np.maximum(raw["step_ms"], _LEAST_MS)
        cwnd = raw["window_packets"]
        last_action = _log_ratio(cwnd, cwnd if self._last_cwnd is None else self._last_cwnd)
        self._last_cwnd = cwnd.copy()
        measured = self._update_measured(raw)
        means = self._update_averages(raw, step_ms)
        self._update_extremes(step_ms)
        min_rtt_ms, queueing_ms = measured["min_rtt_ms"], measured["queueing_ms"]
        packet_bytes = measured["packet_bytes"]

        def bdp_to_cwnd(rate: Floats) -> Floats:
            return _log_ratio(rate * min_rtt_ms / packet_bytes, cwnd)

        entries = [
            np.log(np.maximum(cwnd, 1)),
            np.log1p(min_rtt_ms),
            np.log1p(queueing_ms / np.maximum(min_rtt_ms, _LEAST_MS)),
            np.log1p(queueing_ms / 10),
            np.log1p(measured["min_queueing_ms"] / 10),
            bdp_to_cwnd(raw["acked_bytes"] / step_ms),
            bdp_to_cwnd(measured["delivery_rate"]),
            bdp_to_cwnd(means["delivery_rate_4"]),
            bdp_to_cwnd(means["delivery_rate_16"]),
            bdp_to_cwnd(self._max_delivery_rate),
            _log_ratio(measured["send_rate"], measured["delivery_rate"]),
            _log_ratio(measured["inflight_packets"] + 1, cwnd),
            np.sqrt(means["loss_2"]),
            np.sqrt(means["loss_16"]),
            np.log1p(raw["rtt_deviation_ms"] / 10),
            _log_ratio(queueing_ms + 1, means["queueing_ms_2"] + 1),
            _log_ratio(means["queueing_ms_2"] + 1, means["queueing_ms_8"] + 1),
            _log_ratio(step_ms, np.full(self._flows, 10.0)),
            np.minimum(1, raw["time_ms"] / (20 * np.maximum(min_rtt_ms, _LEAST_MS))),
            np.clip(last_action, -1, 1),
            np.log1p(measured["one_way_queueing_ms"] / 10),
            np.log1p(raw["last_one_way_queueing_ms"] / 10),
            np.log1p(self._standing_queue_ms / 10),
            bdp_to_cwnd(measured["arrival_rate"]),
            bdp_to_cwnd(means["arrival_rate_2"]),
            np.log(cwnd) - means["log_cwnd_2"],
            np.log(cwnd) - means["log_cwnd_8"],
            np.zeros(self._flows),  # features of a companion; there is none
            np.zeros(self._flows),
            np.full(self._flows, self.preference),
        ]
        divisors = _core.POLICY_FEATURES["scale_free"]
        observations: Floats = np.clip(np.stack(entries, axis=1) / divisors, -_CLIP, _CLIP)
        return observations

    def _update_measured(self, raw: Mapping[str, Floats]) -> dict[str, Floats]:
        """The measurements of the step's ACKs, or of the last step that had any."""
        if not self._measured:
            self._measured = dict.fromkeys(
                ("min_rtt_ms", "queueing_ms", "min_queueing_ms", "delivery_rate", "send_rate",
                 "inflight_packets", "one_way_queueing_ms", "arrival_rate", "smoothed_rtt_ms"),
                np.zeros(self._flows),
            ) | {"packet_bytes": np.ones(self._flows)}  # fmt: skip
        has_acks = raw["acks"] > 0
        min_rtt_ms = np.maximum(raw["least_rtt_ms"], _LEAST_MS)
        interval_ms = np.maximum(raw["delivery_interval_ms"], _LEAST_MS)
        delivered_bytes = raw["delivery_rate_mbps"] * interval_ms / 0.008
        arrival_rate = np.where(
            raw["arrival_interval_ms"] != 0,
            raw["acked_bytes"] / np.maximum(raw["arrival_interval_ms"], 1),
            self._measured["arrival_rate"],
        )
        of_step = {
            "min_rtt_ms": min_rtt_ms,
            "queueing_ms": raw["mean_rtt_ms"] - min_rtt_ms,
            "min_queueing_ms": raw["step_least_rtt_ms"] - min_rtt_ms,
            "delivery_rate": delivered_bytes / np.maximum(interval_ms, min_rtt_ms),
            "send_rate": raw["send_rate_mbps"] / 0.008,
            "inflight_packets": raw["inflight_packets"],
            "one_way_queueing_ms": raw["mean_one_way_queueing_ms"],
            "arrival_rate": arrival_rate,
            "smoothed_rtt_ms": raw["smoothed_rtt_ms"],
            "packet_bytes": raw["acked_bytes"] / np.maximum(raw["acked_packets"], 1),
        }
        self._measured = {
            name: np.where(has_acks, of_step[name], before) for name, before in self._measured.items()
        }
        return self._measured

    def _update_averages(self, raw: Mapping[str, Floats], step_ms: Floats) -> dict[str, Floats]:
        """Exponential means over some smoothed round trips."""
        measured = self._measured
        acked_or_lost_bytes = raw["acked_bytes"] + raw["lost_bytes"]
        samples = {
            "delivery_rate": measured["delivery_rate"],
            "queueing_ms": measured["queueing_ms"],
            "arrival_rate": measured["arrival_rate"],
            "log_cwnd": np.log(raw["window_packets"]),
            "loss": raw["lost_bytes"] / np.maximum(acked_or_lost_bytes, 1),
        }
        if not self._averages:
            names = (
                "delivery_rate_4", "delivery_rate_16", "queueing_ms_2", "queueing_ms_8", "arrival_rate_2",
                "log_cwnd_2", "log_cwnd_8", "loss_2", "loss_16",
            )  # fmt: skip
            self._averages = dict.fromkeys(names, np.zeros(self._flows))
        is_first = self._averages["delivery_rate_4"] == 0
        initial = {
            "delivery_rate": measured["delivery_rate"],
            "arrival_rate": measured["delivery_rate"],
            "log_cwnd": samples["log_cwnd"],
        }
        averages = {}
        for name, average in self._averages.items():
            quantity, _, round_trips = name.rpartition("_")
            before = np.where(is_first, initial.get(quantity, average), average)
            weight = 1 - np.exp(-step_ms / (int(round_trips) * self._round_trip_ms()))
            averages[name] = before + weight * (samples[quantity] - before)
        self._averages = averages
        return averages

    def _update_extremes(self, step_ms: Floats) -> None:
        """The least queueing delay over 8 round trips, and the most delivery rate over 10.

        Both drift back towards the present, so that no samples need to be remembered.
        """
        queueing_ms, delivery_rate = self._measured["queueing_ms"], self._measured["delivery_rate"]
        rise = 1 - np.exp(-step_ms / (8 * self._round_trip_ms()))
        standing_ms = self._standing_queue_ms + rise * (queueing_ms - self._standing_queue_ms)
        self._standing_queue_ms = np.minimum(queueing_ms, standing_ms)
        decay = np.exp(-step_ms / (10 * self._round_trip_ms()))
        mean_rate = self._averages["delivery_rate_4"]
        self._max_delivery_rate = np.maximum(
            delivery_rate, mean_rate + decay * (self._max_delivery_rate - mean_rate)
        )

    def _round_trip_ms(self) -> Floats:
        smoothed_ms: Floats = np.maximum(self._measured["smoothed_rtt_ms"], _LEAST_MS)
        return smoothed_ms


def _log_ratio(above: Floats, below: Floats) -> Floats:
    ratio: Floats = np.log(np.maximum(above, 1e-9) / np.maximum(below, 1e-9))
    return ratio
