"""What the environments cost: steps per second with Python, observations and auto-reset, memory, copies."""

import pickle
import resource
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from ccgym.envs import _core
from ccgym.envs.gym.engine.path_engine import EpisodeState
from ccgym.envs.gym.path_env import PathEnv
from ccgym.envs.gym.vector_env import PathVectorEnv
from ccgym.envs.specs.emulator_spec import EmulatorSpec
from ccgym.envs.specs.link_spec import LinkSpec

from .case import Case, Yardstick, medians_in_turns

BATCH = 256
STEPS = 400
EPISODE_STEPS = 150  # ends fall into every measurement
STAY = 2
MANY_ENVIRONMENTS = 10_000
MANY_STEPS = 5
COPIES = 1_000
DELAY_MS = 20
IN_THE_AIR = 100
SAVED_STEPS = 1_000
PATH = EmulatorSpec(
    name="path", delay_ms=DELAY_MS, uplink=LinkSpec(rate_mbps=12.0, queue="droptail", packets=40)
)


def cases(rounds: int) -> Iterator[Case]:
    """One thread, then two beside it; ten thousand environments in this process; a run that is copied."""
    rates = medians_in_turns(
        {"one": lambda: _steps_per_second(1), "two": lambda: _steps_per_second(2)}, rounds
    )
    yield Case(f"env, batch of {BATCH} at 12 Mbit/s", rates["one"], "steps/s")
    one_thread = Yardstick("one thread", rates["one"])
    yield Case(f"env, batch of {BATCH} at 12 Mbit/s, two threads", rates["two"], "steps/s", 2, one_thread)
    kilobytes, many_rate = _many_environments()
    yield Case(f"env, memory of one of {MANY_ENVIRONMENTS:,}", kilobytes, "kB")
    yield Case(f"env, batch of {MANY_ENVIRONMENTS:,} at 12 Mbit/s", many_rate, "steps/s", 1, one_thread)
    yield from _copies(rounds)


def _steps_per_second(threads: int) -> float:
    """Of the wall clock with two threads, of the processor with one."""
    clock = time.process_time if threads == 1 else time.perf_counter
    envs = PathVectorEnv(BATCH, EPISODE_STEPS, emulator=PATH, threads=threads)
    envs.reset(seed=1)
    stay = np.full(BATCH, STAY)
    start = clock()
    for _ in range(STEPS):
        envs.step(stay)
    return BATCH * STEPS / (clock() - start)


def _many_environments() -> tuple[float, float]:
    """By how much the process grows with each, and their steps per second of the processor."""
    before = _resident_kilobytes()
    envs = PathVectorEnv(MANY_ENVIRONMENTS, emulator=PATH)
    envs.reset(seed=1)
    stay = np.full(MANY_ENVIRONMENTS, STAY)
    start = time.process_time()
    for _ in range(MANY_STEPS):
        envs.step(stay)
    rate = MANY_ENVIRONMENTS * MANY_STEPS / (time.process_time() - start)
    return (_resident_kilobytes() - before) / MANY_ENVIRONMENTS, rate


def _resident_kilobytes() -> float:
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / 1e3


def _copies(rounds: int) -> Iterator[Case]:
    """A copy of a run that goes on, and going back to a place beside running there again."""
    env = PathEnv(emulator=PATH)
    env.reset(seed=1)
    for _ in range(SAVED_STEPS):
        env.step(STAY)
    saved = env.save_state()
    replayed = pickle.loads(pickle.dumps(saved))  # without the copy: its actions lead back there
    us = medians_in_turns(
        {
            "copy": lambda: _us_per_copy(_in_mid_air()),
            "restore": lambda: _us_to_restore(env, saved, COPIES),
            "replay": lambda: _us_to_restore(env, replayed, 1),
        },
        rounds,
    )
    yield Case(f"env, copy of a flow with {IN_THE_AIR} packets in flight", us["copy"], "us")
    replaying = Yardstick("steps run again", us["replay"])
    yield Case(f"env, restore_state after {SAVED_STEPS:,} steps", us["restore"], "us", 1, replaying)


def _in_mid_air() -> _core.PathBatch:
    """One flow whose window is in flight."""
    path = EmulatorSpec(name="wide", delay_ms=DELAY_MS, uplink=LinkSpec(rate_mbps=100.0)).to_path()
    batch = _core.PathBatch(
        [path], features="indigo", actions="indigo", initial_cwnd_packets=float(IN_THE_AIR)
    )
    batch.reset(
        np.zeros(1, np.int32), np.zeros(1, np.uint64), np.zeros((1, batch.observation_size), np.float32)
    )
    return batch


def _us_per_copy(batch: _core.PathBatch) -> float:
    start_ns = time.process_time_ns()
    for _ in range(COPIES):
        batch.save()
    return (time.process_time_ns() - start_ns) / COPIES / 1e3


def _us_to_restore(env: PathEnv, state: EpisodeState, times: int) -> float:
    start_ns = time.process_time_ns()
    for _ in range(times):
        env.restore_state(state)
    return (time.process_time_ns() - start_ns) / times / 1e3
