"""A program and everything that it starts, ended together."""

import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ccgym.envs.errors import OutsideError

from .termination import holding_signals

POLL_S = 0.01
TERMINATION_S = 5.0

_LAST_WORDS = re.compile(r"^Died on .*: process exited with failure status \d+$|^iperf3: exiting$")
"""What mahimahi's shells and iperf3 add below the reason."""


class ProcessGroup:
    """A running command in a session of its own, its output in two files; as a context, it ends with it."""

    def __init__(self, argv: list[str], folder: Path, name: str, *, told: bool = False) -> None:
        """`told`: the command reads what `tell` writes; otherwise its input is empty."""
        self.name = name
        self.folder = folder
        self._stdout, self._stderr = folder / f"{name}.out", folder / f"{name}.err"
        with self._stdout.open("wb") as stdout, self._stderr.open("wb") as stderr:
            self._process = _started(
                argv,
                stdin=subprocess.PIPE if told else subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                cwd=folder,
                env={**os.environ, "TMPDIR": str(folder)},  # the user's own may be closed to another one
            )

    def __enter__(self) -> "ProcessGroup":
        return self

    def __exit__(self, *failure: Any) -> None:
        self.stop()

    @property
    def pid(self) -> int:
        """Of the command, and of its process group."""
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        """None while it runs."""
        return self._process.poll()

    def tell(self, line: str) -> None:
        """Writes a line to its input; no error if it has ended."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{line}\n".encode())
            self._process.stdin.flush()
        except BrokenPipeError:
            return

    def wait(self, timeout_s: float) -> int:
        """The exit code.

        Raises:
            OutsideError: it still runs after `timeout_s`.
        """
        try:
            return self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            raise OutsideError(f"{self.name} still runs after {timeout_s:.0f} s") from None

    def complaint(self) -> str:
        """The last line it printed on stderr, or else on stdout: why it failed."""
        for output in (self._stderr, self._stdout):
            lines = [line.strip() for line in output.read_text(errors="replace").splitlines()]
            reasons = [line for line in lines if line and not _LAST_WORDS.search(line)]
            if reasons:
                return reasons[-1]
        return "no message"

    def stop(self) -> None:
        """Ends the group: asked first, so that each program undoes what it set up, then killed.

        Raises:
            OutsideError: the command does not end: it hangs in the kernel, or may not be killed.
        """
        for request in (signal.SIGTERM, signal.SIGKILL):
            if self._ends_after(request):
                break
        self.wait(TERMINATION_S)
        if self._process.stdin is not None:
            with suppress(BrokenPipeError):
                self._process.stdin.close()

    def _ends_after(self, request: int) -> bool:
        deadline = time.monotonic() + TERMINATION_S
        self._signal(request)
        while self._signal(0):
            if time.monotonic() > deadline:
                return False
            time.sleep(POLL_S)
        return True

    def _signal(self, number: int) -> bool:
        """Signals the group; False once it has no process left."""
        self._process.poll()
        try:
            os.killpg(self.pid, number)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True  # what is left runs as root: a shell's name server, which ends with its shell
        return True


def _started(argv: list[str], **options: Any) -> "subprocess.Popen[bytes]":
    """Starts the leader of a new group; if a signal ends this process meanwhile, nothing is left running."""
    process = None
    try:
        with holding_signals():
            process = subprocess.Popen(argv, start_new_session=True, **options)
    except BaseException:
        if process is not None:
            kill_group(process.pid)
            process.wait()
        raise
    return process


@contextmanager
def running_in_group(argv: Sequence[str], **options: Any) -> Iterator["subprocess.Popen[str]"]:
    """A program that reads and writes text, and leads a group; as the context is left, that is killed.

    Args:
        argv: what to run.
        options: of `subprocess.Popen`.
    """
    process = None
    try:
        with holding_signals():
            process = subprocess.Popen(argv, text=True, start_new_session=True, **options)
        yield process
    finally:
        if process is not None:
            kill_group(process.pid)
            with process:  # closes its pipes, and waits for it
                pass


def kill_group(leader: int) -> None:
    """Kills a program that leads its group and all it has started; no error if it has ended already."""
    with suppress(ProcessLookupError):
        os.killpg(leader, signal.SIGKILL)
