"""A progress bar for long work, on a terminal."""

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


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
