"""A lock on starting shells: each looks for free addresses before it takes them.

Two that start at once may take the same addresses, and then hang.
"""

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from ccgym.envs.errors import OutsideError

MOST_S = 300.0
"""Far longer than several starts take, on a busy machine too."""
POLL_S = 0.01


@contextmanager
def start_lock(program: Path, most_s: float = MOST_S) -> Iterator[None]:
    """Holds the lock of all users and processes on this machine, a file lock on the shells' `program`.

    Raises:
        OutsideError: somebody else has held it for `most_s`.
    """
    with program.open("rb") as file:
        _await(file, time.monotonic() + most_s)
        yield


def _await(file: BinaryIO, deadline: float) -> None:
    while True:
        try:
            return fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise OutsideError(f"{file.name}: another program that starts it has not ended yet") from None
            time.sleep(POLL_S)
