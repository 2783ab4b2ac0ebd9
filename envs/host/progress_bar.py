"""What is shown of long work: lines, and on a terminal a progress bar."""

from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

LEAST_COLUMNS = 10
USUAL_COLUMNS = 80


def progress_console(**options: Any) -> Console:
    """A console of rich with a sensible width: with COLUMNS=0 rich would be silent."""
    console = Console(highlight=False, **options)
    if console.width < LEAST_COLUMNS:
        console.width = USUAL_COLUMNS
    return console


def progress_bar(what: str, console: Console) -> Progress:
    """So many of so many, the time left, and a task's description; nothing where `console` is no terminal."""
    columns = (
        TextColumn(what),
        MofNCompleteColumn(),
        BarColumn(),
        TextColumn("{task.description}"),
        TimeRemainingColumn(),
    )
    if console.is_terminal:
        return Progress(*columns, console=console)
    return Progress(console=Console(quiet=True), disable=True)  # older rich ends even this with a line
