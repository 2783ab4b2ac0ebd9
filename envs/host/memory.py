"""What work will take of the machine's memory, said before it begins."""

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


def _free_bytes() -> float:
    for line in Path("/proc/meminfo").read_text().splitlines():
        name, _, kilobytes = line.partition(":")
        if name == "MemAvailable":
            return 1024 * float(kilobytes.split()[0])
    return float("inf")
