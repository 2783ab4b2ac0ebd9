"""A lock on the folder or file of a training, an evaluation or a search, for one writer at a time."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ccgym.envs.errors import InputError, is_of_system


@contextmanager
def folder_lock(folder: Path) -> Iterator[None]:
    """Holds `folder`, made where there is none; one that stays empty is removed again.

    The lock is on the folder itself and ends with the process, however that ends: nothing is left over.

    Raises:
        InputError: another process holds it, or there cannot be such a folder.
    """
    made = not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        if is_of_system(error):
            raise
        raise InputError(f"{folder}: cannot write there: {error.strerror}") from None
    try:
        with _held(descriptor, folder):
            yield
    finally:
        if made:
            with suppress(OSError):  # it holds something
                folder.rmdir()


@contextmanager
def file_lock(file: Path) -> Iterator[None]:
    """Holds `file`, which is never replaced, made where there is none; one that stays empty is removed again.

    Raises:
        InputError: another process holds it, or there cannot be such a file.
    """
    try:
        # Not to be waited for, should it be a pipe.
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_NONBLOCK | os.O_CLOEXEC, 0o644)
    except OSError as error:
        if is_of_system(error):
            raise
        raise InputError(f"{file}: cannot write there: {error.strerror}") from None
    with _held(descriptor, file):
        try:
            yield
        finally:
            if os.fstat(descriptor).st_size == 0:
                file.unlink(missing_ok=True)


@contextmanager
def _held(descriptor: int, place: Path) -> Iterator[None]:
    """Holds what is open as `descriptor`, and closes it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise InputError(
            f"{place}: another ccgym writes there: wait for it, or choose another --out"
        ) from None
    finally:
        os.close(descriptor)
