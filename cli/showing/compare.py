"""`ccgym compare`: data directories side by side."""

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ccgym.evaluation.metrics.comparison import Change, Comparison

MOST_LINES = 20
"""Most scenarios that a terminal shows, and most lines of what is only in one; --out and --json have all."""


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds the command to the command line."""
    parser = subparsers.add_parser(
        "compare",
        help="what differs between data directories",
        description="Pairs the runs of two or more data directories, each an --out of `ccgym eval` or one of "
        "Pantheon's, where emulator, backend, scheme and number agree. Prints how throughput (%), p95 "
        "one-way delay (%), loss (percentage points) and log power changed from the first directory to "
        "each other one: means of the paired differences with 95 % intervals by Student's t, over scenarios, "
        "or over the runs of one scenario. Lists what is in only one of them.",
    )
    parser.add_argument("folders", metavar="DIR", type=Path, nargs="+", help="two or more data directories")
    parser.add_argument(
        "--out", type=Path, metavar="FILE", help="also write a page with pictures, as report.html"
    )
    parser.add_argument("--json", action="store_true", help="print the comparison as JSON")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Compares, writes the page, prints."""
    from ccgym.envs.outside_files import check_replaceable
    from ccgym.evaluation.run_files import check_holds_runs

    for folder in args.folders:
        check_holds_runs(folder)
    if args.out is not None:
        check_replaceable(args.out)
    from ccgym.evaluation.metrics.comparison import compare  # late: slow

    comparison = compare(args.folders)
    if args.out is not None:
        from ccgym.evaluation.report.comparison_page import write_comparison

        write_comparison(comparison, args.out)
    if args.json:
        print(json.dumps(asdict(comparison)))
        return 0
    print("\n".join(_lines(comparison)))
    if args.out is not None:
        print(f"report: {args.out}")
    return 0


def _lines(comparison: "Comparison") -> list[str]:
    first, *others = comparison.names
    lines = [
        *comparison.remarks,
        f"from {first} to {', '.join(others)}, all scenarios:",
        *_table(comparison.overall, comparison),
    ]
    by_place = sorted(comparison.by_place, key=lambda change: -abs(change.log_power.mean))
    lines += ["", "by scenario, the largest changes first:", *_table(by_place[:MOST_LINES], comparison)]
    if len(by_place) > MOST_LINES:
        lines.append(f"... and {len(by_place) - MOST_LINES} more: --out FILE or --json")
    for name, alone in comparison.only_in.items():
        if alone:
            lines += ["", f"only in {name}:", *(f"  {line}" for line in alone[:MOST_LINES])]
        if len(alone) > MOST_LINES:
            lines.append(f"  ... and {len(alone) - MOST_LINES} more")
    return lines


def _table(changes: "list[Change]", comparison: "Comparison") -> list[str]:
    from ccgym.evaluation.metrics.comparison import percent, plain, points, verdict

    rows = [
        (
            _subject(change, comparison),
            str(change.pairs),
            percent(change.throughput),
            percent(change.p95_delay),
            points(change.loss),
            plain(change.log_power),
            verdict(change),
        )
        for change in changes
    ]
    heads = ("scheme", "pairs", "throughput", "p95 delay", "lost, points", "log power", "")
    widths = [max(len(row[column]) for row in [heads, *rows]) for column in range(len(heads))]
    return [
        "  ".join(
            f"{cell:{'<' if column in (0, len(heads) - 1) else '>'}{width}}"
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in [heads, *rows]
    ]


def _subject(change: "Change", comparison: "Comparison") -> str:
    parts = [change.scheme]
    if change.place is not None:
        parts.append(f"{change.place.emulator} ({change.place.backend})")
    if len(comparison.names) > 2:
        parts.append(change.other)
    return ", ".join(parts)
