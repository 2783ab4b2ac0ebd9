"""Summary and report of a data directory."""

from pathlib import Path
from typing import Any

from .report import write_report
from .results import load_evaluation
from .summary import summarise, write_summary


def publish(folder: Path) -> dict[str, Any]:
    """Measures all runs in `folder`, writes summary.json and report.html there, returns the summary.

    Raises:
        InputError: `folder` is no data directory, or a log in it is broken.
    """
    evaluation = load_evaluation(folder)
    summary = summarise(evaluation)
    write_summary(summary, folder / "summary.json")
    write_report(evaluation, folder / "report.html")
    return summary


def league_lines(summary: dict[str, Any]) -> list[str]:
    """The league of a summary as a table for a terminal."""
    width = max(len("scheme"), *(len(row["scheme"]) for row in summary["table"]))
    lines = [f"{'scheme':{width}}  frontier share  mean log power  winning rate"]
    for row in summary["table"]:
        power = "-" if row["mean_log_power"] is None else f"{row['mean_log_power']:.3f}"
        shares = [100 * row[name] for name in ("frontier_share", "winning_rate")]
        line = f"{row['scheme']:{width}}  {shares[0]:12.0f} %  {power:>14}  {shares[1]:10.0f} %"
        failed = f"  {row['failed_runs']} failed: {row['failure']}" if row["failed_runs"] else ""
        lines.append(line + failed)
    return lines
