"""The command line as a process, and what is left of processes that tests have started."""

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

CCGYM = (sys.executable, "-c", "import sys; from ccgym.cli.main import main; sys.exit(main())")
"""The command line, by the interpreter that runs the tests."""
MOST_SECONDS = 300
"""Before a command that takes seconds counts as hanging, whatever else the machine does."""


def wait_until(condition: Callable[[], bool], what: str, timeout_s: float = 60) -> None:
    """Fails, with what was waited for, where the condition does not come true."""
    deadline_s = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline_s, f"{what}: not within {timeout_s:g} s"
        time.sleep(0.01)


def all_processes() -> list[int]:
    """The ids of all processes of this machine."""
    return [int(folder.name) for folder in Path("/proc").glob("[0-9]*")]


def is_running(pid: int) -> bool:
    """A zombie is not: it has ended, and stays until its parent has asked how."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def command_of(pid: int) -> str:
    """The words of a command line, with a blank after each; empty once it has ended."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text(errors="replace").replace("\0", " ")
    return ""


def children_of(pid: int) -> list[int]:
    """Of its main thread; none once it has ended."""
    with suppress(OSError):
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


def descendants(pid: int) -> list[int]:
    """All processes below this one."""
    return [each for child in children_of(pid) for each in (child, *descendants(child))]


def programs_in(folder: Path) -> list[str]:
    """The names of all processes whose working directory is in `folder`, even if that is gone."""
    found = []
    for pid in all_processes():
        with suppress(OSError):  # it has just ended
            if Path(f"/proc/{pid}/cwd").readlink().is_relative_to(folder):
                found.append(Path(f"/proc/{pid}/comm").read_text().strip())
    return found
