"""What work will take of the machine's memory, said before it begins."""

import resource
from pathlib import Path

from ccgym.envs.errors import InputError

SHARE = 0.9


def check_memory(needed_bytes: float, what: str) -> None:
    """Raises InputError, with the estimate, when `what` needs more memory than is free."""
    free_bytes = _free_bytes()
    if needed_bytes > SHARE * free_bytes:
        raise InputError(
            f"{what} would take about {needed_bytes / 1e9:.1f} GB of memory, "
            f"and {free_bytes / 1e9:.1f} GB are free: ask for less"
        )


def limit_own_memory(free_share: float) -> None:
    """This process may take this share of what is free, not more: what would raises MemoryError."""
    own_bytes = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    free_bytes = _free_bytes()
    if free_bytes < float("inf"):
        most_bytes = own_bytes + int(SHARE * free_share * free_bytes)
        resource.setrlimit(resource.RLIMIT_AS, (most_bytes, most_bytes))


def _free_bytes() -> float:
    for line in Path("/proc/meminfo").read_text().splitlines():
        name, _, kilobytes = line.partition(":")
        if name == "MemAvailable":
            return 1024 * float(kilobytes.split()[0])
    return float("inf")
