"""Controllers from outside, in Python: `FILE.py:CLASS` or `package.module:CLASS`."""

import inspect
from pathlib import Path

from .errors import InputError, excerpt
from .import_strings import load_object, telling

CALLBACKS = ("on_ack", "on_timeout", "on_sent", "on_spurious_loss", "on_restart", "on_timer")


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
    for attribute in ("cwnd_packets", "pacing_mbps"):
        if not hasattr(made, attribute):
            raise InputError(f"python:{name}: its constructor sets no attribute {attribute}")
    _check_callbacks(name, made)


def _check_callbacks(name: str, made: object) -> None:
    """Raises InputError: a callback would silently never be called, or a timer call nobody."""
    kinds = type(made).__mro__  # a callback that a base class passes on is called there
    functions = [each for kind in kinds for each in vars(kind).values() if inspect.isfunction(each)]
    used = {word for function in functions for word in function.__code__.co_names}
    for other in dir(made):
        if other.startswith("on_") and other not in CALLBACKS and other not in used:
            hint = ": losses come in ack.lost of on_ack" if other == "on_loss" else ""
            raise InputError(
                f"python:{name}: {other} is never called{hint}; known are {', '.join(CALLBACKS)}"
            )
    if getattr(made, "next_timer_ms", None) is not None and not hasattr(made, "on_timer"):
        raise InputError(f"python:{name}: sets next_timer_ms, but has no on_timer(now_ms)")


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
