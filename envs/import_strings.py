"""Python code of users, named in a config, a flag or an argument: `MODULE:NAME` or `FILE.py:NAME`."""

import hashlib
import importlib
import sys
import traceback
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from .errors import InputError, did_you_mean, excerpt
from .host.termination import Terminated
from .outside_files import MOST_TEXT_BYTES, absolute, read_bytes

_NOT_OF_USERS = (KeyboardInterrupt, GeneratorExit, Terminated)
"""All else is theirs: a script that ends itself would end ccgym, as if all were done."""


def is_import_string(name: str) -> bool:
    """Whether a name is that of the user's own code, not a built-in one."""
    return ":" in name


def load_object(name: str, what: str) -> Any:
    """Loads the object `name`; modules are found in the current folder, too.

    Args:
        name: `my.module:NAME` or `FILE.py:NAME`.
        what: the argument or key, for messages.

    Raises:
        InputError: there is no such object, or its module cannot be imported.
    """
    where, _, attribute = name.rpartition(":")
    if not where or not attribute:
        raise InputError(f"{what}: {excerpt(name)!r}: expected MODULE:NAME or FILE.py:NAME")
    module = _load_module(where, what)
    if not hasattr(module, attribute):
        own = [key for key in vars(module) if not key.startswith("_")]
        near = did_you_mean(attribute, own) or f"; it has {excerpt(', '.join(own)) or 'nothing'}"
        raise InputError(f"{what}: {excerpt(where)} has no {excerpt(attribute)}{near}")
    return getattr(module, attribute)


class telling:  # noqa: N801 - as contextlib's own: it is read as a word
    """A context for calls of users' code: an exception becomes an InputError of one line, with its place.

    A class because every step of an environment enters one, and a generator takes three times as long.

    Raises:
        InputError: of any exception; it stays the cause.
    """

    def __init__(self, what: str) -> None:
        self._what = what

    def __enter__(self) -> None: ...

    def __exit__(self, _kind: object, error: BaseException | None, _traceback: object) -> None:
        if error is not None and not isinstance(error, (*_NOT_OF_USERS, InputError)):
            told = f"{self._what} raised {type(error).__name__}: {excerpt(error)}{place(error)}"
            raise InputError(told) from error


def place(error: BaseException) -> str:
    """Where users' code stood, the innermost of it; nothing where the call itself did not fit."""
    for frame, line in reversed(list(traceback.walk_tb(error.__traceback__))):
        file, module = Path(frame.f_code.co_filename), str(frame.f_globals.get("__name__"))
        if "site-packages" not in file.parts and not module.startswith("ccgym."):
            return f" ({excerpt(file.name)}, line {line})"
    return ""


def _load_module(where: str, what: str) -> ModuleType:
    is_file = where.endswith(".py")
    source = read_bytes(Path(where), what, MOST_TEXT_BYTES) if is_file else b""
    here = str(Path.cwd())
    if here not in sys.path:
        # Last, so that what is installed goes first; for good, as its own imports may come later.
        sys.path.append(here)
    try:
        return _run_file(absolute(Path(where)), source) if is_file else importlib.import_module(where)
    except ModuleNotFoundError as error:
        raise InputError(
            f"{what}: {excerpt(where)}: {error}; it is looked for here and where PYTHONPATH says"
        ) from error
    except _NOT_OF_USERS:
        raise
    except BaseException as error:
        raise InputError(
            f"{what}: importing {excerpt(where)} raised {type(error).__name__}: {excerpt(error)}"
        ) from error


@cache
def _run_file(file: Path, source: bytes) -> ModuleType:
    """The module in a file, once in a process for each content: bytecode on disk may be older than the file.

    It goes by the file's name, under which pickle finds it again in another process, unless that is taken.
    """
    known = sys.modules.get(file.stem)
    is_taken = known is not None and getattr(known, "__file__", None) != str(file)
    name = f"{file.stem}_{hashlib.sha256(source).hexdigest()[:16]}" if is_taken else file.stem
    module = ModuleType(name)
    module.__file__ = str(file)
    sys.modules[name] = module  # dataclasses look there
    try:
        exec(compile(source, file, "exec"), module.__dict__)
    except BaseException:
        if known is None or is_taken:
            del sys.modules[name]
        else:
            sys.modules[name] = known
        raise
    return module
