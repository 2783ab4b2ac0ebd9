"""Checks before work begins whether its memory is free, and limits of a process."""

import math
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ccgym.envs.errors import InputError

SHARE = 0.9
OUTSIDE_CODE_MB = 1024
"""Memory that code from outside may use beyond that of ccgym itself."""
CONTROL_GROUP = Path("/sys/fs/cgroup")
"""The control group of a container, as seen from inside."""


def check_memory(needed_bytes: float, what: str) -> None:
    """Raises InputError, with the estimate, when `what` needs more memory than is free."""
    free_bytes = _free_bytes()
    if needed_bytes > SHARE * free_bytes:
        raise InputError(
            f"{what} would take about {needed_bytes / 1e9:.1f} GB of memory, "
            f"and {free_bytes / 1e9:.1f} GB are free: ask for less"
        )


def limit_own_memory(free_share: float) -> None:
    """Limits this process to a share of the free memory; beyond it allocations raise MemoryError."""
    free_bytes = _free_bytes()
    if free_bytes < math.inf:
        most_bytes = _within_limit(
            resource.RLIMIT_AS, _address_space_bytes() + SHARE * free_share * free_bytes
        )
        resource.setrlimit(resource.RLIMIT_AS, (most_bytes, most_bytes))


def limit_outside_code() -> None:
    """Limits the data of this process, which runs code from outside and nothing else.

    Not its address space: the libraries of PyTorch take 3 GB of that and touch a part.
    """
    most_bytes = _within_limit(resource.RLIMIT_DATA, _data_bytes() + (OUTSIDE_CODE_MB << 20))
    resource.setrlimit(resource.RLIMIT_DATA, (most_bytes, most_bytes))


@contextmanager
def outside_code_limited(own_bytes: float) -> Iterator[None]:
    """The same while the context lasts, for a process that has other work later.

    Args:
        own_bytes: what ccgym itself will need within the context.
    """
    before, most_allowed = resource.getrlimit(resource.RLIMIT_DATA)
    most_bytes = _within_limit(resource.RLIMIT_DATA, _data_bytes() + (OUTSIDE_CODE_MB << 20) + own_bytes)
    resource.setrlimit(resource.RLIMIT_DATA, (most_bytes, most_allowed))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (before, most_allowed))


def _within_limit(limit: int, wanted_bytes: float) -> int:
    """`wanted_bytes`, or the present limit of this process if that is lower."""
    present, _ = resource.getrlimit(limit)
    return int(wanted_bytes) if present == resource.RLIM_INFINITY else min(int(wanted_bytes), present)


def _address_space_bytes() -> int:
    """What RLIMIT_AS counts."""
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def _data_bytes() -> int:
    """What RLIMIT_DATA counts: private memory that can be written, without what is shared or of files."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return 1024 * int(status["VmData"].split()[0])


def _free_bytes() -> float:
    """The least of what is free on the machine, in the container, and under the limit of this process."""
    return max(0.0, min(_free_on_machine(), _free_in_container(), _free_under_limit()))


def _free_on_machine() -> float:
    for line in Path("/proc/meminfo").read_text().splitlines():
        name, _, kilobytes = line.partition(":")
        if name == "MemAvailable":
            return 1024 * float(kilobytes.split()[0])
    return math.inf


def _free_in_container() -> float:
    """By its control group, version 2. Cached files count as free: the kernel gives them up for memory."""
    try:
        most, used, kinds = (
            (CONTROL_GROUP / f"memory.{name}").read_text() for name in ("max", "current", "stat")
        )
    except OSError:
        return math.inf
    if most.strip() == "max":
        return math.inf
    bytes_of = dict(line.split() for line in kinds.splitlines())
    cached_bytes = sum(float(bytes_of.get(f"{kind}_file", 0)) for kind in ("active", "inactive"))
    return float(most) - float(used) + cached_bytes


def _free_under_limit() -> float:
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    return math.inf if most == resource.RLIM_INFINITY else float(most - _address_space_bytes())
