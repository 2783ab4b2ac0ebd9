"""Episodes of controllers from outside, recorded in worker processes: what one does ends no other work."""

import os
from collections.abc import Callable, Iterator, Mapping
from functools import partial

from ccgym.envs.errors import OutsideError
from ccgym.envs.host.memory import outside_code_limited
from ccgym.envs.specs.emulators import NamedEmulator
from ccgym.evaluation.isolation import with_memory_limit
from ccgym.evaluation.schemes import Scheme
from ccgym.evaluation.sessions.processes import Lost, Work, run_in_processes
from ccgym.evaluation.sessions.workers import STALL_S

from .episodes import MOST_SECONDS, Episode, record_episodes

Job = tuple[int, NamedEmulator, int, Scheme]
"""An emulator and a scheme, both with their numbers."""


def record_in_processes(
    emulators: Mapping[int, NamedEmulator], schemes: list[Scheme], seed: int, workers: int
) -> Iterator[tuple[int, list[Episode]]]:
    """Records an episode of each scheme on each emulator; yields each emulator's number and episodes.

    Raises:
        OutsideError: a controller failed.
    """
    work = Work(_begin, (seed,), MOST_SECONDS + STALL_S)
    jobs = [(*emulator, *scheme) for emulator in emulators.items() for scheme in enumerate(schemes)]
    recorded = {index: dict[int, Episode]() for index in emulators}
    most_workers = min(workers, len(os.sched_getaffinity(0)))  # a process takes more memory than a thread
    for (index, emulator, number, scheme), episode in run_in_processes(work, jobs, most_workers):
        if isinstance(episode, OutsideError):
            raise episode
        if isinstance(episode, Lost):
            raise OutsideError(f"{scheme.controller}: {episode.reason} (on {emulator.label})")
        recorded[index][number] = episode
        if len(recorded[index]) == len(schemes):
            of_emulator = recorded.pop(index)
            yield index, [of_emulator[each] for each in range(len(schemes))]


def _begin(seed: int) -> Callable[[Job], Episode | OutsideError]:
    return partial(_record, seed)


def _record(seed: int, job: Job) -> Episode | OutsideError:
    _, emulator, _, scheme = job
    try:
        with outside_code_limited(own_bytes=0):
            return record_episodes(emulator, [scheme], seed)[0]
    except (OutsideError, MemoryError) as error:
        return OutsideError(with_memory_limit(str(error) or f"{scheme.controller}: MemoryError"))
