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
_MOST = 4.0
_LEAST_MS = 1e-3


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
            self._made = [kind(1) for _ in range(rows)] if apart else [kind(rows)]
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
            self.observations = self._of(self._made[0], raw, actions)
        else:
            for row in np.flatnonzero(deciding).tolist():
                here = slice(row, row + 1)
                self.observations[here] = self._of(self._made[row], raw[here], actions[here])
        return self.observations

    def _of(self, made: OwnFeatures, raw: NDArray[np.float32], actions: NDArray[Any]) -> NDArray[np.float32]:
        columns = dict(zip(_core.RAW_FEATURES, raw.astype(np.float64).T, strict=True))
        with telling(f"features: {self._kind.__name__}.observe"):
            given = np.asarray(made.observe(columns, actions.astype(np.float64)))
            if given.dtype.kind not in "fiub":
                raise TypeError("complex numbers" if np.iscomplexobj(given) else f"no numbers: {given.dtype}")
            with np.errstate(over="ignore"):  # told below
                seen: NDArray[np.float32] = given.astype(np.float32)
        if seen.shape != (len(raw), self._kind.size) or not np.isfinite(seen).all():
            wrong = f"shape {seen.shape}" if seen.shape != (len(raw), self._kind.size) else _not_finite(given)
            raise InputError(
                f"features: {self._kind.__name__}.observe gave {wrong}, should give finite numbers of shape "
                f"{(len(raw), self._kind.size)}"
            )
        return seen


def _not_finite(given: NDArray[Any]) -> str:
    return "numbers above float32, 3.4e+38" if np.isfinite(given).all() else "NaN or infinity"


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
        seen: NDArray[np.float32] = self._observer.observe(observation[None], self._action, deciding)[0]
        return seen


class AuroraFeatures:
    """Latency gradient, latency ratio and send ratio of the last ten steps, the oldest first."""

    size = 30

    def __init__(self, flows: int) -> None:
        self._history = np.tile([0.0, 1.0, 1.0], (flows, 10, 1))
        self._last_rtt_ms = np.zeros(flows)
        self._since_ms = np.zeros(flows)  # since the last step with ACKs

    def observe(self, raw: Mapping[str, Floats], _action: Floats) -> Floats:
        """See `PathEnv`."""
        heard = raw["acks"] > 0
        self._since_ms += raw["step_ms"]
        rtt_ms, least_ms = raw["mean_rtt_ms"], np.maximum(raw["least_rtt_ms"], 1e-6)
        gradient = np.where(self._last_rtt_ms > 0, (rtt_ms - self._last_rtt_ms) / self._since_ms, 0)
        delivered = raw["delivery_rate_mbps"] * np.minimum(raw["delivery_interval_ms"] / least_ms, 1)
        ratio = np.where(delivered > 0, raw["send_rate_mbps"] / np.where(delivered > 0, delivered, 1), 1)
        newest = np.stack([gradient, rtt_ms / least_ms, ratio], axis=1)
        silent = self._history[:, -1] * [0.0, 1.0, 1.0]  # both ratios stay
        self._last_rtt_ms = np.where(heard, rtt_ms, self._last_rtt_ms)
        self._since_ms = np.where(heard, 0, self._since_ms)
        entry = np.where(heard[:, None], newest, silent)
        self._history = np.concatenate([self._history[:, 1:], entry[:, None]], axis=1)
        seen: Floats = np.clip(self._history / [1.0, 2.0, 2.0], -_MOST, _MOST).reshape(len(entry), -1)
        return seen


class ScaleFreeFeatures:
    """Rates as windows relative to the present one, delays relative to the min RTT, over several times."""

    size = 30
    preference = 0.5
    """From low delay (0) to full throughput (1)."""

    def __init__(self, flows: int) -> None:
        self._flows = flows
        self._kept: dict[str, Floats] = {}
        """Features that a step without ACKs does not change."""
        self._averages: dict[str, Floats] = {}
        self._standing_ms = np.zeros(flows)
        self._max_rate = np.zeros(flows)
        self._last_window: Floats | None = None

    def observe(self, raw: Mapping[str, Floats], _action: Floats) -> Floats:
        """See `PathEnv`; rates here are bytes per ms."""
        step_ms = np.maximum(raw["step_ms"], _LEAST_MS)
        window = raw["window_packets"]
        executed = _log_ratio(window, window if self._last_window is None else self._last_window)
        self._last_window = window.copy()
        kept = self._keep(raw)
        least_ms, queueing_ms = kept["least_ms"], kept["queueing_ms"]
        means = self._blend(raw, step_ms)
        packet_bytes = kept["packet_bytes"]

        def as_window(rate: Floats) -> Floats:
            return _log_ratio(rate * least_ms / packet_bytes, window)

        entries = [
            np.log(np.maximum(window, 1)),
            np.log1p(least_ms),
            np.log1p(queueing_ms / np.maximum(least_ms, _LEAST_MS)),
            np.log1p(queueing_ms / 10),
            np.log1p(kept["least_queueing_ms"] / 10),
            as_window(raw["acked_bytes"] / step_ms),
            as_window(kept["rate"]),
            as_window(means["rate_4"]),
            as_window(means["rate_16"]),
            as_window(self._max_rate),
            _log_ratio(kept["send_rate"], kept["rate"]),
            _log_ratio(kept["inflight_packets"] + 1, window),
            np.sqrt(means["loss_2"]),
            np.sqrt(means["loss_16"]),
            np.log1p(raw["rtt_deviation_ms"] / 10),
            _log_ratio(queueing_ms + 1, means["queueing_2"] + 1),
            _log_ratio(means["queueing_2"] + 1, means["queueing_8"] + 1),
            _log_ratio(step_ms, np.full(self._flows, 10.0)),
            np.minimum(1, raw["time_ms"] / (20 * np.maximum(least_ms, _LEAST_MS))),
            np.clip(executed, -1, 1),
            np.log1p(kept["one_way_ms"] / 10),
            np.log1p(raw["last_one_way_queueing_ms"] / 10),
            np.log1p(self._standing_ms / 10),
            as_window(kept["received"]),
            as_window(means["received_2"]),
            np.log(window) - means["window_2"],
            np.log(window) - means["window_8"],
            np.zeros(self._flows),  # features of a companion; there is none
            np.zeros(self._flows),
            np.full(self._flows, self.preference),
        ]
        divisors = _core.POLICY_FEATURES["scale_free"]
        seen: Floats = np.clip(np.stack(entries, axis=1) / divisors, -_MOST, _MOST)
        return seen

    def _keep(self, raw: Mapping[str, Floats]) -> dict[str, Floats]:
        """The measurements of the step's ACKs, or of the last step that had any."""
        if not self._kept:
            self._kept = dict.fromkeys(
                ("least_ms", "queueing_ms", "least_queueing_ms", "rate", "send_rate", "inflight_packets",
                 "one_way_ms", "received", "smoothed_ms"),
                np.zeros(self._flows),
            ) | {"packet_bytes": np.ones(self._flows)}  # fmt: skip
        heard = raw["acks"] > 0
        least_ms = np.maximum(raw["least_rtt_ms"], _LEAST_MS)
        interval_ms = np.maximum(raw["delivery_interval_ms"], _LEAST_MS)
        delivered = raw["delivery_rate_mbps"] * interval_ms / 0.008
        arrivals = np.where(
            raw["arrival_interval_ms"] != 0,
            raw["acked_bytes"] / np.maximum(raw["arrival_interval_ms"], 1),
            self._kept["received"],
        )
        told = {
            "least_ms": least_ms,
            "queueing_ms": raw["mean_rtt_ms"] - least_ms,
            "least_queueing_ms": raw["step_least_rtt_ms"] - least_ms,
            "rate": delivered / np.maximum(interval_ms, least_ms),
            "send_rate": raw["send_rate_mbps"] / 0.008,
            "inflight_packets": raw["inflight_packets"],
            "one_way_ms": raw["mean_one_way_queueing_ms"],
            "received": arrivals,
            "smoothed_ms": raw["smoothed_rtt_ms"],
            "packet_bytes": raw["acked_bytes"] / np.maximum(raw["acked_packets"], 1),
        }
        self._kept = {name: np.where(heard, told[name], self._kept[name]) for name in self._kept}
        return self._kept

    def _blend(self, raw: Mapping[str, Floats], step_ms: Floats) -> dict[str, Floats]:
        """Exponential means over some smoothed round trips."""
        kept = self._kept
        gone = raw["acked_bytes"] + raw["lost_bytes"]
        samples = {
            "rate": kept["rate"],
            "queueing": kept["queueing_ms"],
            "received": kept["received"],
            "window": np.log(raw["window_packets"]),
            "loss": raw["lost_bytes"] / np.maximum(gone, 1),
        }
        if not self._averages:
            names = ("rate_4", "rate_16", "queueing_2", "queueing_8", "received_2", "window_2", "window_8")
            self._averages = dict.fromkeys([*names, "loss_2", "loss_16"], np.zeros(self._flows))
        first = self._averages["rate_4"] == 0
        begins = {"rate": kept["rate"], "received": kept["rate"], "window": samples["window"]}
        round_trip_ms = np.maximum(kept["smoothed_ms"], _LEAST_MS)
        blended = {}
        for name, average in self._averages.items():
            quantity, _, horizon = name.partition("_")
            before = np.where(first, begins.get(quantity, average), average)
            weight = 1 - np.exp(-step_ms / (int(horizon) * round_trip_ms))
            blended[name] = before + weight * (samples[quantity] - before)
        self._averages = blended
        rise = 1 - np.exp(-step_ms / (8 * round_trip_ms))
        queueing_ms = kept["queueing_ms"]
        self._standing_ms = np.minimum(
            queueing_ms, self._standing_ms + rise * (queueing_ms - self._standing_ms)
        )
        forget = np.exp(-step_ms / (10 * round_trip_ms))
        self._max_rate = np.maximum(
            kept["rate"], blended["rate_4"] + forget * (self._max_rate - blended["rate_4"])
        )
        return blended


def _log_ratio(above: Floats, below: Floats) -> Floats:
    ratio: Floats = np.log(np.maximum(above, 1e-9) / np.maximum(below, 1e-9))
    return ratio
