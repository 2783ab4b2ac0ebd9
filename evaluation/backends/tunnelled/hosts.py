"""Where one end of a tunnel runs: this machine, or shells on it; `ssh_host` adds other machines."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Protocol


class Host(Protocol):
    """A place for programs, with a folder of its own for their files."""

    name: str
    """The name in messages."""
    folder: str
    """The absolute path of the folder there."""
    marker: str
    """A line that precedes the output of every command; empty: there is none."""

    def command(self, argv: list[str]) -> list[str]:
        """The command to run here so that `argv` runs there; input, output and exit code are passed on."""

    def unprivileged(self, argv: list[str]) -> list[str]:
        """The command to run there so that `argv` runs as a user without special rights."""

    def stage(self, file: Path) -> str:
        """Makes a file of ours available there; returns its path there."""

    def keep_secret(self, file: Path) -> str:
        """As `stage`, for a file that nobody else may read."""

    def fetch(self, path: str, target: Path) -> None:
        """Copies a file from there."""


class LocalHost:
    """This machine.

    Args:
        folder: the folder for the programs' files.
        prefix: put before every command, e.g. to enter a network namespace.
        unprivileged: see `Host`.
        stage: see `Host`.
    """

    name = "this machine"
    marker = ""

    def __init__(
        self,
        folder: Path,
        prefix: list[str],
        unprivileged: Callable[[list[str]], list[str]],
        stage: Callable[[Path], Path],
    ) -> None:
        self.folder = str(folder)
        self._prefix, self.unprivileged, self._stage = prefix, unprivileged, stage

    def command(self, argv: list[str]) -> list[str]:
        """As `Host` says."""
        return [*self._prefix, *argv]

    def stage(self, file: Path) -> str:
        """As `Host` says."""
        return str(self._stage(file))

    def keep_secret(self, file: Path) -> str:
        """Returns its path: the file stays where it is."""
        return str(file)

    def fetch(self, path: str, target: Path) -> None:
        """As `Host` says."""
        shutil.copyfile(path, target)
