"""Trace files of mahimahi: one line per delivery opportunity, its time in ms.

Times are whole, non-negative and never decrease; a time that stands n times means n opportunities in that ms.
The last time is the period after which the trace begins anew, so it must be positive. Rules as verified on
mm-link 0.98.
"""

from pathlib import Path

import numpy as np
from ccgym.envs.errors import InputError
from ccgym.envs.outside_files import read_bytes, replace_file
from numpy.typing import NDArray

LATEST_MS = 2**32 - 1


def read_trace(path: Path) -> NDArray[np.uint32]:
    """Reads the opportunity times of a trace file, in ms, shape (opportunities,).

    Raises:
        InputError: the file cannot be read, or is not a trace; names file, line, what is wrong.
    """
    lines = read_bytes(path, "the trace").split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    timestamps_ms: list[int] = []
    previous_ms = 0
    for number, line in enumerate(lines, start=1):
        time_ms = _time_of(line, f"{path}:{number}")
        if time_ms < previous_ms:
            raise InputError(f"{path}:{number}: {time_ms} is before {previous_ms}; times must not decrease")
        timestamps_ms.append(time_ms)
        previous_ms = time_ms
    if not timestamps_ms:
        raise InputError(f"{path}: the trace is empty; it needs one time in ms per line")
    if previous_ms == 0:
        raise InputError(f"{path}:{len(lines)}: the trace lasts 0 ms; its last time must be at least 1")
    return np.array(timestamps_ms, dtype=np.uint32)


def _time_of(line: bytes, where: str) -> int:
    digits = line.lstrip(b" \t")
    if digits.isdigit() and (time_ms := int(digits[:20])) <= LATEST_MS:
        return time_ms
    shown = line[:40].decode("ascii", "backslashreplace")
    what = f"{shown!r} is not" if digits else "the line is empty; it must be"
    raise InputError(f"{where}: {what} a whole number of ms from 0 to {LATEST_MS}")


def write_trace(path: Path, timestamps_ms: NDArray[np.uint32]) -> None:
    """Writes opportunity times, in ms, shape (opportunities,), as a trace file, at once or not at all.

    Raises:
        InputError: the times are no trace, or the file cannot be written.
    """
    times_ms = np.asarray(timestamps_ms, dtype=np.int64)
    if times_ms.size == 0 or times_ms[0] < 0 or times_ms[-1] == 0 or np.any(np.diff(times_ms) < 0):
        raise InputError(f"{path}: a trace needs times that never decrease, the last of them at least 1 ms")
    text = "".join(f"{time_ms}\n" for time_ms in times_ms.tolist())
    replace_file(path, lambda fresh: fresh.write_text(text, encoding="ascii"))
