"""Controllers from outside, in Python: `FILE.py:CLASS` or `package.module:CLASS`."""

import hashlib
import importlib
import importlib.util
import inspect
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

from .errors import InputError, excerpt
from .outside_files import MOST_TEXT_BYTES, read_bytes


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
    where, _, class_name = name.rpartition(":")
    if not where or not class_name:
        raise InputError(
            f"scheme python:{excerpt(name)}: expected python:FILE.py:CLASS or python:MODULE:CLASS"
        )
    module = _load_module(where, name)
    found = getattr(module, class_name, None)
    if not isinstance(found, type):
        own = [key for key, value in vars(module).items() if isinstance(value, type)]
        raise InputError(f"{where} has no class {excerpt(class_name)}; it has {', '.join(own) or 'none'}")
    return found


def source_file(name: str) -> Path:
    """Where the class that `name` names is written down."""
    return Path(inspect.getfile(load_class(name)))


def _load_module(where: str, name: str) -> ModuleType:
    try:
        if where.endswith(".py"):
            return _run_file(
                Path(where).resolve(), read_bytes(Path(where), "the controller", MOST_TEXT_BYTES)
            )
        if (here := str(Path.cwd())) not in sys.path:
            sys.path.append(here)  # last: what is installed comes first
        return importlib.import_module(where)
    except InputError:
        raise
    except ModuleNotFoundError as error:
        hint = "" if where.endswith(".py") else " (modules are looked for here and in PYTHONPATH)"
        raise InputError(f"scheme python:{name}: {error}{hint}") from error
    except Exception as error:
        raise InputError(
            f"scheme python:{name}: its import raised {type(error).__name__}: {error}"
        ) from error


@cache
def _run_file(file: Path, source: bytes) -> ModuleType:
    """A module of its own for each content: bytecode on disk may be older than a file just written."""
    module_name = f"{file.stem}_{hashlib.sha256(source).hexdigest()[:16]}"
    module = ModuleType(module_name)
    module.__file__ = str(file)
    sys.modules[module_name] = module  # dataclasses and pickle look there
    try:
        exec(compile(source, file, "exec"), module.__dict__)
    except BaseException:
        del sys.modules[module_name]
        raise
    return module
