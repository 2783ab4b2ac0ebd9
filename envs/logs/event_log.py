"""Logs of one event per line, `TIME KIND NUMBER...`, parsed without a loop over lines."""

from pathlib import Path
from typing import Any

import numpy as np
from ccgym.envs.errors import InputError
from numpy.typing import NDArray

Array = NDArray[Any]

DECIMALS = 3
_LONGEST_NUMBER = 18


_READABLE = np.arange(256, dtype=np.uint8)
_READABLE[: ord(" ")] = ord("?")  # no blank, no number
_READABLE[[9, 10, 13]] = 9, 10, 13


class EventLog:
    """The event lines of a log as columns.

    Args:
        path: named in errors.
        body: the lines, without the header.
        first_line: number of the first of them in the file.
        layouts: for each kind of line one letter per field: `k` the kind (always the second field), `i` a
            whole number, `d` a number with three decimals, `s` a minus sign that parts two of them.
        ordered: False: lines that are earlier than the one before are put in order, and counted.

    Raises:
        InputError: a line is broken; the message names file, line and what is wrong.
    """

    backwards: int = 0
    """Lines that were earlier than the one before."""
    most_backwards_ms: float = 0.0

    def __init__(
        self, path: Path, body: bytes, first_line: int, layouts: dict[str, str], *, ordered: bool = True
    ) -> None:
        self._path, self._body, self._first_line, self._layouts = path, body, first_line, layouts
        self._raw = np.frombuffer(body, np.uint8)
        self._raw = _READABLE[self._raw]
        self._split()
        self._kinds = self._parse_kinds()
        self._blank_separators()
        self._numbers = self._parse_numbers()
        times = self._numbers[self._first]
        steps = np.diff(times, prepend=times[:1])
        if ordered:
            self._reject_where(steps < 0, "is earlier than the line before")
        elif (steps < 0).any():
            self._put_in_order(times, steps)

    def values(self, kind: str, field: int) -> Array:
        """Field `field` (0 the time) of all lines of this kind, in their order."""
        numbers: Array = self._numbers[self._first[self._kinds == ord(kind)] + field]
        return numbers / 10**DECIMALS if self._layouts[kind][field] == "d" else numbers

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
        kinds: Array = self._raw[self._starts[second]]
        expected = np.zeros(256, np.int64)
        for kind, layout in self._layouts.items():
            expected[ord(kind)] = len(layout)
        longer = self._ends[second] - self._starts[second] != 1
        known = " ".join(self._layouts)
        self._reject_where((expected[kinds] == 0) | longer, f"has none of {known} as its second field")
        self._reject_where(expected[kinds] != self._fields, "has too few or too many fields")
        self._raw[self._starts[second]] = ord("0")
        return kinds

    def _blank_separators(self) -> None:
        """Makes every separator a number like the others, 0."""
        if not any("s" in layout for layout in self._layouts.values()):
            return
        separators = self._fields_of("s")
        starts = self._starts[separators]
        wrong = (self._ends[separators] - starts != 1) | (self._raw[starts] != ord("-"))
        lines = np.bincount(self._line[separators][wrong], minlength=len(self._fields)) > 0
        self._reject_where(lines, "has no ' - ' between its numbers")
        self._raw[starts] = ord("0")

    def _parse_numbers(self) -> Array:
        """Every field in units of its last decimal; kinds are 0."""
        point = self._ends - 1 - DECIMALS
        decimal = self._fields_of("d")
        broken = decimal & (self._raw[point] != ord("."))
        allowed = (self._raw >= ord("0")) & (self._raw <= ord("9"))
        allowed[point[decimal]] = True
        allowed[self._starts[self._raw[self._starts] == ord("-")]] = True
        broken |= (self._ends - self._starts > _LONGEST_NUMBER) | (self._raw[self._ends - 1] == ord("-"))
        strange = np.flatnonzero(~allowed & (self._raw > ord(" ")))
        broken[np.searchsorted(self._starts, strange, side="right") - 1] = True
        lines = np.bincount(self._line[broken], minlength=len(self._fields)) > 0
        self._reject_where(lines, "has a field that is not the number it should be")
        return np.fromstring(self._raw[self._raw != ord(".")].tobytes(), np.int64, sep=" ")

    def _put_in_order(self, times: Array, steps: Array) -> None:
        self.backwards, self.most_backwards_ms = int(np.sum(steps < 0)), float(-steps.min() / 10**DECIMALS)
        order = np.argsort(times, kind="stable")
        self._first, self._kinds = self._first[order], self._kinds[order]

    def _fields_of(self, letter: str) -> Array:
        """Which fields, of all in the file, have this letter in their layout."""
        table = np.zeros((256, max(map(len, self._layouts.values()))), bool)
        for kind, layout in self._layouts.items():
            table[ord(kind), : len(layout)] = [each == letter for each in layout]
        field = np.arange(len(self._starts)) - self._first[self._line]
        return table[self._kinds[self._line], field]

    def _reject_where(self, broken: Array, wrong: str) -> None:
        if broken.any():
            line = int(np.argmax(broken))
            content = self._body.split(b"\n")[line].decode(errors="replace").strip()
            raise InputError(f"{self._path}:{self._first_line + line}: '{content}' {wrong}")


def whole_lines(text: bytes) -> bytes:
    """`text` up to its last whole line: who was killed while writing leaves half of one."""
    return text[: text.rfind(b"\n") + 1]
