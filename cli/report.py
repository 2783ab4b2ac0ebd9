"""`ccgym report`: figures and pictures of a data directory, made anew."""

import argparse
import json
from pathlib import Path


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds the command to the command line."""
    parser = subparsers.add_parser(
        "report",
        help="make summary.json and report.html from a data directory",
        description="Reads the logs in DIR, an --out of `ccgym eval` or a data directory of Pantheon's, and "
        "writes DIR/summary.json and DIR/report.html.",
    )
    parser.add_argument("folder", metavar="DIR", type=Path, help="the data directory")
    parser.add_argument("--json", action="store_true", help="print the summary as JSON")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Writes both files and prints the league."""
    from ccgym.evaluation.report.publish import league_lines, publish

    summary = publish(args.folder)
    if args.json:
        print(json.dumps(summary))
    else:
        print("\n".join(league_lines(summary)))
        print(f"report: {args.folder / 'report.html'}")
    return 0
