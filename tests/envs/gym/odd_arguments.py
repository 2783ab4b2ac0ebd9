"""A generator of odd arguments for the Python API, and the promise that each works or is refused.

Refused is: `InputError` in one short line, `ValueError`, `TypeError`, of the binding also `RuntimeError` and
`IndexError`, or an error of Gymnasium's own. Anything else is a finding, a crash of the process
above all, which is why the cases run in one of their own.
"""

import json
import multiprocessing
import resource
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from ccgym.envs import _core
from ccgym.envs.errors import InputError
from ccgym.envs.gym.registration import PATH_ENV_ID, register_environments
from ccgym.envs.specs.emulators import select_emulators

MOST_CHARACTERS = 300
MOST_BYTES = 1 << 30
MOST_CPU_SECONDS = 10
MOST_SECONDS_OF_ONE = 60
"""Of one that waits for ever, which takes no time of the processor."""
ODD: tuple[Any, ...] = (
    None, True, False, -1, 0, 1, 2, 3.5, -0.0, 1e-320, 1e308, float("nan"), float("inf"), -float("inf"),
    10**9, 2**31, 2**63, 2**64 - 1, 2**64, 10**30, -(10**30), "", "nothing", "-1", "all", "calibrated",
    "calibrated/indai", "random:0", "random:1000000000", "file:/dev/zero", "file:", "a" * 300, "\0",
    "\ud800", "a\nb", b"india", [], {}, (), set(), [None], [[]], ["calibrated/india", 3], {"name": "x"},
    {"rate_mbps": 5}, object(), object, len, lambda: None, np.zeros(0), np.array(5), np.array([np.nan]),
    np.array(["india"]), [float("nan")], [1e308], range(3), 1j, "rgb_array", "human", "mahimahi", "power",
    "vector", "raw", "scale_free", "rate", "window", "window_and_rate", "log_window", "SameStep", "Disabled",
)  # fmt: skip
KEYWORDS = ("emulator", "features", "actions", "companion", "reward", "oracle_cwnd_packets", "render_mode")
BATCH_KEYWORDS = (*KEYWORDS, "num_envs", "threads", "autoreset_mode", "max_episode_steps")
NATIVE_KEYWORDS = ("features", "actions", "step_ms", "initial_cwnd_packets", "min_cwnd_packets",
                   "max_cwnd_packets", "companion", "threads")  # fmt: skip

Rng = np.random.Generator


def an_odd_one(rng: Rng) -> Any:
    """A value, or an array."""
    return odd_array(rng) if rng.random() < 0.3 else ODD[int(rng.integers(len(ODD)))]


def odd_array(rng: Rng) -> Any:
    """Of any type, shape, order and content."""
    shapes = [(), (0,), (1,), (2,), (3,), (2, 0), (2, 1), (1, 2), (2, 2), (2, 9), (9, 2), (2, 24), (2, 1, 1)]
    kinds = ["f4", "f8", "i4", "i8", "u8", "u4", "?", "f2", ">f4", "c8", "O"]
    contents = [0, 1, -1, 5, 1e30, np.nan, np.inf, -np.inf, 2**31 - 1]
    shape, kind = shapes[int(rng.integers(len(shapes)))], kinds[int(rng.integers(len(kinds)))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        values = np.full(shape, contents[int(rng.integers(len(contents)))]).astype(kind)
    if rng.random() < 0.2:
        values.flags.writeable = False
    return values.T if rng.random() < 0.2 else values


def _keywords(rng: Rng, names: tuple[str, ...], good: dict[str, Any]) -> dict[str, Any]:
    chosen = rng.choice(names, size=int(rng.integers(0, 3)), replace=False)
    odd = {str(name): an_odd_one(rng) for name in chosen}
    # Gymnasium itself looks into the mode of rendering.
    return {**good, **{name: str(value) if name == "render_mode" else value for name, value in odd.items()}}


def _used(env: Any, rng: Rng, works: Callable[[], None]) -> None:
    """An episode's beginning, with odd seeds and actions among good ones."""
    try:
        env.reset(seed=3)
        if rng.random() < 0.3:
            env.reset(seed=an_odd_one(rng), options=an_odd_one(rng))
        env.step(env.action_space.sample())
        works()
        env.step(an_odd_one(rng))
    finally:
        env.close()


def single(rng: Rng, works: Callable[[], None]) -> None:
    """`gymnasium.make`."""
    keywords = _keywords(rng, KEYWORDS, {"emulator": "calibrated/nepal"})
    _used(gymnasium.make(PATH_ENV_ID, disable_env_checker=True, **keywords), rng, works)


def batch(rng: Rng, works: Callable[[], None]) -> None:
    """`gymnasium.make_vec`."""
    good = {"emulator": "calibrated/nepal", "num_envs": 2, "threads": 2}
    _used(gymnasium.make_vec(PATH_ENV_ID, **_keywords(rng, BATCH_KEYWORDS, good)), rng, works)


def native(rng: Rng, works: Callable[[], None]) -> None:
    """`PathBatch` with arrays of the wrong kind."""
    path = select_emulators("calibrated/nepal")[0].spec.to_path()
    good = {"features": "indigo", "actions": "indigo"}
    paths = [path, path] if rng.random() < 0.8 else an_odd_one(rng)
    records = _core.PathBatch(paths, **_keywords(rng, NATIVE_KEYWORDS, good))
    observations = np.zeros((2, 9), np.float32)
    telemetry = np.zeros((2, len(_core.TELEMETRY)), np.float64)
    indices, seeds = np.arange(2, dtype=np.int32), np.arange(2, dtype=np.uint64)

    def mostly(good_one: Any) -> Any:
        return good_one if rng.random() < 0.7 else an_odd_one(rng)

    calls: list[Callable[[], object]] = [
        lambda: records.reset(mostly(indices), mostly(seeds), mostly(observations)),
        lambda: records.step(mostly(np.ones((2, 1), np.float32)), mostly(observations), mostly(telemetry)),
        lambda: records.set_path(mostly(0), mostly(path)),
        lambda: records.set_cwnd(mostly(1), mostly(20.0)),
        lambda: records.restore(mostly(records.save())),
    ]
    for _ in range(6):
        try:
            calls[int(rng.integers(len(calls)))]()
            works()
        except (ValueError, TypeError, RuntimeError, IndexError):
            continue  # what was refused leaves the batch as it was


KINDS = (single, batch, native)


def findings(seeds: range, folder: Path) -> tuple[list[str], set[str]]:
    """Of these cases, in a process of their own with notes in `folder`; and the kinds that have run."""
    process = multiprocessing.get_context("forkserver").Process(target=_run, args=(seeds, folder))
    process.start()
    process.join(MOST_SECONDS_OF_ONE * len(seeds))
    process.kill()
    process.join()
    found: list[str] = json.loads((folder / "found").read_text())
    if process.exitcode:
        found.append(f"case {(folder / 'case').read_text()} ends the process: {process.exitcode}")
    return found, {file.name for file in (folder / "working").iterdir()}


def _run(seeds: range, folder: Path) -> None:
    register_environments()
    warnings.simplefilter("ignore")
    found: list[str] = []
    (folder / "found").write_text("[]")
    (folder / "working").mkdir()
    for seed in seeds:
        (folder / "case").write_text(str(seed))
        before = resource.getrusage(resource.RUSAGE_SELF)
        resource.setrlimit(
            resource.RLIMIT_CPU, (int(before.ru_utime + before.ru_stime) + MOST_CPU_SECONDS + 1, -1)
        )
        offence = _offence(seed, folder / "working")
        used_bytes = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before.ru_maxrss)
        if used_bytes > MOST_BYTES:
            offence = f"took {used_bytes >> 20} MB"
        if offence is not None:
            found.append(f"case {seed}: {offence}")
            (folder / "found").write_text(json.dumps(found))


def _offence(seed: int, working: Path) -> str | None:
    rng = np.random.default_rng(seed)
    kind = KINDS[int(rng.integers(len(KINDS)))]
    try:
        kind(rng, lambda: working.joinpath(kind.__name__).touch())
    except InputError as error:
        line = str(error)
        return line[:1000] if len(line) > MOST_CHARACTERS or "\n" in line else None
    except (ValueError, TypeError, gymnasium.error.Error):
        return None
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None
