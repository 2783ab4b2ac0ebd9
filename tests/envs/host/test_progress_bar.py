"""Where nobody watches, a bar writes nothing."""

from io import StringIO

import pytest
from ccgym.envs.host.progress_bar import USUAL_COLUMNS, progress_bar, progress_console
from rich.console import Console


def test_without_a_terminal_nothing_is_written() -> None:
    written = StringIO()
    with progress_bar("runs", Console(file=written)) as bar:
        task = bar.add_task("", total=2)
        bar.advance(task)
    assert written.getvalue() == ""
    assert bar.tasks[0].completed == 1


@pytest.mark.parametrize(("columns", "width"), [("0", USUAL_COLUMNS), ("1", USUAL_COLUMNS), ("40", 40)])
def test_a_line_is_shown_whatever_the_width(
    columns: str, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    written = StringIO()
    console = progress_console(file=written)
    console.print("a run is over")
    assert written.getvalue() == "a run is over\n"
    assert console.width == width


def test_a_terminal_sees_how_far_it_is() -> None:
    written = StringIO()
    with progress_bar("runs", Console(file=written, force_terminal=True, no_color=True)) as bar:
        bar.add_task("", total=2, completed=1)
    assert "1/2" in written.getvalue()
