"""The load by other programs while something runs in real time, which can make its packets late."""

import os
import time
from dataclasses import dataclass
from pathlib import Path

STATISTICS = Path("/proc/stat")
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_USER, _NICE, _SYSTEM, _STOLEN = 0, 1, 2, 7
"""Columns of the first line of /proc/stat (proc(5)): time of programs, and of other virtual machines."""


@dataclass(frozen=True)
class ProcessorTime:
    """Taken so far, in s of one core."""

    all_s: float
    """By all programs of the machine, and by its neighbours on the same host."""
    own_s: float
    """By this process, and by those of its children that have ended."""
    clock_s: float

    def others_cores_since(self, before: "ProcessorTime") -> float:
        """The mean number of cores that others kept busy; children that ended in between do not count."""
        others_s = (self.all_s - before.all_s) - (self.own_s - before.own_s)
        return max(0.0, others_s / (self.clock_s - before.clock_s))


def processor_time() -> ProcessorTime:
    """Until now."""
    ticks = [int(word) for word in STATISTICS.read_text().partition("\n")[0].split()[1:]]
    all_s = sum(ticks[column] for column in (_USER, _NICE, _SYSTEM, _STOLEN)) / _TICKS_PER_S
    return ProcessorTime(all_s, sum(os.times()[:4]), time.monotonic())
