"""Reference returns of a dataset, for Minari's normalised scores: of random actions, and of the oracle.

A return is the sum of the rewards of an episode.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from ccgym.envs.errors import InputError
from ccgym.envs.gym.vector_env import PathVectorEnv
from ccgym.envs.specs.emulator_spec import EmulatorSpec
from ccgym.oracle.ideal import STEP_MS, ideal_windows
from ccgym.oracle.preference import DEFAULT_PREFERENCE
from numpy.typing import NDArray

from .episodes import MOST_SECONDS, REWARD, STEPS

MOST_LINKS = 24
"""Number of links: the first ones of a dataset whose ideal windows are known."""
RANDOM_PACKETS = (2.0, 1000.0)
"""Random windows are log-uniform between these."""
NO_PACING_MBPS = 1e5
RANDOM_STREAM = 77

Windows = Callable[[NDArray[np.float64]], NDArray[np.float64]]
"""Maps the flows' times in ms to their windows in packets, shape (flows,) both."""


@dataclass(frozen=True)
class References:
    """Mean returns over `episodes` links, with one episode each."""

    random: float
    oracle: float
    episodes: int


def reference_returns(draws: Iterable[EmulatorSpec], seed: int) -> References | None:
    """The reference returns over the links of a dataset, as drawn for it; None: the oracle knows none."""
    specs, ideal = [], []
    for spec in draws:
        try:
            ideal.append(ideal_windows(spec, DEFAULT_PREFERENCE, int(1e3 * MOST_SECONDS / STEP_MS) + 1))
        except InputError:
            continue
        specs.append(spec)
        if len(specs) == MOST_LINKS:
            break
    if not specs:
        return None
    envs = PathVectorEnv(
        len(specs), STEPS, emulator=specs, features="raw", actions="window_and_rate", reward=REWARD
    )
    windows, flows = np.array(ideal), np.arange(len(specs))
    generator = np.random.default_rng([seed, RANDOM_STREAM])
    low, high = np.log(RANDOM_PACKETS)

    def at_random(times_ms: NDArray[np.float64]) -> NDArray[np.float64]:
        drawn: NDArray[np.float64] = np.exp(generator.uniform(low, high, len(times_ms)))
        return drawn

    def as_ideal(times_ms: NDArray[np.float64]) -> NDArray[np.float64]:
        place = np.minimum(times_ms / STEP_MS, windows.shape[1] - 1).astype(int)
        known: NDArray[np.float64] = windows[flows, place]
        return known

    return References(_mean_return(envs, at_random, seed), _mean_return(envs, as_ideal, seed), len(specs))


def _mean_return(envs: PathVectorEnv, windows: Windows, seed: int) -> float:
    envs.reset(seed=seed)
    times_ms, total = np.zeros(envs.num_envs), 0.0
    for _ in range(STEPS):
        action = np.stack([windows(times_ms), np.full(envs.num_envs, NO_PACING_MBPS)], axis=1)
        _, rewards, _, _, info = envs.step(action.astype(np.float32))
        times_ms, total = np.asarray(info["time_ms"], np.float64), total + float(rewards.mean())
    return total
