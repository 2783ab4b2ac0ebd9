"""Who starts shells waits for its turn: each looks for free addresses before it takes them.

Two that start at once may take the same ones; what comes of it hangs.
"""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def start_lock(program: Path) -> Iterator[None]:
    """Holds the lock of all users and processes on this machine, a file lock on the shells' `program`."""
    with program.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
