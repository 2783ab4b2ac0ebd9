"""Progress of a run: a bar on a terminal, plain lines elsewhere."""

import time
from types import TracebackType
from typing import Self

from ccgym.envs.host.progress_bar import progress_bar, progress_console

PLAIN_INTERVAL_S = 5.0


class TrainingProgress:
    """Context manager; `advance` after every iteration, `say` for whole lines."""

    def __init__(self, done: int, total: int) -> None:
        self._total = total
        self._last_line_s = 0.0
        self._bar = progress_bar("iteration", progress_console())
        self._task = self._bar.add_task("", completed=done, total=total)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def say(self, line: str) -> None:
        """Prints a line above the bar."""
        if self._bar.disable:
            print(line, flush=True)
        else:
            self._bar.console.print(line, highlight=False)

    def advance(self, done: int, summary: str) -> None:
        """Shows how far the run is and how its last iteration went."""
        self._bar.update(self._task, completed=done, description=summary)
        now_s = time.monotonic()
        if self._bar.disable and (now_s - self._last_line_s >= PLAIN_INTERVAL_S or done == self._total):
            self._last_line_s = now_s
            self.say(f"iteration {done}/{self._total}  {summary}")
