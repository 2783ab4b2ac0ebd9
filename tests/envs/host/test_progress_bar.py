"""Where nobody watches, a bar writes nothing."""

from io import StringIO

from ccgym.envs.host.progress_bar import progress_bar
from rich.console import Console


def test_without_a_terminal_nothing_is_written() -> None:
    written = StringIO()
    with progress_bar("runs", Console(file=written)) as bar:
        task = bar.add_task("", total=2)
        bar.advance(task)
    assert written.getvalue() == ""
    assert bar.tasks[0].completed == 1


def test_a_terminal_sees_how_far_it_is() -> None:
    written = StringIO()
    with progress_bar("runs", Console(file=written, force_terminal=True, no_color=True)) as bar:
        bar.add_task("", total=2, completed=1)
    assert "1/2" in written.getvalue()
