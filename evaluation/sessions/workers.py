"""Runs in virtual time on all cores, in worker processes: if one crashes, only its run is lost."""

import io
import multiprocessing
import os
import signal
import sys
import time
from collections import deque
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext, suppress
from multiprocessing.connection import Connection, wait
from pathlib import Path

from ccgym.envs.host.memory import limit_own_memory, outside_code_limited
from ccgym.envs.host.termination import end_with_parent, starting_deaf_to_interrupts
from ccgym.evaluation.backends.make_backend import make_backend

from .session import Outcome, Plan, PlannedRun, carry_out, failed, log_bytes

STALL_S = 60.0
"""A run stalls if it takes so much more processor time than its length in virtual time."""
STALL_FACTOR = 10.0
"""Real time may exceed the limit of processor time by this factor, as it does on a busy machine."""
EXIT_S = 10.0
"""How long to wait for the exit code of a worker that has closed its connection."""
PATIENCE_S = 2.0
"""So long one worker runs alone: several take a second to start, so a short plan is done sooner by one."""
POLL_S = 0.5
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_CONTEXT = multiprocessing.get_context("spawn")


class _Worker:
    """A process that runs one run after the other."""

    def __init__(self, plan: Plan, folder: Path, workers: int) -> None:
        """Starts the process. `workers`: number of processes that share the free memory."""
        self._plan, self._folder = plan, folder
        self.connection, theirs = _CONTEXT.Pipe()
        self._process = _CONTEXT.Process(target=_serve, args=(theirs, plan, folder, workers), daemon=True)
        with starting_deaf_to_interrupts():
            self._process.start()
        theirs.close()
        self._planned: PlannedRun | None = None
        self._limit_s = plan.seconds + STALL_S
        self._since_s = self._since_cpu_s = self._awake_s = 0.0

    def give(self, planned: PlannedRun) -> None:
        """Starts a run in the worker."""
        self._planned = planned
        self._since_s, self._awake_s = time.monotonic(), 0.0
        self._since_cpu_s = self._processor_use()[1]
        self.connection.send(planned)

    def outcome(self) -> Outcome | None:
        """The outcome of the run, or None while it runs. Ends a worker that crashed or stalls."""
        assert self._planned is not None
        try:
            if self.connection.poll():
                outcome: Outcome = self.connection.recv()
                return outcome
        except (EOFError, OSError):
            wait([self._process.sentinel], EXIT_S)
            self._end_group()
            return self._failed(f"crashed: {_how_it_ended(self._process.exitcode)}")
        lasted_s = time.monotonic() - self._since_s
        asleep, cpu_s = self._processor_use()
        if not asleep:
            self._awake_s = lasted_s
        if lasted_s - self._awake_s > self._limit_s:
            self.end()
            return self._failed(f"stalled: asleep for {self._limit_s:.0f} s")
        if lasted_s > self._limit_s and (
            cpu_s - self._since_cpu_s > self._limit_s or lasted_s > STALL_FACTOR * self._limit_s
        ):
            self.end()
            return self._failed(f"stalled: no end after {self._limit_s:.0f} s of processor time")
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

    def _failed(self, reason: str) -> Outcome:
        assert self._planned is not None
        return failed(self._planned, self._planned.files(self._folder), reason)

    @property
    def alive(self) -> bool:
        """Whether the worker can take another run."""
        return self._process.is_alive()

    def end(self) -> None:
        """Ends the worker at once, and what its controllers have started."""
        self._end_group()
        self.connection.close()


def run_in_workers(plan: Plan, folder: Path, planned_runs: list[PlannedRun]) -> Iterator[Outcome]:
    """Runs the planned runs on all cores and yields outcomes as they are ready; see `run_session`."""
    waiting, busy = deque(planned_runs), list[_Worker]()
    cores = len(os.sched_getaffinity(0))
    patient_until_s = time.monotonic() + PATIENCE_S

    def begin(worker: _Worker) -> None:
        worker.give(waiting.popleft())
        busy.append(worker)

    try:
        while waiting or busy:
            wanted = 1 if time.monotonic() < patient_until_s else cores
            while waiting and len(busy) < wanted:
                begin(_Worker(plan, folder, min(cores, len(planned_runs))))
            wait([worker.connection for worker in busy], timeout=POLL_S)
            for worker in list(busy):
                if (outcome := worker.outcome()) is None:
                    continue
                busy.remove(worker)
                if worker.alive and waiting:
                    begin(worker)
                elif worker.alive:
                    worker.end()
                yield outcome
    finally:
        for worker in busy:
            worker.end()


def _serve(connection: Connection, plan: Plan, folder: Path, workers: int) -> None:
    """The worker's side: runs what it receives until the connection is closed."""
    os.setpgid(0, 0)  # with all that controllers start
    limit_own_memory(1 / workers)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if (parent := multiprocessing.parent_process()) is not None:
        end_with_parent(parent.pid or 0)
    _show_what_controllers_print()
    backend = make_backend(plan.backend)
    while True:
        try:
            planned: PlannedRun = connection.recv()
        except EOFError:
            return
        try:
            with _limited(plan, planned):
                outcome = carry_out(plan, folder, planned, backend)
        except KeyboardInterrupt:  # raised by a controller: Ctrl-C reaches no worker
            outcome = failed(planned, planned.files(folder), "a controller raised KeyboardInterrupt")
        connection.send(outcome)


def _limited(plan: Plan, planned: PlannedRun) -> AbstractContextManager[None]:
    """Limits the memory of a run with code from outside; other runs have the worker's share."""
    if not planned.scheme.has_outside_code:
        return nullcontext()
    return outside_code_limited(log_bytes(planned.emulator.spec, plan.seconds))


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
