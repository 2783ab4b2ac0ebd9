"""Puts files and folders in place so that a failure leaves everything as it was."""

import os
import shutil
import tempfile
from pathlib import Path
from types import TracebackType

from ccgym.envs.errors import InputError, excerpt, is_of_system


class Staging:
    """Collects new files and folders beside their places, then moves them there: all or none.

    Used as a context manager; what was not committed is gone at its end.
    """

    def __init__(self) -> None:
        self._scratch: list[Path] = []
        self._moves: list[tuple[Path, Path]] = []

    def __enter__(self) -> "Staging":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for folder in self._scratch:
            shutil.rmtree(folder, ignore_errors=True)

    def stage(self, target: Path) -> Path:
        """Where to write what shall become `target`: on the same file system, under another name.

        Raises:
            InputError: nothing can be written there.
        """
        try:
            scratch = Path(tempfile.mkdtemp(prefix=f".{target.name}.partial-", dir=target.parent))
        except OSError as error:
            if is_of_system(error):
                raise
            raise InputError(f"{excerpt(target)}: may not be written: {error.strerror}") from None
        self._scratch.append(scratch)
        self._moves.append((scratch / target.name, target))
        return scratch / target.name

    def commit(self) -> None:
        """Moves everything to its place, in the order of staging; what stood there before is deleted.

        Raises:
            OSError: a move failed; those before it have been undone.
        """
        done: list[tuple[Path, Path]] = []
        try:
            for staged, target in self._moves:
                if target.is_dir():
                    target.rename(_former(staged))
                elif target.exists():
                    os.link(target, _former(staged))
                done.append((staged, target))
                staged.rename(target)
        except OSError:
            for staged, target in reversed(done):
                _undo(staged, target)
            raise


def _former(staged: Path) -> Path:
    return staged.with_name("former")


def _undo(staged: Path, target: Path) -> None:
    if target.exists() and not staged.exists():
        target.rename(staged)
    if _former(staged).exists():
        _former(staged).rename(target)
