"""Tables of Pantheon's reports beside runs of ours, scheme by scheme."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from ccgym.calibration.load_target import load_target
from ccgym.envs.errors import InputError
from ccgym.evaluation.metrics.results import Evaluation, RunResult
from ccgym.evaluation.report.drawings import draw_summary, single_figure
from ccgym.evaluation.report.palette import styles
from ccgym.evaluation.report.pantheon_text import write_text
from matplotlib.figure import Figure

from .reproduction import Line, ReproductionOptions, failure_text, mean_text


@dataclass(frozen=True)
class Row:
    """A scheme of a report, with means over its runs."""

    scheme: str
    """The scheme's name in the report."""
    runs: int
    mbps: float | None
    """None: no run of it was measured."""
    p95_delay_ms: float | None
    loss_percent: float | None
    ours: str | None
    """Our scheme of the same algorithm."""
    why: str = ""
    """Why there is no scheme of ours, or what differs."""


def table_lines(rows: Sequence[Row], evaluation: Evaluation, options: ReproductionOptions) -> list[Line]:
    """A line for each row: Mbit/s, p95 ms, loss in %."""
    (scenario,) = evaluation.scenarios
    lines = []
    for row in rows:
        name = None if row.ours is None else options.kernels([row.ours])[0]
        runs = [run for run in scenario.runs if run.scheme == name]
        theirs = (
            "N/A" if row.mbps is None else f"{row.mbps:.2f} / {row.p95_delay_ms:.2f} / {row.loss_percent:.2f}"
        )
        ours = _text(runs) if runs else "-"
        what = f"{row.scheme}: Mbit/s / p95 ms / loss %, {row.runs} runs"
        failed = "" if name is None else failure_text(scenario, name)
        lines.append(Line(what, theirs, ours, why="; ".join(filter(None, (row.why, failed)))))
    return lines


def _text(runs: list[RunResult]) -> str:
    columns = (
        ("pantheon_throughput_mbps", 1, 2),
        ("pantheon_p95_delay_ms", 1, 0),
        ("pantheon_loss", 100, 2),
    )
    return " / ".join(
        mean_text([factor * getattr(run.total, name) for run in runs], decimals)
        for name, factor, decimals in columns
    )


def order_lines(
    rows: Sequence[Row], evaluation: Evaluation, options: ReproductionOptions, least: float
) -> list[Line]:
    """Whether the schemes are in the same order, by Spearman's rank correlation of both figures."""
    means = means_of(evaluation)
    from scipy.stats import rankdata, spearmanr  # late: it takes a second

    both = [
        (row, means[name])
        for row in rows
        if row.ours and row.mbps is not None
        for name in options.kernels([row.ours])
        if name in means
    ]
    lines = []
    for what, theirs, place in (
        ("throughput", [row.mbps for row, _ in both], 0),
        ("p95 delay", [row.p95_delay_ms for row, _ in both], 1),
    ):
        own = [ours[place] for _, ours in both]
        found = float(spearmanr(theirs, own).statistic)
        farthest = int(np.argmax(np.abs(rankdata(theirs) - rankdata(own))))
        lines.append(
            Line(
                f"order of {len(both)} schemes by {what} (Spearman)",
                "1",
                f"{found:.2f}",
                f">= {least:g}",
                found >= least,
                f"farthest from its place: {both[farthest][0].scheme}",
            )
        )
    return lines


def means_of(evaluation: Evaluation) -> Mapping[str, tuple[float, float]]:
    """Mbit/s and p95 ms of each scheme."""
    (scenario,) = evaluation.scenarios
    of_scheme: dict[str, list[tuple[float, float]]] = {}
    for run in scenario.runs:
        of_scheme.setdefault(run.scheme, []).append(
            (run.total.pantheon_throughput_mbps, run.total.pantheon_p95_delay_ms)
        )
    return {scheme: tuple(np.mean(runs, axis=0)) for scheme, runs in of_scheme.items()}


def read_back_line(evaluation: Evaluation, folder: Path) -> Line:
    """Checks that the parser of `ccgym calibrate` reads our report in Pantheon's layout."""
    (scenario,) = evaluation.scenarios
    path = folder / "report.txt"
    write_text(evaluation, scenario, path)
    target = load_target(path)
    means = means_of(evaluation)
    worst = max(
        (abs(row.throughput_mbps - means[row.scheme][0]) for row in target.measured), default=float("nan")
    )
    return Line(
        f"our run in their layout, {len(target.measured)} schemes read back: Mbit/s off",
        "0",
        f"{worst:.3f}",
        "<= 0.005, the last digit",
        worst <= 0.0051,
    )


def document_lines(rows: Sequence[Row], document: Path | None) -> list[Line]:
    """Compares the published text, read by the same parser, with the table above.

    Raises:
        InputError: the file is no report of Pantheon's.
    """
    if document is None:
        return []
    target = load_target(document)
    table = {row.scheme: row for row in rows}
    found = []
    for measured in target.measured:
        row = table.get(measured.scheme)
        if row is None or row.mbps is None:
            raise InputError(f"{document}: scheme {measured.scheme} is not in the published table")
        found.append(abs(measured.throughput_mbps - row.mbps))
    return [
        Line(
            f"their runs, read by `ccgym calibrate`: {len(found)} means beside the table, Mbit/s off",
            "0",
            f"{max(found):.3f}",
            "<= 0.02: the table is rounded",
            max(found) <= 0.02,
        )
    ]


def figure(rows: Sequence[Row], evaluation: Evaluation, options: ReproductionOptions) -> Figure:
    """A plot of our schemes with ellipses, and an open mark for each published one."""
    figure, axes = single_figure()
    (scenario,) = evaluation.scenarios
    colours = styles(evaluation.schemes)
    draw_summary(axes, scenario, colours, means=True)
    limits, top = axes.get_xlim(), axes.get_ylim()[1]
    for row in rows:
        name = options.kernels([row.ours])[0] if row.ours else ""
        if name in colours and row.mbps is not None and row.p95_delay_ms is not None:
            style = colours[name]
            axes.plot(row.p95_delay_ms, row.mbps, style.pen, mfc="none", color=style.colour, ms=9)
            limits = (max(limits[0], 1.2 * row.p95_delay_ms), min(limits[1], row.p95_delay_ms / 1.2))
            top = max(top, 1.1 * row.mbps)
    axes.set_xlim(limits)
    axes.set_ylim(0, top)
    axes.set_title("filled: ours; open: theirs", fontsize=9)
    return figure
