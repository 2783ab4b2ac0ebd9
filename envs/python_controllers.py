"""Controllers from outside, in Python: `FILE.py:CLASS` or `package.module:CLASS`."""

import inspect
from pathlib import Path

from .errors import InputError, excerpt
from .import_strings import load_object


def make_controller(name: str, packet_bytes: int) -> object:
    """A new controller of the class that `name` names, for packets of this size.

    Raises:
        InputError: there is no such class, or it is no controller.
    """
    controller = load_class(name)
    try:
        made: object = controller(packet_bytes)
    except Exception as error:
        raise InputError(f"python:{name}: its constructor raised {type(error).__name__}: {error}") from error
    if not callable(getattr(made, "on_ack", None)):
        raise InputError(f"python:{name}: has no method on_ack(now_ms, ack)")
    for attribute in ("cwnd_packets", "pacing_mbps"):
        if not hasattr(made, attribute):
            raise InputError(f"python:{name}: its constructor sets no attribute {attribute}")
    return made


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
