"""The spaces of observations and actions, by the names of the feature and action sets."""

from typing import Any

import numpy as np
from ccgym.envs import _core
from ccgym.envs.gym.own_features import OwnFeatures, own_features
from ccgym.envs.import_strings import is_import_string, load_object
from gymnasium import spaces
from numpy.typing import NDArray

from .arguments import known

Features = str | type[OwnFeatures]
"""A native set, a class of one's own, or the latter as `my.module:NAME`."""

LEAST_WINDOW_PACKETS, MOST_WINDOW_PACKETS = 1.0, 100_000.0
LEAST_RATE_MBPS, MOST_RATE_MBPS = 1e-3, 100_000.0
"""What actions `window` and `window_and_rate` may ask for."""
WINDOW_ACTIONS = ("window", "window_and_rate")
"""Action sets whose first number is the window itself."""

_MAY_BE_NEGATIVE = ("least_one_way_ms", "arrival_interval_ms")
"""By the clock of another machine, or after reordering."""


def observation_space(features: str | type[OwnFeatures]) -> spaces.Space[NDArray[np.float32]]:
    """Returns the space of one observation, float32; its entries are described in `PathEnv`.

    Raises:
        InputError: there is no such feature set.
    """
    if not isinstance(features, str):
        return spaces.Box(-np.inf, np.inf, (features.size,), dtype=np.float32)
    size = len(known("features", features, _core.POLICY_FEATURES))
    if features == "raw":
        low = np.where(np.isin(_core.RAW_FEATURES, _MAY_BE_NEGATIVE), -np.inf, 0).astype(np.float32)
        return spaces.Box(low, np.full(size, np.inf, dtype=np.float32), dtype=np.float32)
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
    count = known("actions", actions, _core.POLICY_ACTIONS)
    if actions == "indigo":
        return spaces.Discrete(count)
    if actions not in WINDOW_ACTIONS:
        return spaces.Box(-1, 1, (count,), dtype=np.float32)
    low = np.array([LEAST_WINDOW_PACKETS, LEAST_RATE_MBPS][:count], dtype=np.float32)
    high = np.array([MOST_WINDOW_PACKETS, MOST_RATE_MBPS][:count], dtype=np.float32)
    return spaces.Box(low, high, dtype=np.float32)


def label_space(space: spaces.Space[Any], **names: object) -> None:
    """Stores its set's name in a space: stable-baselines3 saves it with the model, an export reads it."""
    for name, value in names.items():
        setattr(space, name, value)


def own_or_native(features: Features) -> str | type[OwnFeatures]:
    """The class of features of one's own, or the name of a native set."""
    if isinstance(features, str) and is_import_string(features):
        return own_features(load_object(features, "features"))
    return features if isinstance(features, str) else own_features(features)


def inputs_of(features: Features) -> int:
    """Numbers in an observation."""
    return int(observation_space(own_or_native(features)).shape[0])  # type: ignore[index]
