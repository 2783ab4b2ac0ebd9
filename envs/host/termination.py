"""Handling of SIGTERM while shells, programs or half-written files have to be cleaned up, and of SIGINT."""

import ctypes
import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from types import FrameType
from typing import NoReturn

Handler = Callable[[int, FrameType | None], object] | int | None
"""As `signal.signal` takes and gives it."""

_PR_SET_PDEATHSIG = 1


class Terminated(SystemExit):
    """Ends this process, as SIGTERM asked it to."""


@contextmanager
def leaving_at_termination() -> Iterator[None]:
    """A context in which SIGTERM raises Terminated, so that contexts are left; then it acts as before.

    Only the main thread can set signal handlers: in another thread this changes nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, _installable(before))


@contextmanager
def holding_signals() -> Iterator[None]:
    """A context that delays SIGTERM and SIGINT until it is left.

    For the start of a process: if this process ended before it knows the new one, that would stay behind.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    held: list[int] = []
    before: dict[int, Handler] = {
        number: signal.signal(number, lambda came, _: held.append(came))
        for number in (signal.SIGTERM, signal.SIGINT)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, _installable(handler))
        for number in held:
            signal.raise_signal(number)


@contextmanager
def starting_deaf_to_interrupts() -> Iterator[None]:
    """A context in which started processes ignore SIGINT from their beginning; this one gets it later.

    A terminal's Ctrl-C goes to all processes of the command: only one of them is to react.
    """
    resource_tracker.ensure_running()  # multiprocessing's, whose start would let interrupts in again in here
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def end_with_parent(parent: int) -> None:
    """This process is killed when the one that started it ends, however that happens.

    Args:
        parent: its number, as it gave it: asked late, the system names whoever took over its children.
    """
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it had gone before
        os.kill(os.getpid(), signal.SIGKILL)


def _installable(handler: Handler) -> Handler:
    """None: a handler that was not installed from Python, and cannot be from here."""
    return signal.SIG_DFL if handler is None else handler


def _leave(number: int, _: FrameType | None) -> NoReturn:
    raise Terminated(128 + number)
