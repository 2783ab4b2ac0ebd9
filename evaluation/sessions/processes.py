"""Tasks in worker processes: if one crashes or stalls, only its task is lost."""

import io
import multiprocessing
import os
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Generic, TypeVar

from ccgym.envs.errors import is_of_system
from ccgym.envs.host.memory import limit_own_memory
from ccgym.envs.host.termination import end_with_parent, starting_deaf_to_interrupts

STALL_FACTOR = 10.0
"""Real time may exceed the limit of processor time by this factor, as it does on a busy machine."""
EXIT_S = 10.0
"""How long to wait for the exit code of a worker that has closed its connection."""
PATIENCE_S = 2.0
"""So long one worker runs alone: several take a second to start, so short work is done sooner by one."""
POLL_S = 0.5
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_CONTEXT = multiprocessing.get_context("spawn")

Task = TypeVar("Task")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Lost:
    """In place of the result of a task that has none."""

    reason: str


@dataclass(frozen=True)
class Work(Generic[Task, Result]):
    """What the workers do."""

    begin: Callable[..., Callable[[Task], Result]]
    """Is called once in each worker, with `args`; returns what carries out a task. Can be pickled."""
    args: tuple[Any, ...]
    limit_s: float
    """A task stalls if it takes more processor time than this."""


class Worker(Generic[Task, Result]):
    """A process that carries out one task after the other."""

    def __init__(self, work: Work[Task, Result], workers: int) -> None:
        """Starts the process. `workers`: number of processes that share the free memory."""
        self._limit_s = work.limit_s
        self.connection, theirs = _CONTEXT.Pipe()
        self._process = _CONTEXT.Process(target=_serve, args=(theirs, work, workers), daemon=True)
        with starting_deaf_to_interrupts():
            self._process.start()
        theirs.close()
        self._since_s = self._since_cpu_s = self._awake_s = 0.0

    def give(self, task: Task) -> None:
        """Starts a task in the worker."""
        self._since_s, self._awake_s = time.monotonic(), 0.0
        self._since_cpu_s = self._processor_use()[1]
        self.connection.send(task)

    def result(self) -> Result | Lost | None:
        """The result of the task, or None while it runs. Ends a worker that crashed or stalls."""
        try:
            if self.connection.poll():
                result: Result | Lost = self.connection.recv()
                return result
        except (EOFError, OSError):
            wait([self._process.sentinel], EXIT_S)
            self._end_group()
            return Lost(f"crashed: {_how_it_ended(self._process.exitcode)}")
        lasted_s = time.monotonic() - self._since_s
        asleep, cpu_s = self._processor_use()
        if not asleep:
            self._awake_s = lasted_s
        if lasted_s - self._awake_s > self._limit_s:
            self.end()
            return Lost(f"stalled: asleep for {self._limit_s:.0f} s")
        if lasted_s > self._limit_s and (
            cpu_s - self._since_cpu_s > self._limit_s or lasted_s > STALL_FACTOR * self._limit_s
        ):
            self.end()
            return Lost(f"stalled: no end after {self._limit_s:.0f} s of processor time")
        return None

    def _end_group(self) -> None:
        """Ends the worker and what its controllers have started; it has no group before it has begun."""
        assert self._process.pid
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.kill()
        self._process.join()

    def _processor_use(self) -> tuple[bool, float]:
        """Whether the worker is asleep, and its processor time in s; (False, 0) if it has ended."""
        try:
            fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return False, 0.0
        return fields[0] == "S", (int(fields[11]) + int(fields[12])) / _TICKS_PER_S

    @property
    def alive(self) -> bool:
        """Whether the worker can take another run."""
        return self._process.is_alive()

    def end(self) -> None:
        """Ends the worker at once, and what its controllers have started."""
        self._end_group()
        self.connection.close()


def run_in_processes(
    work: Work[Task, Result], tasks: Sequence[Task], most_workers: int
) -> Iterator[tuple[Task, Result | Lost]]:
    """Carries out the tasks and yields their results as they are ready."""
    waiting, busy = deque(tasks), dict[Worker[Task, Result], Task]()
    patient_until_s = time.monotonic() + PATIENCE_S

    def begin(worker: Worker[Task, Result]) -> None:
        busy[worker] = task = waiting.popleft()
        worker.give(task)

    try:
        while waiting or busy:
            wanted = 1 if time.monotonic() < patient_until_s else most_workers
            while waiting and len(busy) < wanted:
                begin(Worker(work, min(most_workers, len(tasks))))
            wait([worker.connection for worker in busy], timeout=POLL_S)
            for worker, task in list(busy.items()):
                if (result := worker.result()) is None:
                    continue
                del busy[worker]
                if worker.alive and waiting:
                    begin(worker)
                elif worker.alive:
                    worker.end()
                yield task, result
    finally:
        for worker in busy:
            worker.end()


def _serve(connection: Connection, work: Work[Any, Any], workers: int) -> None:
    """The worker's side: carries out what it receives until the connection is closed."""
    os.setpgid(0, 0)  # with all that controllers start
    limit_own_memory(1 / workers)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if (parent := multiprocessing.parent_process()) is not None:
        end_with_parent(parent.pid or 0)
    _show_what_controllers_print()
    carry_out = work.begin(*work.args)
    while True:
        try:
            task = connection.recv()
        except EOFError:
            return
        try:
            result = carry_out(task)
        except KeyboardInterrupt:  # raised by a controller: Ctrl-C reaches no worker
            result = Lost("a controller raised KeyboardInterrupt")
        except OSError as error:  # not even the reason of a failure could be written
            if not is_of_system(error):
                raise
            result = Lost(str(error))
        connection.send(result)


def _show_what_controllers_print() -> None:
    """Sends stdout to stderr: what controllers print is not output of the command.

    Line by line, because a buffer is lost if the worker is killed.
    """
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)


def _how_it_ended(code: int | None) -> str:
    if code is None or code >= 0:
        return f"exit code {code}"
    return signal.Signals(-code).name
