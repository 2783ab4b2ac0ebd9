"""What the environments cost: steps per second with Python, observations and auto-reset, and memory."""

import resource
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
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
PATH = EmulatorSpec(name="path", delay_ms=20, uplink=LinkSpec(rate_mbps=12.0, queue="droptail", packets=40))


def cases(rounds: int) -> Iterator[Case]:
    """One thread, then two beside it; then ten thousand environments in this process."""
    rates = medians_in_turns(
        {"one": lambda: _steps_per_second(1), "two": lambda: _steps_per_second(2)}, rounds
    )
    yield Case(f"env, batch of {BATCH} at 12 Mbit/s", rates["one"], "steps/s")
    one_thread = Yardstick("one thread", rates["one"])
    yield Case(f"env, batch of {BATCH} at 12 Mbit/s, two threads", rates["two"], "steps/s", 2, one_thread)
    kilobytes, many_rate = _many_environments()
    yield Case(f"env, memory of one of {MANY_ENVIRONMENTS:,}", kilobytes, "kB")
    yield Case(f"env, batch of {MANY_ENVIRONMENTS:,} at 12 Mbit/s", many_rate, "steps/s", 1, one_thread)


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
