"""Runs code from outside in a process of its own, which is all that it can crash.

Its output is not shown. Its memory and its time are limited.
"""

import json
import math
import os
import resource
import signal
import subprocess
import sys
import time
import traceback
from contextlib import suppress
from importlib import import_module
from select import select
from types import TracebackType
from typing import Any

from ccgym.envs.errors import InputError, OutsideError
from ccgym.envs.host.memory import OUTSIDE_CODE_MB, limit_outside_code
from ccgym.envs.host.termination import end_with_parent
from ccgym.envs.outside_files import parse_json

MOST_ANSWER_MB = 16
"""The most that is read of an answer: code from outside may write to the same pipe."""
_NO_MEMORY = ("MemoryError", "Unable to allocate", "failed to map segment", "bad_alloc", "out of memory")
"""Of Python, numpy, the loader of libraries, C++ and us."""
_NEAR_LIMIT = 0.8
_READ_BYTES = 1 << 16


class CandidateError(OutsideError):
    """Code from outside crashed, hung, took too much memory or raised an exception."""

    def __init__(self, message: str, trace: str = "") -> None:
        super().__init__(message)
        self.trace = trace
        """The traceback, if it raised an exception; otherwise empty."""


class IsolatedCall:
    """Calls a function of ours in a process of its own; argument and result are JSON.

    Used as a context manager, at whose end the process is ended.
    """

    def __init__(self, function: str, argument: object, timeout_s: float) -> None:
        """Starts the process.

        Args:
            function: "package.module:name".
            argument: any value that JSON can represent.
            timeout_s: limit of the process, in real time.
        """
        self._timeout_s = timeout_s
        self._deadline = time.monotonic() + timeout_s
        self._answers, theirs = os.pipe()
        numbers = (theirs, math.ceil(timeout_s) + 2, os.getpid())
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", __name__, function, *map(str, numbers)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=[theirs],
            start_new_session=True,  # all that it starts is in one process group
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        )
        os.close(theirs)
        assert self._process.stdin is not None
        with suppress(BrokenPipeError), self._process.stdin as stream:  # `answer` says how it ended
            stream.write(json.dumps(argument).encode())

    def __enter__(self) -> "IsolatedCall":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._kill()
        self._process.wait()
        os.close(self._answers)

    def _kill(self) -> None:
        """Ends the process and what it has started, unless that has left its group."""
        if self._process.returncode is None:  # else its number may be another's by now
            os.killpg(self._process.pid, signal.SIGKILL)

    def answer(self) -> Any:
        """Waits for the function and returns its value.

        Raises:
            InputError: the function raised it.
            CandidateError: the function ended in any other way.
        """
        said = self._read()
        try:
            answer = parse_json(said)
        except ValueError:
            raise CandidateError(self._how_it_ended()) from None
        if not isinstance(answer, dict) or len(answer.keys() & {"answer", "refused", "failed"}) != 1:
            raise CandidateError("its answer is none")
        if "refused" in answer:
            raise InputError(with_memory_limit(str(answer["refused"])))
        if "failed" in answer:
            raise CandidateError(str(answer["failed"]), str(answer.get("trace", "")))
        return answer["answer"]

    def _read(self) -> bytes:
        said = bytearray()
        while len(said) <= MOST_ANSWER_MB << 20:
            ready, _, _ = select([self._answers], [], [], max(0.0, self._deadline - time.monotonic()))
            if not ready:
                raise CandidateError(f"no end after {self._timeout_s:g} s: ended by its time-out")
            part = os.read(self._answers, _READ_BYTES)
            said += part
            if not part or b"\n" in part:  # a child of the process may still hold the pipe open
                return bytes(said).partition(b"\n")[0]
        raise CandidateError(f"its answer has more than {MOST_ANSWER_MB} MB")

    def _how_it_ended(self) -> str:
        """How the process ended, if it closed its end of the pipe without an answer."""
        self._kill()  # it may still live, with the pipe closed
        _, status, usage = os.wait4(self._process.pid, 0)
        self._process.returncode = code = os.waitstatus_to_exitcode(status)
        end = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        # ru_maxrss of a child starts at its parent's peak; only what exceeds that is the child's own.
        inherited = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        much = usage.ru_maxrss > max(_NEAR_LIMIT * 1024 * OUTSIDE_CODE_MB, inherited)
        return f"crashed: {end}" + (f", at its memory limit of {OUTSIDE_CODE_MB} MB" if much else "")


def call_isolated(function: str, argument: object, timeout_s: float) -> Any:
    """Returns what `function` returns, called in a process of its own; see `IsolatedCall`."""
    with IsolatedCall(function, argument, timeout_s) as call:
        return call.answer()


def _serve(function: str, answers: int, most_s: int, parent: int) -> None:
    """The main function of the process: calls the function, and answers with its result or error."""
    end_with_parent(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # left to the parent
    module, _, name = function.partition(":")
    called = getattr(import_module(module), name)
    argument = json.load(sys.stdin)
    _limit(most_s)
    answer: dict[str, object]
    try:
        answer = {"answer": called(argument)}
    except InputError as error:
        answer = {"refused": str(error)}
    except BaseException as error:
        answer = {"failed": _line(error), "trace": traceback.format_exc()}
    os.write(answers, json.dumps(answer).encode() + b"\n")
    os._exit(0)  # at once: no exit handlers or threads of outside code


def _limit(most_s: int) -> None:
    """Limits memory, processor time and real time: the parent may have died before it was watched."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(most_s)
    limit_outside_code()
    _lower(resource.RLIMIT_CPU, most_s)
    _lower(resource.RLIMIT_CORE, 0)


def _lower(limit: int, most: int) -> None:
    """Lowers a limit to `most`, or to the present hard limit if that is lower."""
    own = resource.getrlimit(limit)[1]
    most = most if own == resource.RLIM_INFINITY else min(most, own)
    resource.setrlimit(limit, (most, most))


def _line(error: BaseException) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    if not isinstance(error, Exception):
        text = f"raised {type(error).__name__}"
    return with_memory_limit("MemoryError" if isinstance(error, MemoryError) and not str(error) else text)


def with_memory_limit(text: str) -> str:
    """What code from outside ended with, and its limit if it had no more memory."""
    lacks = any(said in text for said in _NO_MEMORY)
    return f"{text}: its memory limit is {OUTSIDE_CODE_MB} MB" if lacks else text


if __name__ == "__main__":
    _serve(sys.argv[1], *map(int, sys.argv[2:]))
