"""`report.pdf`: the pages of Pantheon's report for each scenario; and every plot as a file of its own."""

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from textwrap import wrap

from ccgym.envs.outside_files import replace_file
from ccgym.evaluation.metrics.results import Evaluation, RunResult, Scenario
from matplotlib import rc_context
from matplotlib.backends.backend_pdf import PdfPages
from matplotlib.figure import Figure

from .drawings import draw_delay, draw_fairness, draw_summary, draw_throughput, single_figure
from .palette import Style, styles
from .pantheon_text import opening, statistics, table_rows
from .run_figures import has_series

_PAGE = (8.27, 11.69)
_LANDSCAPE = (11.69, 8.27)
_LINES, _CHARACTERS = 78, 110
"""Most lines of a page of text, and most characters of a line."""
_COLUMN_LINES = 21
"""Most lines of each of the two columns above a run's plots."""
_ROWS = 34
"""Most rows of a page of the table."""
_DPI = 150
_DRAWN_AS = partial(rc_context, {"text.parse_math": False, "axes.titley": 1.0})
"""A context: a name with two dollar signs is no formula; titles, which are above all else, are put at a fixed
place, because the search for a free one would take a fifteenth of the time."""


def write_pdf(evaluation: Evaluation, path: Path) -> None:
    """Writes `report.pdf`; runs without logs have statistics only."""
    replace_file(path, lambda fresh: _write_pages(evaluation, fresh))


def _write_pages(evaluation: Evaluation, path: Path) -> None:
    colours = styles(evaluation.schemes)
    with _DRAWN_AS(), PdfPages(path, metadata={"Title": "Congestion control, head to head"}) as pages:
        for scenario in evaluation.scenarios:
            for figure in _scenario_pages(evaluation, scenario, colours):
                pages.savefig(figure)


def _scenario_pages(
    evaluation: Evaluation, scenario: Scenario, colours: dict[str, Style]
) -> Iterator[Figure]:
    failed = [f"{each.scheme}, run {each.run} failed: {each.reason}" for each in scenario.failures]
    yield from _text_pages(scenario.label, [*opening(evaluation, scenario), "", *failed, *scenario.remarks])
    if not scenario.runs:
        return
    for means in (True, False):
        yield _summary_page(scenario, colours, means=means)
    head, *rows = table_rows(evaluation, scenario)
    for begin in range(0, len(rows), _ROWS):
        yield _table_page(head, rows[begin : begin + _ROWS])
    for run in scenario.runs:
        yield from _run_pages(scenario, run)


def _text_pages(title: str, text: list[str]) -> Iterator[Figure]:
    """Pages of text, as many as needed; long lines are wrapped."""
    lines = [part for line in text for part in wrap(line, _CHARACTERS, subsequent_indent="  ") or [""]]
    for begin in range(0, len(lines), _LINES):
        figure = Figure(figsize=_PAGE)
        figure.text(0.08, 0.95, title, fontsize=16)
        shown = "\n".join(lines[begin : begin + _LINES])
        figure.text(0.08, 0.92, shown, fontsize=7, va="top", family="monospace")
        yield figure


def _summary_page(scenario: Scenario, colours: dict[str, Style], *, means: bool) -> Figure:
    figure = Figure(figsize=_LANDSCAPE)
    axes = figure.add_axes((0.08, 0.1, 0.86 if means else 0.7, 0.8))
    draw_summary(axes, scenario, colours, means=means)
    axes.set_title(
        f"{scenario.label}"
        + (" (mean of all runs by scheme, ellipses of one standard deviation)" if means else "")
    )
    return figure


def _table_page(head: list[str], rows: list[list[str]]) -> Figure:
    figure = Figure(figsize=_LANDSCAPE)
    axes = figure.add_axes((0.04, 0.04, 0.92, 0.92))
    axes.axis("off")
    wrapped = [cell.replace("mean ", "mean\n").replace(", flow", "\nflow") for cell in head]
    table = axes.table(
        cellText=rows, colLabels=wrapped, loc="upper center", cellLoc="right", edges="horizontal"
    )
    table.auto_set_font_size(False)
    table.set_fontsize(8)
    table.auto_set_column_width(list(range(len(head))))
    for column in range(len(head)):
        table[0, column].set_height(0.07)
    return figure


def _run_pages(scenario: Scenario, run: RunResult) -> Iterator[Figure]:
    """The statistics of a run above its plots; those of many flows continue on further pages."""
    title, lines = f"Run {run.run}: Statistics of {run.scheme}", statistics(scenario, run).splitlines()
    above = 2 * _COLUMN_LINES
    yield _run_page(title, lines[:above], run)
    yield from _text_pages(f"{title}, continued", lines[above:])


def _run_page(title: str, lines: list[str], run: RunResult) -> Figure:
    figure = Figure(figsize=_PAGE)
    figure.text(0.08, 0.96, title, fontsize=12)
    columns = [lines[begin : begin + _COLUMN_LINES] for begin in range(0, len(lines), _COLUMN_LINES)]
    for place, column in enumerate(columns):
        figure.text(0.08 + 0.45 * place, 0.94, "\n".join(column), fontsize=7.5, va="top", family="monospace")
    if has_series(run):
        shared = run.fairness is not None
        draw_throughput(figure.add_axes((0.1, 0.47, 0.84, 0.2)), run)
        draw_delay(figure.add_axes((0.1, 0.2 if shared else 0.12, 0.84, 0.17 if shared else 0.22)), run)
        if shared:
            draw_fairness(figure.add_axes((0.1, 0.05, 0.84, 0.06)), run)
    return figure


def write_figures(evaluation: Evaluation, folder: Path, kinds: Sequence[str]) -> None:
    """Writes every plot as a file of each kind, under Pantheon's names, in a folder for each scenario."""
    colours = styles(evaluation.schemes)
    for scenario in evaluation.scenarios:
        place = folder / scenario.label
        place.mkdir(parents=True, exist_ok=True)
        with _DRAWN_AS():
            for name, figure in _pictures(scenario, colours):
                for kind in kinds:
                    replace_file(place / f"{name}.{kind}", partial(figure.savefig, format=kind, dpi=_DPI))


def _pictures(scenario: Scenario, colours: dict[str, Style]) -> Iterator[tuple[str, Figure]]:
    if scenario.runs:
        for name, means in (("pantheon_summary_mean", True), ("pantheon_summary", False)):
            figure, axes = single_figure()
            draw_summary(axes, scenario, colours, means=means)
            yield name, figure
    for run in filter(has_series, scenario.runs):
        for kind, draw in _DRAWN.items():
            if kind == "fairness" and run.fairness is None:
                continue
            figure, axes = single_figure(12, 6)
            draw(axes, run)
            yield f"{run.scheme}_datalink_{kind}_run{run.run}", figure


_DRAWN = {"throughput": draw_throughput, "delay": draw_delay, "fairness": draw_fairness}
