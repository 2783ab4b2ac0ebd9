"""Controllers from outside as schemes: they are checked in a process of their own."""

from pathlib import Path

from ccgym.envs import _core
from ccgym.envs.errors import InputError
from ccgym.envs.python_controllers import source_file

from .isolation import CandidateError, call_isolated

LOOK_TIMEOUT_S = 20.0
"""Time limit for loading a controller and running it for a moment."""


def look_at(controller: str) -> Path:
    """The file of the controller `python:...` or `so:...`, after it has run for a moment.

    Raises:
        InputError: it is no controller.
    """
    try:
        return Path(call_isolated(f"{__name__}:try_out", controller, LOOK_TIMEOUT_S))
    except CandidateError as error:
        raise InputError(str(error) if controller in str(error) else f"{controller}: {error}") from None


def try_out(controller: str) -> str:
    """Runs the controller on a link for a moment; returns the file that it is read from."""
    link = _core.Link(_core.Schedule.constant(1))
    try:
        _core.simulate(_core.Path(1, link, link), controller, seconds=0.001, seed=0)
    except (ValueError, RuntimeError) as error:
        raise InputError(str(error).splitlines()[0]) from None
    kind, _, where = controller.partition(":")
    return str(source_file(where)) if kind == "python" else library_file(where)


def library_file(argument: str) -> str:
    """The file of FILE.so or FILE.so:ARGS."""
    file, suffix, _ = argument.partition(".so:")
    return file + suffix.removesuffix(":")
