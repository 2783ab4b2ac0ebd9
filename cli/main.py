"""The command `ccgym`: runs the sub-command, and turns what goes wrong into one line and an exit code."""

import argparse
import errno
import io
import logging
import os
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, NoReturn

from ccgym.cli.lacks import lack_of

COMMANDS = {
    "train": "making",
    "sweep": "making",
    "export": "making",
    "eval": "measuring",
    "score": "measuring",
    "dataset": "making",
    "new": "making",
    "report": "showing",
    "compare": "showing",
    "oracle": "measuring",
    "calibrate": "measuring",
    "reproduce": "measuring",
    "bench": "measuring",
    "replay": "measuring",
    "trace": "showing",
    "emulators": "showing",
    "schemes": "showing",
    "doctor": "showing",
}
"""Commands by folder. Each is a module of its name: `add_parser(subparsers)`, `run(args) -> exit code`."""

MOST_CHARACTERS = 300
"""Most characters of the line that says what is wrong."""
_NO_PLACE = {
    errno.EACCES, errno.EPERM, errno.EROFS, errno.EISDIR, errno.ENOTDIR, errno.EEXIST, errno.ELOOP,
    errno.ENAMETOOLONG,
}  # fmt: skip
_STANDARD_STREAMS = (("stdin", "r"), ("stdout", "w"), ("stderr", "w"))
"""How to open each standard stream, by its descriptor."""
DONE, FAILURE, BAD_INPUT = 0, 1, 2
"""Exit codes of every command. A command that a signal ends has 128 + its number, as in a shell."""


class CommandLineParser(argparse.ArgumentParser):
    """A parser that answers bad usage with one line, and takes no shortened options."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(allow_abbrev=False, **kwargs)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        from ccgym.envs.errors import MOST_LISTED, did_you_mean, excerpt

        known = [str(choice) for choice in action.choices]
        listed = ", ".join(known[:MOST_LISTED]) + (", ..." if len(known) > MOST_LISTED else "")
        near = did_you_mean(str(value), known)
        raise argparse.ArgumentError(action, f"invalid choice: {excerpt(value)!r}{near}; known: {listed}")

    def _get_value(self, action: argparse.Action, arg_string: str) -> Any:
        if action.type is Path and not arg_string:  # Path("") is the current folder
            raise argparse.ArgumentError(action, "is empty: a path would be right")
        return super()._get_value(action, arg_string)

    def error(self, message: str) -> NoReturn:
        """Prints `message` and ends the program."""
        from ccgym.envs.errors import one_line

        hint = f" (see {self.prog} --help)"
        self.exit(BAD_INPUT, one_line(f"{self.prog}: {message}", MOST_CHARACTERS - len(hint)) + f"{hint}\n")


def build_parser() -> argparse.ArgumentParser:
    """The command line with every sub-command."""
    from importlib import metadata

    parser = CommandLineParser(
        prog="ccgym",
        description="Trains congestion controllers on emulated networks and runs them as native senders.",
        epilog="Exit codes: 0 done, 1 failure, 2 bad usage or input, 128 + N ended by signal N.",
    )
    parser.add_argument("--version", action="version", version=f"ccgym {metadata.version('ccgym')}")
    parser.add_argument("--debug", action="store_true", help="show the traceback of what goes wrong")
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command", required=True)
    for command, room in COMMANDS.items():
        import_module(f"ccgym.cli.{room}.{command}").add_parser(subparsers)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Runs `ccgym` with the arguments `argv`, by default those of the process; returns the exit code."""
    _open_standard_streams()
    os.environ["MPLBACKEND"] = "agg"  # pictures go to files; a notebook's backend may be missing here
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # no warning if HOME is read-only
    args = None
    try:
        args = build_parser().parse_args(_encodable(sys.argv[1:] if argv is None else argv))
        if not _has_current_folder():  # which the processes of a command would look for
            return _complain(
                args.command, "the current folder has been deleted: go to another one", BAD_INPUT
            )
        return _run(args)
    except BrokenPipeError:
        # The reader has gone; without this, the interpreter's own flush at exit would complain as well.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except Exception as error:
        if (args.debug if args else "--debug" in sys.argv) or not (complaint := _complaint(error)):
            raise
        return _complain(args.command if args else "", *complaint)
    except KeyboardInterrupt:
        # Imports nothing: it may have been an import that was interrupted.
        print(f"{_whose(args.command if args else '')}: interrupted", file=sys.stderr)
        return 128 + signal.SIGINT


def _run(args: argparse.Namespace) -> int:
    """Runs the sub-command. SIGTERM leaves its contexts in order, so that what they started is taken down."""
    from ccgym.envs.host.termination import leaving_at_termination  # late: with it comes gymnasium

    with leaving_at_termination():
        code: int = args.run(args)
        sys.stdout.flush()
        return code


def _has_current_folder() -> bool:
    try:
        Path.cwd()
    except FileNotFoundError:
        return False
    return True


def _open_standard_streams() -> None:
    """Opens standard streams that the caller has closed on /dev/null.

    Otherwise the first file that is opened would get the descriptor of one.
    """
    while (descriptor := os.open(os.devnull, os.O_RDWR)) < len(_STANDARD_STREAMS):
        os.set_inheritable(descriptor, True)
        name, mode = _STANDARD_STREAMS[descriptor]
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(descriptor, mode, closefd=False))
    os.close(descriptor)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # as stderr: escapes what it cannot encode


def _encodable(argv: Sequence[str]) -> Sequence[str]:
    """Returns the arguments; ends with exit code 2 if one cannot be encoded, as half a surrogate pair."""
    for argument in argv:
        try:
            os.fsencode(argument)
        except UnicodeEncodeError:
            from ccgym.envs.errors import excerpt

            sys.exit(
                _complain(
                    argv[0] if argv[0] in COMMANDS else "", f"{excerpt(argument)}: is no text", BAD_INPUT
                )
            )
    return argv


def _complaint(error: Exception) -> tuple[str, int] | None:
    """Returns the line for the user and the exit code; None for a bug of ours, which needs its traceback."""
    if lack := lack_of(error):
        return f"{lack}: the system gives no more: raise its limit (ulimit), or ask for less", FAILURE
    from ccgym.envs.errors import InputError, OutsideError, is_disk_full  # late: with it comes gymnasium

    if isinstance(error, InputError):
        return str(error), BAD_INPUT
    if isinstance(error, OutsideError):
        return str(error), FAILURE
    if is_disk_full(error):
        # The error of a copy has two names; there is no room at the second.
        place = error.filename2 or error.filename or "a file, or where its output goes"
        return f"{place}: {error.strerror}: make room and repeat the command", FAILURE
    if isinstance(error, OSError) and error.filename and error.errno in _NO_PLACE:
        return f"{error.filename}: {error.strerror}: choose another file or folder", BAD_INPUT
    return None


def _complain(command: str, error: str, code: int) -> int:
    line = f"{_whose(command)}: {error}"
    if len(line) > MOST_CHARACTERS or not line.isprintable():
        from ccgym.envs.errors import one_line  # late: there may be no memory for it

        line = one_line(line, MOST_CHARACTERS)
    print(line, file=sys.stderr)
    return code


def _whose(command: str) -> str:
    return f"ccgym {command}".rstrip()
