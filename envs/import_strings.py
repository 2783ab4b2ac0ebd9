"""What users write in Python and name in a config, a flag or an argument: `MODULE:NAME` or `FILE.py:NAME`."""

import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from .errors import InputError, did_you_mean, excerpt
from .outside_files import MOST_TEXT_BYTES, read_bytes


def is_import_string(name: str) -> bool:
    """Whether a name is one of something outside, not of what comes along."""
    return ":" in name


def load_object(name: str, what: str) -> Any:
    """What `name` names; modules are found in the current folder, too.

    Args:
        name: `my.module:NAME` or `FILE.py:NAME`.
        what: the argument or key, for messages.

    Raises:
        InputError: there is none, or its module cannot be imported.
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


def _load_module(where: str, what: str) -> ModuleType:
    if where.endswith(".py"):
        read_bytes(Path(where), f"{what}: {excerpt(where)}", MOST_TEXT_BYTES)  # a pipe would never end
    try:
        if where.endswith(".py"):
            return _run_file(Path(where).resolve())
        here = str(Path.cwd())
        if here not in sys.path:
            # Last, so that what is installed goes first; for good, as its own imports may come later.
            sys.path.append(here)
        return importlib.import_module(where)
    except ModuleNotFoundError as error:
        raise InputError(
            f"{what}: {excerpt(where)}: {error}; it is looked for here and where PYTHONPATH says"
        ) from error
    except Exception as error:
        raise InputError(
            f"{what}: importing {excerpt(where)} raised {type(error).__name__}: {excerpt(error)}"
        ) from error


def _run_file(file: Path) -> ModuleType:
    """The module in a file, once in a process, where pickle finds it again."""
    known = sys.modules.get(file.stem)
    if known is not None and getattr(known, "__file__", None) == str(file):
        return known
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None, "its name ends in .py"
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    if known is None:
        sys.modules[file.stem] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        if known is None:
            del sys.modules[file.stem]
        raise
    return module
