"""Makes a dataset of runs on all cores; after an interruption it goes on.

    DIR/dataset.json           what was asked, and what ran
    DIR/flights/00000.npz ...  the episodes of one emulator each, until all are there
    DIR/data/                  the Minari dataset: main_data.hdf5, metadata.json

The same request gives the same episodes in the same order, whatever the number of threads.
"""

import copy
import errno
import hashlib
import json
import os
import shutil
import tempfile
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ccgym.envs  # noqa: F401  registers the environments
import gymnasium
import numpy as np
from ccgym.envs.errors import InputError
from ccgym.envs.host.folder_lock import folder_lock
from ccgym.envs.outside_files import absolute, read_json, replace_file
from ccgym.envs.specs.digest import spec_digest
from ccgym.envs.specs.emulators import EmulatorSpec, NamedEmulator, select_emulators
from ccgym.evaluation.schemes import IN_TWIN, Scheme
from ccgym.evaluation.sessions.executors import check_travels, open_executor, policies_of, with_policies
from gymnasium.envs.registration import EnvSpec

from .episodes import (
    MOST_SECONDS,
    RAW_FEATURES,
    REWARD,
    STEPS,
    Episode,
    add_to_digest,
    count_bytes,
    draw_of,
    read_episodes,
    record_episodes,
    write_episodes,
)
from .outside_code import record_in_processes
from .references import reference_returns

DATASET_ID = "ccgym/flights-v0"
SCHEMA = 1
MOST_RUNS = 1_000_000
MOST_AT_ONCE = 200
"""Emulators whose episodes have run and are not yet written."""
_SCRATCH = ".data-"
"""Prefix of the folder in which the dataset is written."""
HDF5_BYTES = 8192
"""The most bytes that an array takes in HDF5 besides its numbers."""
LEAST_ACTION, MOST_ACTION = (1.0, 1e-3), (1e5, 1e5)
_SIGNED = {"least_one_way_ms", "arrival_interval_ms"}
"""Observations that may be below 0: the two clocks differ, or ACKs have overtaken each other."""
_NOT_HERE = "Minari is not installed: `pip install 'ccgym[dataset]'`"


@dataclass(frozen=True)
class Request:
    """The request of a dataset."""

    schemes: list[Scheme]
    emulators: list[NamedEmulator]
    selection: str
    """The emulators as the user wrote them: an environment recovered from the dataset draws from them."""
    seed: int

    def __post_init__(self) -> None:
        for scheme in self.schemes:
            if scheme.kind not in IN_TWIN:
                raise InputError(f"scheme {scheme.label!r} does not run in the twin, alone: leave it out")
        chunks = len(self.schemes) * len(self.emulators)
        if chunks > MOST_RUNS:
            raise InputError(f"{chunks} runs: a dataset has at most {MOST_RUNS}")
        for emulator in self.emulators:
            emulator.spec.check_own_flow_begins(MOST_SECONDS)
            _check_one_learner(emulator.spec)
            emulator.spec.to_path()  # raises InputError for what is not in the twin

    def describe(self) -> dict[str, Any]:
        """Digest that changes when anything would run otherwise, or in another order."""
        return {
            "schema": SCHEMA,
            "seed": self.seed,
            "schemes": [[scheme.label, scheme.fingerprint()] for scheme in self.schemes],
            "emulators": [[emulator.label, spec_digest(emulator.spec)] for emulator in self.emulators],
        }


@dataclass(frozen=True)
class Dataset:
    """A summary of what was made."""

    folder: Path
    episodes: int
    steps: int
    digest: str
    """Digest of all episodes, in order: the same for the same request."""


def make_dataset(
    request: Request,
    folder: Path,
    workers: int,
    show: Callable[[int], None],
    ray_address: str | None = None,
) -> Dataset:
    """Makes the episodes that are missing; `show` gets the number of finished emulators.

    Args:
        request: what the dataset is made of.
        folder: the dataset's folder, new or with a part of the dataset.
        workers: number of threads on this machine, or of processes for controllers from outside.
        show: is called with the number of emulators that are done.
        ray_address: address of a Ray cluster to run on instead; the episodes are the same.

    Raises:
        InputError: the folder holds something else, or Minari is not installed.
        OutsideError: a controller from outside failed.
    """
    _check_minari()
    folder = absolute(folder)  # Minari counts the bytes of absolute paths only
    if ray_address is not None:
        check_travels(request.schemes)
    policies = {} if ray_address is None else policies_of(request.schemes)
    with open_executor(ray_address, workers) as executor, folder_lock(folder):
        _open(request, folder)
        data = folder / "data"
        if not data.exists():
            _run(request, folder / "flights", show, executor, policies, workers)
            _write(request, folder, data)
        shutil.rmtree(folder / "flights", ignore_errors=True)
        return _told(data)


def _told(data: Path) -> Dataset:
    """The metadata of a Minari dataset."""
    file = data / "metadata.json"
    told: Any = read_json(file, "the dataset")
    try:
        return Dataset(data, told["total_episodes"], told["total_steps"], told["sha256"])
    except (KeyError, TypeError):
        raise InputError(f"{file}: not what ccgym writes: delete {data} and repeat the command") from None


def _check_minari() -> None:
    try:
        import h5py  # noqa: F401
        import minari  # noqa: F401
    except ImportError:
        raise InputError(_NOT_HERE) from None


def _open(request: Request, folder: Path) -> None:
    """Checks that the folder is new, or holds episodes of this request."""
    file, described = folder / "dataset.json", request.describe()
    if file.exists():
        if read_json(file, "the dataset") != described:
            raise InputError(f"{folder} holds a dataset of another request: choose another --out")
    elif any(folder.iterdir()):
        raise InputError(f"{folder} is not empty and holds no dataset to go on with: choose another --out")
    else:
        text = json.dumps(described, indent=2)
        replace_file(file, lambda fresh: fresh.write_text(text))
    (folder / "flights").mkdir(exist_ok=True)


def _chunk(chunks: Path, index: int) -> Path:
    return chunks / f"{index:05d}.npz"


def _run(
    request: Request,
    chunks: Path,
    show: Callable[[int], None],
    executor: Executor,
    policies: dict[Path, bytes],
    workers: int,
) -> None:
    left = [index for index in range(len(request.emulators)) if not _chunk(chunks, index).exists()]
    show(len(request.emulators) - len(left))
    if any(scheme.has_outside_code for scheme in request.schemes):
        emulators = {index: request.emulators[index] for index in left}
        recorded = record_in_processes(emulators, request.schemes, request.seed, workers)
    else:
        recorded = _record_in(executor, request, left, policies)
    for done, (index, episodes) in enumerate(recorded, len(request.emulators) - len(left) + 1):
        _keep(episodes, _chunk(chunks, index))
        show(done)


def _record_in(
    executor: Executor, request: Request, left: Sequence[int], policies: dict[Path, bytes]
) -> Iterator[tuple[int, list[Episode]]]:
    """Records the episodes of these emulators; yields the emulators' numbers with them as they are ready."""
    waiting, pending = deque(left), dict[Future[list[Episode]], int]()
    try:
        while waiting or pending:
            while waiting and len(pending) < MOST_AT_ONCE:
                index = waiting.popleft()
                job = (request.emulators[index], request.schemes, request.seed, policies)
                pending[executor.submit(_run_there, *job)] = index
            for future in wait(pending, return_when=FIRST_COMPLETED).done:
                yield pending.pop(future), future.result()
    finally:
        executor.shutdown(cancel_futures=True)


def _run_there(
    emulator: NamedEmulator, schemes: list[Scheme], seed: int, policies: dict[Path, bytes]
) -> list[Episode]:
    """The task of a worker: an episode of each scheme, with the policies that travel with the task."""
    with with_policies(schemes, policies) if policies else nullcontext(schemes) as travelled:
        return record_episodes(emulator, travelled, seed)


def _keep(episodes: list[Episode], file: Path) -> None:
    replace_file(file, lambda fresh: write_episodes(fresh, episodes))


def _write(request: Request, folder: Path, data: Path) -> None:
    """Writes all episodes into a Minari dataset, which is renamed to `data` once it is complete."""
    for left in folder.glob(f"{_SCRATCH}*"):  # left by a killed run: we hold the lock
        shutil.rmtree(left, ignore_errors=True)
    _check_room(folder)
    with tempfile.TemporaryDirectory(dir=folder, prefix=_SCRATCH) as scratch:
        fresh = Path(scratch) / "data"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # on metadata that is left out, as the author
            _write_minari(request, folder / "flights", fresh)
        fresh.rename(data)


def _check_room(folder: Path) -> None:
    """Raises OSError if the disk cannot hold a second copy of the episodes: HDF5 crashes on a full disk."""
    needed_bytes = 0
    for chunk in (folder / "flights").glob("*.npz"):
        needed_bytes += sum(array_bytes + HDF5_BYTES for array_bytes in count_bytes(chunk))
    if needed_bytes > shutil.disk_usage(folder).free:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder))


def _write_minari(request: Request, chunks: Path, data: Path) -> None:
    from minari import __version__
    from minari.data_collector import EpisodeBuffer
    from minari.dataset.minari_storage import MinariStorage

    storage = MinariStorage.new(data, _observation_space(), _action_space(), environment(request.selection))
    digest = hashlib.sha256()
    told: list[dict[str, object]] = []

    def buffers() -> Iterator[EpisodeBuffer]:
        for named, episode in _episodes(request, chunks):
            add_to_digest(digest, episode)
            told.append(named)
            yield EpisodeBuffer(**_columns(episode))

    storage.update_episodes(buffers())
    storage.update_episode_metadata(told)
    storage.update_metadata(
        {
            **_reference_scores(request),
            "dataset_id": DATASET_ID,
            "minari_version": __version__,
            "algorithm_name": ", ".join(scheme.label for scheme in request.schemes),
            "description": "Runs of congestion controllers over emulated paths, made by `ccgym dataset`.",
            "requirements": ["ccgym"],
            "observation_names": RAW_FEATURES,
            "action_names": ["cwnd_packets", "pacing_mbps"],
            "seed": request.seed,
            "sha256": digest.hexdigest(),
        }
    )


def _columns(episode: Episode) -> dict[str, Any]:
    """The arrays of an episode under Minari's names; its last step is a truncation."""
    steps = len(episode.actions)
    truncations = np.zeros(steps, bool)
    truncations[-1] = True
    return {
        "observations": episode.observations,
        "actions": episode.actions,
        "rewards": episode.rewards,
        "terminations": np.zeros(steps, bool),
        "truncations": truncations,
        "infos": {"oracle_cwnd_packets": episode.oracle_cwnd_packets},
    }


def _reference_scores(request: Request) -> dict[str, float]:
    """The reference returns under Minari's names; empty if the oracle knows none of the links."""
    draws = (draw_of(emulator, request.schemes, request.seed)[0] for emulator in request.emulators)
    references = reference_returns(draws, request.seed)
    if references is None:
        return {}
    return {
        "ref_min_score": references.random,
        "ref_max_score": references.oracle,
        "num_episodes_average_score": references.episodes,
    }


def _episodes(request: Request, chunks: Path) -> Iterator[tuple[dict[str, object], Episode]]:
    """All episodes with a step, emulator by emulator, with their metadata."""
    for index, emulator in enumerate(request.emulators):
        named = {
            "emulator": emulator.label,
            "emulator_digest": spec_digest(emulator.spec),
            "split": emulator.split.value if emulator.split else "",
        }
        episodes = read_episodes(_chunk(chunks, index), len(request.schemes))
        for scheme, episode in zip(request.schemes, episodes, strict=True):
            if len(episode.actions):
                yield {**named, "scheme": scheme.label}, episode


def _check_one_learner(spec: EmulatorSpec) -> None:
    """Raises InputError for several flows without a scheme: the environment of the episodes has one."""
    if spec.learners > 1:
        raise InputError(
            f"{spec.name}: flows: {spec.learners} name no scheme, and a dataset has the episodes of one; "
            "name the schemes of the others"
        )


def environment(selection: str) -> EnvSpec:
    """The environment of the episodes; it draws the emulators of `selection` equally often."""
    spec = copy.deepcopy(gymnasium.spec("ccgym/Path-v0"))
    items = [_absolute(item.strip()) for item in selection.split(",")]
    spec.kwargs |= {
        "features": "raw",
        "actions": "window_and_rate",
        "reward": REWARD,
        "emulator": {item: float(len(select_emulators(item))) for item in items},
    }
    spec.max_episode_steps = STEPS
    return spec


def _absolute(item: str) -> str:
    file = item.removeprefix("file:")
    return item if file == item else f"file:{absolute(Path(file))}"


def _observation_space() -> gymnasium.spaces.Box:
    low = [-np.inf if name in _SIGNED else 0.0 for name in RAW_FEATURES]
    return gymnasium.spaces.Box(np.array(low, np.float32), np.inf, dtype=np.float32)


def _action_space() -> gymnasium.spaces.Box:
    return gymnasium.spaces.Box(np.array(LEAST_ACTION, np.float32), np.array(MOST_ACTION, np.float32))
