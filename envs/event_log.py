"""Logs of one event per line, `TIME KIND NUMBER...`, parsed without a loop over lines."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import InputError

Array = NDArray[Any]

_DECIMAL_FIELDS = (0, 3)
"""Time and delay."""
_LONGEST_NUMBER = 18


class EventLog:
    """The event lines of a log as columns.

    Args:
        path: named in errors.
        body: the lines, without the header.
        first_line: number of the first of them in the file.
        fields: how many fields a line of each kind has, the time and the kind included.
        decimals: how many of them times and delays have.

    Raises:
        InputError: a line is broken; the message names file, line and what is wrong.
    """

    def __init__(self, path: Path, body: bytes, first_line: int, fields: dict[str, int], decimals: int) -> None:
        self._path, self._body, self._first_line = path, body, first_line
        self._expected, self._decimals = fields, decimals
        self._raw = np.frombuffer(body, np.uint8).copy()
        self._split()
        self.kinds = self._parse_kinds()
        self._numbers = self._parse_numbers()
        self.times = self.column(0)
        self._reject_where(np.diff(self.times, prepend=self.times[:1]) < 0, "is earlier than the line before")

    def of_kind(self, kind: str) -> Array:
        """Which lines are of this kind, shape (lines,)."""
        return self.kinds == ord(kind)

    def column(self, index: int) -> Array:
        """Field `index` (0 the time, 1 the kind) of every line; anything where a line has no such field."""
        numbers = self._numbers[np.minimum(self._first + index, len(self._numbers) - 1)]
        return numbers / 10**self._decimals if self._decimals and index in _DECIMAL_FIELDS else numbers

    def _split(self) -> None:
        blank = np.concatenate(([True], self._raw <= ord(" "), [True]))
        self._starts = np.flatnonzero(blank[:-2] & ~blank[1:-1])
        self._ends = np.flatnonzero(blank[2:] & ~blank[1:-1]) + 1
        unfinished = len(self._body) > 0 and not self._body.endswith(b"\n")
        self._line = np.searchsorted(np.flatnonzero(self._raw == ord("\n")), self._starts)
        self._fields = np.bincount(self._line, minlength=self._body.count(b"\n") + unfinished)
        self._reject_where(self._fields < 2, "is no event: a time, a kind and its numbers")
        self._first = np.cumsum(self._fields) - self._fields

    def _parse_kinds(self) -> Array:
        second = self._first + 1
        kinds = self._raw[self._starts[second]]
        expected = np.zeros(256, np.int64)
        expected[[ord(kind) for kind in self._expected]] = list(self._expected.values())
        longer = self._ends[second] - self._starts[second] != 1
        known = " ".join(self._expected)
        self._reject_where((expected[kinds] == 0) | longer, f"has none of {known} as its second field")
        self._reject_where(expected[kinds] != self._fields, "has too few or too many fields")
        self._raw[self._starts[second]] = ord("0")
        return kinds

    def _parse_numbers(self) -> Array:
        """Every field as a whole number, in units of its last decimal; kinds are 0."""
        field = np.arange(len(self._starts)) - self._first[self._line]
        point = self._ends - 1 - self._decimals
        has_point = np.isin(field, _DECIMAL_FIELDS) & (self._decimals > 0)
        digit = (self._raw >= ord("0")) & (self._raw <= ord("9"))
        digit[point[has_point & (self._raw[point] == ord("."))]] = True
        digit[self._starts[self._raw[self._starts] == ord("-")]] = True
        broken = (self._ends - self._starts > _LONGEST_NUMBER) | (self._raw[self._ends - 1] == ord("-"))
        broken |= has_point & (self._raw[point] != ord("."))
        strange = np.flatnonzero(~digit & (self._raw > ord(" ")))
        broken[np.searchsorted(self._starts, strange, side="right") - 1] = True
        self._reject_where(np.bincount(self._line[broken], minlength=len(self._fields)) > 0, "has a field that is no number")
        return np.fromstring(self._raw[self._raw != ord(".")].tobytes(), np.int64, sep=" ")

    def _reject_where(self, broken: Array, wrong: str) -> None:
        if broken.any():
            line = int(np.argmax(broken))
            content = self._body.split(b"\n")[line].decode(errors="replace").strip()
            raise InputError(f"{self._path}:{self._first_line + line}: '{content}' {wrong}")
