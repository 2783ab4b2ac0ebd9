"""`ccgym report`: figures and pictures of a data directory, made anew."""

import argparse
import json
from collections.abc import Callable
from pathlib import Path

FORMATS = ("html", "pdf", "csv", "txt", "json")
FIGURE_FORMATS = ("svg", "png")


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds the command to the command line."""
    parser = subparsers.add_parser(
        "report",
        help="make summary and report from a data directory",
        description="Reads the logs in DIR, an --out of `ccgym eval` or a data directory of Pantheon's, and "
        "writes DIR/summary.json and the report. What is broken or missing is named in both.",
    )
    parser.add_argument("folder", metavar="DIR", type=Path, help="the data directory")
    parser.add_argument(
        "--format",
        type=_some_of(FORMATS),
        default=("html", "pdf"),
        metavar="A,B,...",
        help="html and pdf (the pages of Pantheon's report): DIR/report.*; csv: a row for each flow; "
        "txt: Pantheon's text statistics, report.txt beside the logs of each scenario; json: summary.json "
        "alone (default: html,pdf)",
    )
    parser.add_argument(
        "--figures",
        type=_some_of(FIGURE_FORMATS),
        default=(),
        metavar="svg,png",
        help="also every picture as a file, under DIR/figures",
    )
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")
    parser.set_defaults(run=run)


def _some_of(known: tuple[str, ...]) -> Callable[[str], tuple[str, ...]]:
    def parse(text: str) -> tuple[str, ...]:
        chosen = tuple(dict.fromkeys(item.strip() for item in text.split(",")))
        for item in chosen:
            if item not in known:
                raise argparse.ArgumentTypeError(f"{item[:40]!r} is none of {', '.join(known)}")
        return chosen

    return parse


def run(args: argparse.Namespace) -> int:
    """Writes the files and prints the leaderboard."""
    from ccgym.evaluation.run_files import check_holds_runs

    check_holds_runs(args.folder)
    from ccgym.envs.host.folder_lock import folder_lock
    from ccgym.evaluation.report.publish import leaderboard_lines, publish  # late: slow

    with folder_lock(args.folder):
        summary = publish(args.folder, args.format, args.figures)
    if args.json:
        print(json.dumps(summary))
        return 0
    print("\n".join(leaderboard_lines(summary)))
    for failure in summary["failures"]:
        print(f"failed: {failure['emulator']}, {failure['scheme']} run {failure['run']}: {failure['reason']}")
    for each in summary["remarks"]:
        print(f"remark: {each['emulator']}: {each['remark']}")
    for kind in args.format:
        if kind in ("html", "pdf", "csv"):
            print(f"report: {args.folder / f'report.{kind}'}")
    return 0
