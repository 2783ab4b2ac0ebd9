"""Logs of one event per line, `TIME KIND NUMBER...`, read in pieces: memory holds their numbers only."""

from pathlib import Path
from typing import IO, Any

import numpy as np
from ccgym.envs import _core
from ccgym.envs.errors import InputError
from numpy.typing import NDArray

Array = NDArray[Any]

_PIECE_BYTES = 1 << 20


class EventLog:
    """The event lines of a log as columns.

    Args:
        path: named in errors.
        stream: the file, its header read already.
        first_line: number of the first line of events in the file.
        layouts: for each kind of line one letter per field: `k` the kind (always the second field), `d` a
            number with three decimals, `i` a whole number, `n` one from 0 to 2^31 - 1, `x` one that is
            ignored, `s` a minus sign that separates two of them.
        ordered: False: lines that are earlier than the one before are put in order, and counted.
        whole_lines: True: ignore a last line without an end, as a process that was killed while writing
            leaves it.

    Raises:
        InputError: a line is broken; the message names file, line and what is wrong.
    """

    def __init__(
        self,
        path: Path,
        stream: IO[bytes],
        first_line: int,
        layouts: dict[str, str],
        *,
        ordered: bool = True,
        whole_lines: bool = True,
    ) -> None:
        self._layouts = layouts
        self._parser = _core.EventParser(layouts, ordered=ordered, first_line=first_line)
        try:
            while piece := stream.read(_PIECE_BYTES):
                self._parser.feed(piece)
            if not whole_lines:
                self._parser.finish()
        except ValueError as error:
            raise InputError(f"{path}:{error}") from None
        self.cut_in_mid_line: bool = self._parser.cut_in_mid_line
        self.backwards: int = self._parser.backwards
        """Lines that were earlier than the one before."""
        self.most_backwards_ms: float = self._parser.most_backwards_ms

    def take(self, kind: str) -> dict[int, Array]:
        """The numbers of all lines of this kind, by field (0 the time), in the order of time; once."""
        kept = [field for field, letter in enumerate(self._layouts[kind]) if letter in "din"]
        columns: dict[int, Array] = {field: self._parser.take(kind, field) for field in kept}
        if self.backwards:
            order = np.argsort(columns[0], kind="stable")
            columns = {field: column[order] for field, column in columns.items()}
        return columns
