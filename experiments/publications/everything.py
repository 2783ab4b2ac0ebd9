"""`ccgym reproduce all`: every published figure of the documents beside ours, on one page."""

import argparse
import shlex
import sys
import time
import traceback
from dataclasses import asdict
from pathlib import Path
from typing import cast

from ccgym.envs.errors import InputError, OutsideError, excerpt
from ccgym.envs.outside_files import check_replaceable, replace_file
from ccgym.experiments.catalogue import PUBLICATIONS, Entry
from ccgym.experiments.json_text import json_text

from .command import Publication, add_common_arguments, keep_figures, options_of
from .page import page
from .reproduction import Reproduction, ReproductionOptions, reproduction_lines

DESCRIPTION = (
    "Runs the experiments of the published documents in the twin, one after the other, and writes the page "
    "with all their lines and figures. One that cannot be run here, as its traces are missing or a program "
    "fails, is named. "
    "Exit code 1: a stated tolerance is missed, and by more than is known."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments: how thorough, and where the page goes."""
    add_common_arguments(parser, "reproductions")
    parser.add_argument(
        "--page",
        type=Path,
        default=Path("docs/reproductions.md"),
        metavar="FILE",
        help="the page; its figures go into a folder beside it (default: docs/reproductions.md)",
    )


def run(args: argparse.Namespace) -> int:
    """Does all experiments, then writes the page."""
    check_replaceable(args.page)
    figures = args.page.parent / args.page.stem
    figures.mkdir(exist_ok=True)
    results: dict[str, Reproduction | str] = {}
    seconds: dict[str, float] = {}
    figure_links: dict[str, list[str]] = {}
    for name, entry in PUBLICATIONS.items():
        begun_s = time.monotonic()
        try:
            done = reproduced(entry, options_of(args, args.out / name))
        except Exception as error:  # even a bug of ours: the other experiments go on
            results[name] = _reason(error)
            continue
        results[name], seconds[name] = done, time.monotonic() - begun_s
        figure_links[name] = [f"{figures.name}/{path.name}" for path in keep_figures(done, figures)]
        if not args.json:
            print("\n".join(reproduction_lines(done)), flush=True)
    text = page(results, figure_links, seconds, shlex.join(["ccgym", *sys.argv[1:]]))
    replace_file(args.page, lambda fresh: fresh.write_text(text, encoding="utf-8"))
    if args.json:
        print(
            json_text(
                {
                    name: each if isinstance(each, str) else [asdict(line) for line in each.lines]
                    for name, each in results.items()
                }
            )
        )
    else:
        print(f"page: {args.page}")
    return 0 if all(isinstance(each, Reproduction) and each.met for each in results.values()) else 1


def _reason(error: Exception) -> str:
    """Why an experiment was not done; for a bug of ours, prints the traceback on stderr."""
    if isinstance(error, InputError | OutsideError):
        return str(error)
    traceback.print_exception(error)
    return f"{type(error).__name__}: {excerpt(error)}"


def reproduced(entry: Entry, how: ReproductionOptions) -> Reproduction:
    """Does the experiment of an entry of the catalogue."""
    return cast(Publication, entry.load()).reproduce(how)
