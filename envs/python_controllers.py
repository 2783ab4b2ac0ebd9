"""Controllers from outside, in Python: `FILE.py:CLASS` or `package.module:CLASS`."""

import inspect
from collections.abc import Callable
from pathlib import Path

from .errors import InputError, excerpt
from .import_strings import load_object, telling

CALLBACKS = {
    "on_ack": ("now_ms", "ack"),
    "on_timeout": ("now_ms", "timeout"),
    "on_sent": ("now_ms", "packet"),
    "on_spurious_loss": ("now_ms", "loss"),
    "on_restart": ("now_ms", "idle_ms"),
    "on_timer": ("now_ms", "timer"),
}
"""What each is called with."""


def make_controller(name: str, packet_bytes: int) -> object:
    """A new controller of the class that `name` names, for packets of this size.

    Raises:
        InputError: there is no such class, or it is no controller.
    """
    controller = load_class(name)
    with telling(f"python:{name}: its constructor"):
        made: object = controller(packet_bytes)
    with telling(f"python:{name}: one of its attributes"):
        _check(name, made)
    return made


def _check(name: str, made: object) -> None:
    if not callable(getattr(made, "on_ack", None)):
        raise InputError(f"python:{name}: has no method on_ack(now_ms, ack)")
    used = _names_used(made)
    optional = {"holds_back"} & used
    for attribute in ("cwnd_packets", "pacing_mbps", *optional):
        if not hasattr(made, attribute):
            raise InputError(f"python:{name}: its constructor sets no attribute {attribute}")
    _check_callbacks(name, made, used)


def _names_used(made: object) -> set[str]:
    kinds = type(made).__mro__  # a callback that a base class passes on is called there
    functions = [each for kind in kinds for each in vars(kind).values() if inspect.isfunction(each)]
    return {word for function in functions for word in function.__code__.co_names}


def _check_callbacks(name: str, made: object, used: set[str]) -> None:
    """Raises InputError: a callback would silently never be called, or a timer call nobody."""
    for other in dir(made):
        if other.startswith("on_") and other not in CALLBACKS and other not in used:
            hint = ": losses come in ack.lost of on_ack" if other == "on_loss" else ""
            raise InputError(
                f"python:{name}: {other} is never called{hint}; known are {', '.join(CALLBACKS)}"
            )
    if getattr(made, "next_timer_ms", None) is not None and not hasattr(made, "on_timer"):
        raise InputError(f"python:{name}: sets next_timer_ms, but has no on_timer(now_ms, timer)")
    for callback, told in CALLBACKS.items():
        _check_signature(name, callback, getattr(made, callback, None), told)


def _check_signature(
    name: str, callback: str, method: Callable[..., object] | None, told: tuple[str, ...]
) -> None:
    """Raises InputError: the call would fail, an hour into a run maybe."""
    if method is None:
        return
    try:
        signature = inspect.signature(method)
    except ValueError:  # compiled, and silent about it
        return
    try:
        signature.bind(*told)
    except TypeError:
        raise InputError(
            f"python:{name}: {callback}{signature} is called as {callback}({', '.join(told)})"
        ) from None


def load_class(name: str) -> type:
    """The class that `name` names. What stands in a file is run anew once the file has changed.

    Raises:
        InputError: there is none, or its module cannot be imported.
    """
    found = load_object(name, "the controller")
    if not isinstance(found, type):
        raise InputError(f"scheme python:{excerpt(name)}: no class, but a {type(found).__name__}")
    return found


def source_file(name: str) -> Path:
    """Where the class that `name` names is written down."""
    return Path(inspect.getfile(load_class(name)))
