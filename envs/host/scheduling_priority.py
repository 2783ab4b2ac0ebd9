"""Scheduling priority of programs that must be on time: a late one spoils the measurement.

Shells have a higher priority than the programs in and around them, which may be busy for long. The kernel
keeps a share of every core for ordinary programs (sched(7), sched_rt_runtime_us): none of these can lock the
machine.
"""

import os
from enum import Enum
from functools import cache

from .program_output import program_output

SHELL_PRIORITY = 20
"""Of SCHED_RR, as the next."""
PROGRAM_PRIORITY = 10
NICENESS = -15


class SchedulingPriority(Enum):
    """Kinds of scheduling, the best first."""

    REAL_TIME = f"SCHED_RR, shells {SHELL_PRIORITY}, programs {PROGRAM_PRIORITY}"
    NICE = f"nice {NICENESS}"
    NONE = "none"


@cache
def scheduling_priority() -> SchedulingPriority:
    """The best kind that this process may use."""
    if program_output(["chrt", "--rr", str(SHELL_PRIORITY), "echo", "ran"]) == "ran":
        return SchedulingPriority.REAL_TIME
    if program_output(["nice", "-n", str(NICENESS), "nice"]) not in (
        "",
        str(os.nice(0)),
    ):  # it says what it got
        return SchedulingPriority.NICE
    return SchedulingPriority.NONE


def shells_first(argv: list[str]) -> list[str]:
    """Shells ahead of everything else."""
    return _ahead(argv, SHELL_PRIORITY)


def program_first(argv: list[str]) -> list[str]:
    """A program ahead of everything but the shells."""
    return _ahead(argv, PROGRAM_PRIORITY)


def within_shells(argv: list[str]) -> list[str]:
    """A program that shells start, behind them: it needs no right to step back."""
    return program_first(argv) if scheduling_priority() is SchedulingPriority.REAL_TIME else argv


def _ahead(argv: list[str], priority: int) -> list[str]:
    if scheduling_priority() is SchedulingPriority.REAL_TIME:
        return ["chrt", "--rr", str(priority), *argv]
    if scheduling_priority() is SchedulingPriority.NICE:
        return ["nice", "-n", str(NICENESS), *argv]
    return argv
