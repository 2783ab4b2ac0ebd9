"""Episodes of a dataset: runs of schemes as an agent of `ccgym/Path-v0` would have made them.

Observations are its raw features, actions its window and rate, rewards Copa's utility.
"""

import hashlib
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from zipfile import BadZipFile, ZipFile

import numpy as np
from ccgym.envs import _core
from ccgym.envs.errors import InputError, OutsideError, excerpt
from ccgym.envs.gym.rewards import REWARDS
from ccgym.envs.outside_files import opened
from ccgym.envs.specs.emulator_spec import EmulatorSpec
from ccgym.envs.specs.emulators import NamedEmulator
from ccgym.envs.specs.link_spec import DATA_IP_BYTES
from ccgym.evaluation.schemes import Scheme
from ccgym.evaluation.sessions.session import PlannedRun
from ccgym.oracle.ideal import STEP_MS, ideal_windows
from ccgym.oracle.preference import DEFAULT_PREFERENCE
from numpy.typing import NDArray

Array = NDArray[np.float32]

STEPS = 1000
"""The most steps of an episode, as of the environment."""
MOST_SECONDS = 30.0
"""The longest time of a run: one with long silences has fewer steps."""
REWARD = "copa"
RAW_FEATURES: list[str] = _core.RAW_FEATURES


@dataclass(frozen=True)
class Episode:
    """One run of n steps; of a flow that has not decided once in its time all is empty."""

    observations: Array
    """(n + 1, features): before each action, and at the end."""
    actions: Array
    """(n, 2): window in packets, pacing rate in Mbit/s."""
    rewards: Array
    """(n,)"""
    oracle_cwnd_packets: Array
    """(n + 1,): the ideal window at each observation; NaN where the closed forms have none."""

    def __post_init__(self) -> None:
        steps = len(self.actions)
        seen = steps + 1 if len(self.observations) else 0
        wanted = ((seen, len(RAW_FEATURES)), (steps, 2), (steps,), (seen,))
        shapes = tuple(array.shape for array in self.arrays)
        if shapes != wanted:
            raise ValueError(f"arrays of shapes {shapes}, should be {wanted}")

    @property
    def arrays(self) -> tuple[Array, Array, Array, Array]:
        """The four arrays, in the order above."""
        return self.observations, self.actions, self.rewards, self.oracle_cwnd_packets


def record_episodes(emulator: NamedEmulator, schemes: list[Scheme], seed: int) -> list[Episode]:
    """Runs an episode of each scheme, all over the same draw of the emulator.

    Raises:
        OutsideError: a controller from outside failed.
    """
    spec, run_seed = draw_of(emulator, schemes, seed)
    path, windows = spec.to_path(), _oracle_windows(spec)
    episodes = []
    for scheme in schemes:
        try:
            flat = _core.record_steps(
                path, scheme.controller, decisions=STEPS + 1, most_seconds=MOST_SECONDS, seed=run_seed
            )
        except RuntimeError as error:
            raise OutsideError(f"{error} (on {emulator.label})") from error
        episodes.append(_episode(*flat, windows, spec))
    return episodes


def draw_of(emulator: NamedEmulator, schemes: list[Scheme], seed: int) -> tuple[EmulatorSpec, int]:
    """The draw of an emulator that all schemes run over, and its seed."""
    run_seed = PlannedRun(emulator, schemes[0], 1).seed(seed)
    return emulator.spec.drawn(run_seed), run_seed


def _episode(observed: Array, decided: Array, windows: Array, spec: EmulatorSpec) -> Episode:
    observations, actions = observed.reshape(-1, len(RAW_FEATURES)), decided.reshape(-1, 2)
    times = (observations[:, RAW_FEATURES.index("time_ms")] / STEP_MS).astype(np.int64)
    return Episode(observations, actions[:-1], _rewards(observations[1:], spec), windows[times])


def _rewards(observations: Array, spec: EmulatorSpec) -> Array:
    """Rewards of the steps that end with these observations; as the environment's, up to float32."""
    column = {name: observations[:, index].astype(np.float64) for index, name in enumerate(RAW_FEATURES)}
    info = {
        "throughput_mbps": 0.008
        * DATA_IP_BYTES
        * column["acked_packets"]
        / np.maximum(column["step_ms"], 1e-6),
        "delay_ms": column["mean_rtt_ms"],
    }
    rtt_ms = np.full(len(observations), max(2.0 * spec.delay_ms, 1.0))
    return REWARDS[REWARD](info, np.ones(len(observations)), rtt_ms).astype(np.float32)


def _oracle_windows(spec: EmulatorSpec) -> Array:
    """The ideal windows of a run in packets, one for each STEP_MS; NaN if the oracle knows none."""
    steps = int(1000 * MOST_SECONDS / STEP_MS) + 1
    try:
        return ideal_windows(spec, DEFAULT_PREFERENCE, steps).astype(np.float32)
    except InputError:
        return np.full(steps, np.nan, np.float32)


def write_episodes(path: Path, episodes: list[Episode]) -> None:
    """Writes the episodes of one emulator."""
    arrays = {
        f"{name}_{index}": array
        for index, episode in enumerate(episodes)
        for name, array in zip("oarw", episode.arrays, strict=True)
    }
    with path.open("wb") as stream:
        np.savez(stream, **arrays)  # type: ignore[arg-type]  # the keywords are arrays


def read_episodes(path: Path, count: int) -> Iterator[Episode]:
    """Reads what `write_episodes` wrote. Raises InputError: the file is something else."""
    with _archive(path) as stream, np.load(stream, allow_pickle=False) as arrays:
        if len(arrays.files) != 4 * count:
            raise ValueError(f"holds {len(arrays.files)} arrays, should hold 4 of each of {count} episodes")
        for index in range(count):
            yield Episode(*(arrays[f"{name}_{index}"] for name in "oarw"))


def count_bytes(path: Path) -> list[int]:
    """The size of each array that `write_episodes` wrote. Raises InputError if the file is something else."""
    with _archive(path) as stream, ZipFile(stream) as archive:
        return [part.file_size for part in archive.infolist()]


@contextmanager
def _archive(path: Path) -> Iterator[IO[bytes]]:
    try:
        with opened(path, "the episodes") as stream:
            yield stream
    except InputError:
        raise
    except (ValueError, KeyError, EOFError, BadZipFile, zlib.error, NotImplementedError) as error:
        raise InputError(f"{path}: damaged: {excerpt(error)}: delete it and repeat the command") from None


def add_to_digest(digest: "hashlib._Hash", episode: Episode) -> None:
    """A digest of the episodes: equal digests mean equal episodes."""
    for array in episode.arrays:
        digest.update(f"{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
