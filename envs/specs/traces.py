"""Trace files of mahimahi: one line per delivery opportunity, its time in ms.

Times are whole, non-negative and never decrease; a time that occurs n times means n opportunities in that ms.
The last time is the period after which the trace begins anew, so it must be positive. Rules as verified on
mm-link 0.98.
"""

import re
from functools import partial
from io import BufferedReader
from pathlib import Path

import numpy as np
from ccgym.envs.errors import InputError
from ccgym.envs.outside_files import opened, replace_file
from numpy.typing import NDArray

LATEST_MS = 2**32 - 1
MOST_BYTES = 1 << 30
"""Largest trace file: 100 million opportunities, 20 minutes at 1 Gbit/s."""
_PIECE_BYTES, _LONGEST_LINE = 1 << 20, 1000
_PIECE_LINES = 1 << 16
_TIMES = re.compile(rb"(?:[ \t]*[0-9]{1,10}\n)+")


def read_trace(path: Path) -> NDArray[np.uint32]:
    """Reads the opportunity times of a trace file, in ms, shape (opportunities,).

    Raises:
        InputError: the file cannot be read, or is not a trace; names file, line, what is wrong.
    """
    pieces: list[NDArray[np.uint32]] = []
    lines, previous_ms = 0, 0
    with opened(path, "the trace", MOST_BYTES) as stream:
        while piece := _whole_lines(stream):
            times_ms = _times_of(piece, path, lines, previous_ms)
            lines, previous_ms = lines + len(times_ms), int(times_ms[-1])
            pieces.append(times_ms)
    if not pieces:
        raise InputError(f"{path}: the trace is empty; it needs one time in ms per line")
    if previous_ms == 0:
        raise InputError(f"{path}:{lines}: the trace lasts 0 ms; its last time must be at least 1")
    return np.concatenate(pieces)


def _whole_lines(stream: BufferedReader) -> bytes:
    """The next lines of the file; not all at once, as text takes ten times the memory of the numbers."""
    return stream.read(_PIECE_BYTES) + stream.readline(_LONGEST_LINE)


def _times_of(piece: bytes, path: Path, lines_before: int, previous_ms: int) -> NDArray[np.uint32]:
    if _TIMES.fullmatch(piece):
        times_ms = np.array(piece.split(), dtype="S10").astype(np.int64)
        if times_ms[0] >= previous_ms and times_ms.max() <= LATEST_MS and (np.diff(times_ms) >= 0).all():
            return times_ms.astype(np.uint32)
    return _checked_times(piece, path, lines_before, previous_ms)


def _checked_times(piece: bytes, path: Path, lines_before: int, previous_ms: int) -> NDArray[np.uint32]:
    """Parses the same piece line by line, to name the wrong line."""
    timestamps_ms: list[int] = []
    for number, line in enumerate(piece.removesuffix(b"\n").split(b"\n"), start=lines_before + 1):
        time_ms = _time_of(line, f"{path}:{number}")
        if time_ms < previous_ms:
            raise InputError(f"{path}:{number}: {time_ms} is before {previous_ms}; times must not decrease")
        timestamps_ms.append(time_ms)
        previous_ms = time_ms
    return np.array(timestamps_ms, dtype=np.uint32)


def _time_of(line: bytes, where: str) -> int:
    digits = line.lstrip(b" \t")
    if len(line) <= _LONGEST_LINE and digits.isdigit() and (time_ms := int(digits)) <= LATEST_MS:
        return time_ms
    shown = line[:40].decode("ascii", "backslashreplace")
    what = f"{shown!r} is not" if digits else "the line is empty; it must be"
    raise InputError(f"{where}: {what} a whole number of ms from 0 to {LATEST_MS}")


def write_trace(path: Path, timestamps_ms: NDArray[np.uint32]) -> None:
    """Writes opportunity times in ms, shape (opportunities,), as a trace file; the whole file or none.

    Raises:
        InputError: the times make no valid trace, or the file cannot be written.
    """
    times_ms = np.asarray(timestamps_ms, dtype=np.int64)
    if times_ms.size == 0 or times_ms[0] < 0 or times_ms[-1] == 0 or np.any(np.diff(times_ms) < 0):
        raise InputError(f"{path}: a trace needs times that never decrease, the last of them at least 1 ms")
    replace_file(path, partial(_write_lines, times_ms=times_ms))


def _write_lines(path: Path, times_ms: NDArray[np.int64]) -> None:
    """Writes in pieces: as Python objects the lines take a hundred times their bytes."""
    with path.open("w", encoding="ascii") as stream:
        for begin in range(0, len(times_ms), _PIECE_LINES):
            piece = times_ms[begin : begin + _PIECE_LINES].tolist()
            stream.writelines(f"{time_ms}\n" for time_ms in piece)
