"""Summary and report of a data directory."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from ccgym.evaluation.metrics.frontier import CLEARLY
from ccgym.evaluation.metrics.leaderboard_row import LeaderboardRow
from ccgym.evaluation.metrics.results import load_evaluation
from ccgym.evaluation.metrics.summary import summarise, write_summary

from .pantheon_text import write_text
from .report import write_report
from .table_file import write_table


def publish(
    folder: Path, formats: Collection[str] = ("html",), figures: Sequence[str] = ()
) -> dict[str, Any]:
    """Measures all runs in `folder`, writes summary.json and the reports there, returns the summary.

    Args:
        folder: the data directory.
        formats: some of html, pdf, csv: report.*; txt: report.txt beside each scenario's logs; json:
            summary.json, which is always written.
        figures: some of svg, png: every figure as a file under figures/.

    Raises:
        InputError: `folder` is no data directory, or no run in it can be read.
    """
    evaluation = load_evaluation(folder)
    summary = summarise(evaluation)
    write_summary(summary, folder / "summary.json")
    if "html" in formats:
        write_report(evaluation, folder / "report.html")
    if "csv" in formats:
        write_table(evaluation, folder / "report.csv")
    if "txt" in formats:
        there = [scenario for scenario in evaluation.scenarios if scenario.folder.is_dir()]
        for scenario in there:
            write_text(evaluation, scenario, scenario.folder / "report.txt")
    if "pdf" in formats or figures:
        from .pdf_report import write_figures, write_pdf  # late: it imports matplotlib

        if "pdf" in formats:
            write_pdf(evaluation, folder / "report.pdf")
        if figures:
            write_figures(evaluation, folder / "figures", figures)
    return summary


FRONTIER_NOTE = (
    f"frontier share: scenarios in which no other scheme has both >= {100 * CLEARLY:.0f} % more throughput "
    f"and >= {100 * CLEARLY:.0f} % less p95 delay; one that hardly sends has a high one, too: "
    "see its utilisation"
)


def leaderboard_lines(summary: dict[str, Any]) -> list[str]:
    """A summary's leaderboards as tables for a terminal: over unseen scenarios first, then over all."""
    return [*_leaderboards(summary), *([FRONTIER_NOTE] if summary["table"] else [])]


def _leaderboards(summary: dict[str, Any]) -> list[str]:
    scenarios, unseen = len(summary["scenarios"]), summary["unseen"]["scenarios"]
    if not any(scenario["seen"] for scenario in summary["scenarios"]):
        return _table_lines(summary["table"])
    if unseen == scenarios:
        return ["No learned scheme has seen any scenario in its training.", *_table_lines(summary["table"])]
    headline = [f"{unseen} of {scenarios} scenarios, which no learned scheme has seen in its training:"]
    table = summary["unseen"]["table"]
    if not table:
        headline = [f"none of the {unseen} scenarios that no learned scheme has seen has been run"]
    if not unseen:
        headline = ["A learned scheme has seen every scenario, or does not say what it has seen."]
    return [
        *headline,
        *_table_lines(table),
        *(["", f"all {scenarios} scenarios:"] if table else []),
        *_table_lines(summary["table"]),
    ]


def _table_lines(table: list[dict[str, Any]]) -> list[str]:
    if not table:
        return []
    rows = [LeaderboardRow(**row) for row in table]
    width = max(len("scheme"), *(len(row.name) for row in rows))
    headings = [
        f"{'frontier share':>15}",
        f"{'utilisation':>15}",
        "mean log power",
        f"{'95 % interval':>18}",
        "ahead of next",
        f"{'winning rate':>15}",
    ]
    lines = ["  ".join([f"{'scheme':{width}}", *headings])]
    for row in rows:
        figures = ("-", "-", "-", "-", "-", "-")
        if row.mean_log_power is not None:
            figures = (
                row.frontier_text,
                row.utilisation_text,
                f"{row.mean_log_power:.3f}",
                row.interval_text,
                "-" if row.ahead_probability is None else f"{100 * row.ahead_probability:.0f} %",
                row.winning_text,
            )
        widths = (15, 15, 14, 18, 13, 15)
        columns = [f"{figure:>{space}}" for figure, space in zip(figures, widths, strict=True)]
        line = "  ".join([f"{row.name:{width}}", *columns])
        lines.append(f"{line}  {row.shortfall}: {row.reason}" if row.failed_runs else line)
    return lines
