"""The user's own controllers in Python: `FILE.py:CLASS` or `package.module:CLASS`."""

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
"""The callbacks, each with the arguments of its call."""


def make_controller(name: str, packet_bytes: int) -> object:
    """Makes a controller of the class `name`, for packets of this size.

    Raises:
        InputError: there is no such class, or it is no controller.
    """
    kind = load_class(name)
    with telling(f"python:{name}: its constructor"):
        controller: object = kind(packet_bytes)
    with telling(f"python:{name}: one of its attributes"):
        _check(name, controller)
    return controller


def _check(name: str, controller: object) -> None:
    if not callable(getattr(controller, "on_ack", None)):
        raise InputError(f"python:{name}: has no method on_ack(now_ms, ack)")
    used = _names_used(controller)
    optional = {"holds_back"} & used
    for attribute in ("cwnd_packets", "pacing_mbps", *optional):
        if not hasattr(controller, attribute):
            raise InputError(f"python:{name}: its constructor sets no attribute {attribute}")
    _check_callbacks(name, controller, used)


def _names_used(controller: object) -> set[str]:
    kinds = type(controller).__mro__  # a base class may call a method on_... itself
    functions = [each for kind in kinds for each in vars(kind).values() if inspect.isfunction(each)]
    return {word for function in functions for word in function.__code__.co_names}


def _check_callbacks(name: str, controller: object, used: set[str]) -> None:
    """Raises InputError if a callback would silently never be called, or a timer has no callback."""
    for other in dir(controller):
        if other.startswith("on_") and other not in CALLBACKS and other not in used:
            hint = ": losses come in ack.lost of on_ack" if other == "on_loss" else ""
            raise InputError(
                f"python:{name}: {other} is never called{hint}; known are {', '.join(CALLBACKS)}"
            )
    if getattr(controller, "next_timer_ms", None) is not None and not hasattr(controller, "on_timer"):
        raise InputError(f"python:{name}: sets next_timer_ms, but has no on_timer(now_ms, timer)")
    for callback, arguments in CALLBACKS.items():
        _check_signature(name, callback, getattr(controller, callback, None), arguments)


def _check_signature(
    name: str, callback: str, method: Callable[..., object] | None, arguments: tuple[str, ...]
) -> None:
    """Raises InputError if the callback cannot take its arguments: it would fail only when it is called."""
    if method is None:
        return
    try:
        signature = inspect.signature(method)
    except ValueError:  # a compiled function without a signature
        return
    try:
        signature.bind(*arguments)
    except TypeError:
        raise InputError(
            f"python:{name}: {callback}{signature} is called as {callback}({', '.join(arguments)})"
        ) from None


def load_class(name: str) -> type:
    """Loads the class `name`; a file is run again once it has changed.

    Raises:
        InputError: there is no such class, or its module cannot be imported.
    """
    found = load_object(name, "the controller")
    if not isinstance(found, type):
        raise InputError(f"scheme python:{excerpt(name)}: no class, but a {type(found).__name__}")
    return found


def source_file(name: str) -> Path:
    """The source file of the class `name`."""
    return Path(inspect.getfile(load_class(name)))
