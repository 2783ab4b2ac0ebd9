"""Handling of SIGTERM while shells, programs or half-written files have to be cleaned up, and of SIGINT."""

import ctypes
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from types import FrameType
from typing import NoReturn

Handler = Callable[[int, FrameType | None], object] | int | None
"""As `signal.signal` takes and gives it."""

_PR_SET_PDEATHSIG = 1
_AGAIN_AFTER_S = 0.5
"""After which an exception that was lost is raised once more."""


class Terminated(SystemExit):
    """Ends this process, as SIGTERM asked it to."""


@contextmanager
def leaving_at_termination() -> Iterator[None]:
    """A context in which SIGTERM raises Terminated, so that contexts are left; then it acts as before.

    Callbacks of weak references, destructors and code in C lose an exception that is raised in them: so
    Terminated is raised until it is on its way, and a KeyboardInterrupt that is told as lost comes again.

    Only the main thread can set signal handlers: in another thread this changes nothing.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {
        number: signal.signal(number, handler)
        for number, handler in ((signal.SIGALRM, _leave_unless_leaving), (signal.SIGTERM, _leave))
    }
    lost_before, sys.unraisablehook = sys.unraisablehook, _interrupt_again
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        sys.unraisablehook = lost_before
        for number, handler in before.items():
            signal.signal(number, _installable(handler))


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
    signal.setitimer(signal.ITIMER_REAL, _AGAIN_AFTER_S, _AGAIN_AFTER_S)
    raise Terminated(128 + number)


def _leave_unless_leaving(_: int, __: FrameType | None) -> None:
    """Raises Terminated, unless it or what came of it is being handled: contexts are left undisturbed."""
    handled = sys.exception()
    while handled is not None:
        if isinstance(handled, Terminated):
            return
        handled = handled.__context__
    raise Terminated(128 + signal.SIGTERM)


def _interrupt_again(lost: "sys.UnraisableHookArgs") -> None:
    """Interrupts once more if that is what was lost; tells of anything else as Python does."""
    if isinstance(lost.exc_value, KeyboardInterrupt):  # raised here, it would be lost as well
        later = threading.Timer(_AGAIN_AFTER_S, os.kill, (os.getpid(), signal.SIGINT))
        later.daemon = True  # a process that ends before is not kept
        later.start()
    elif not isinstance(lost.exc_value, Terminated):
        sys.__unraisablehook__(lost)
