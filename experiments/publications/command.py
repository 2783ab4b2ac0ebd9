"""The arguments and the output of an experiment of a published document."""

import argparse
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Protocol

from ccgym.configs.arguments import minutes
from ccgym.envs.outside_files import make_folder, replace_file
from ccgym.experiments.catalogue import PUBLICATIONS, Experiment
from ccgym.experiments.evaluations import SEED
from ccgym.experiments.json_text import json_text

from .reproduction import Reproduction, ReproductionOptions, reproduction_lines


class Publication(Experiment, Protocol):
    """An experiment of a published document; `ccgym reproduce all` runs it as well."""

    def reproduce(self, options: ReproductionOptions) -> Reproduction:
        """Does the experiment: published figures beside ours."""


QUICK_MINUTES, MINUTES = 0.6, 5.0
"""Minutes of a training."""


def description_of(name: str) -> str:
    """The description of an experiment of the catalogue, for its `--help`."""
    text = PUBLICATIONS[name].help
    return (
        f"{text[0].upper()}{text[1:]}: theirs beside ours, with intervals of 95 %. Exit code 1: a stated "
        "tolerance is missed, and by more than is known."
    )


def add_common_arguments(parser: argparse.ArgumentParser, folder: str) -> None:
    """Adds the arguments: how thorough, and where runs are kept."""
    parser.add_argument("--quick", action="store_true", help="fewer runs, shorter trainings")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path(folder),
        metavar="DIR",
        help=f"where runs and figures are kept, to go on after an interruption (default: {folder})",
    )


def add_backend_argument(parser: argparse.ArgumentParser) -> None:
    """Adds `--backend`: the twin, or real shells."""
    parser.add_argument(
        "--backend", choices=("twin", "mahimahi"), default="twin", help="default: twin; or real shells"
    )


def add_document_argument(parser: argparse.ArgumentParser) -> None:
    """Adds `--document`: another report than the one in the module."""
    parser.add_argument(
        "--document",
        type=Path,
        metavar="FILE",
        help="text of their report, read by `ccgym calibrate`'s parser",
    )


def add_minutes_argument(parser: argparse.ArgumentParser) -> None:
    """Adds `--minutes` to an experiment that trains."""
    parser.add_argument(
        "--minutes",
        type=minutes,
        metavar="M",
        help=f"length of each training (default: {MINUTES:g}; quick: {QUICK_MINUTES:g})",
    )


def run_reproduction(
    reproduce: Callable[[ReproductionOptions], Reproduction], args: argparse.Namespace
) -> int:
    """Does the experiment, writes its figures and prints the table; returns the exit code."""
    found = reproduce(options_of(args, args.out))
    keep_figures(found, args.out)
    if args.json:
        lines = [asdict(line) for line in found.lines]
        print(json_text({"title": found.title, "lines": lines, "notes": found.notes}))
    else:
        print("\n".join(reproduction_lines(found)))
        print(f"figures: {args.out}")
    return 0 if found.met else 1


def options_of(args: argparse.Namespace, folder: Path) -> ReproductionOptions:
    """The options in the arguments; an experiment need not have all of them."""
    make_folder(folder)
    given = vars(args)
    return ReproductionOptions(
        given.get("backend", "twin"),
        args.quick,
        folder,
        given.get("document"),
        tuple(given.get("archive", ())),
        given.get("trace"),
        given.get("scheme"),
        given.get("minutes") or (QUICK_MINUTES if args.quick else MINUTES),
        SEED,
        given.get("ray"),
    )


def keep_figures(found: Reproduction, folder: Path) -> list[Path]:
    """Writes each figure as SVG; returns the files."""
    kept = []
    for name, figure in found.figures.items():
        kept.append(folder / f"{name}.svg")
        replace_file(kept[-1], partial(figure.savefig, format="svg", metadata={"Date": None}))
    return kept
