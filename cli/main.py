"""The command `ccgym`: runs the sub-command, and turns what goes wrong into one line and an exit code."""

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from importlib import import_module, metadata
from typing import Any, NoReturn

from ccgym.envs.errors import InputError, OutsideError

COMMANDS = (
    "train",
    "export",
    "eval",
    "report",
    "oracle",
    "reproduce",
    "bench",
    "replay",
    "trace",
    "emulators",
    "schemes",
    "doctor",
)
"""Each the module of that name in this folder, with `add_parser(subparsers)` and `run(args) -> exit code`."""

DONE, FAILURE, BAD_INPUT = 0, 1, 2
"""Exit codes of every command; one that a signal ends has 128 + its number, as from a shell."""


class CommandLineParser(argparse.ArgumentParser):
    """A parser that answers bad usage with one line, and takes no shortened options."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(allow_abbrev=False, **kwargs)

    def error(self, message: str) -> NoReturn:
        """Prints `message` and ends the program."""
        self.exit(BAD_INPUT, f"{self.prog}: {message} (see {self.prog} --help)\n")


def build_parser() -> argparse.ArgumentParser:
    """The command line with every sub-command."""
    parser = CommandLineParser(
        prog="ccgym",
        description="Trains congestion controllers on emulated networks and flies them as native senders.",
        epilog="Exit codes: 0 done, 1 failure, 2 bad usage or input.",
    )
    parser.add_argument("--version", action="version", version=f"ccgym {metadata.version('ccgym')}")
    subparsers = parser.add_subparsers(title="commands", metavar="COMMAND", dest="command", required=True)
    for command in COMMANDS:
        import_module(f"ccgym.cli.{command}").add_parser(subparsers)
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Runs `ccgym` with the arguments `argv`, by default those of the process; returns the exit code."""
    args = build_parser().parse_args(argv)
    try:
        code: int = args.run(args)
        sys.stdout.flush()
        return code
    except InputError as error:
        return _complain(args.command, error, BAD_INPUT)
    except OutsideError as error:
        return _complain(args.command, error, FAILURE)
    except BrokenPipeError:
        # The reader has gone; without this, the interpreter's own flush at exit would complain as well.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except KeyboardInterrupt:
        return _complain(args.command, "interrupted", 128 + signal.SIGINT)


def _complain(command: str, error: object, code: int) -> int:
    print(f"ccgym {command}: {error}", file=sys.stderr)
    return code
