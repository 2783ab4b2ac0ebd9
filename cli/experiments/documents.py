"""The experiments of published documents: one set of arguments, one table."""

import argparse
import json
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from .flights import SEED

if TYPE_CHECKING:
    from ccgym.experiments.reproduction import Circumstances, Reproduction

DOCUMENTS = {
    "replay-rate-trace": "NewReno on a Poisson trace, every metric of ccperf's page",
    "california-stanford": "Pantheon's table of a cellular path, line by line, beside an emulator of it",
    "verizon-lte": "Pantheon's table of Verizon LTE in mahimahi, line by line, on the same trace",
    "copa-fairness": "Jain's index of flows that come and go, as in a reproduction of Copa",
    "copa-pantheon": "normalised throughput and queueing delay over Pantheon's paths, Copa's Table 1",
    "pantheon-emulators": "all schemes on Pantheon's calibrated and pathological emulators",
    "indigo-paper": "oracle, calibrated emulators and hidden units of Indigo's paper",
}
"""Each the module of that name in ccgym.experiments: `reproduce(circumstances)`."""
_OWN = {
    "replay-rate-trace": ("trace", "scheme"),
    "california-stanford": ("document",),
    "verizon-lte": ("document",),
    "copa-pantheon": ("archive",),
    "indigo-paper": ("minutes",),
}
_IN_SHELLS = ("replay-rate-trace", "california-stanford", "verizon-lte", "pantheon-emulators")
QUICK_MINUTES, MINUTES, MOST_MINUTES = 0.6, 5.0, 10_000.0


def add_document_parser(
    experiments: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str
) -> argparse.ArgumentParser:
    """The parser of one of them."""
    parser = experiments.add_parser(
        name,
        help=DOCUMENTS[name],
        description=f"{DOCUMENTS[name][0].upper()}{DOCUMENTS[name][1:]}: theirs beside ours, with intervals "
        "of 95 %%. Exit code 1: a stated tolerance is missed.",
    )
    add_common_arguments(parser, f"reproductions/{name}")
    own = _OWN.get(name, ())
    if name in _IN_SHELLS:
        parser.add_argument(
            "--backend", choices=("twin", "mahimahi"), default="twin", help="default: twin; or real shells"
        )
    if "trace" in own:
        parser.add_argument("--trace", type=Path, metavar="FILE", help="another trace of mahimahi's format")
        parser.add_argument("--scheme", metavar="NAME", help="another scheme of the twin (default: reno)")
    if "document" in own:
        parser.add_argument(
            "--document",
            type=Path,
            metavar="FILE",
            help="text of their report, read by `ccgym calibrate`'s parser",
        )
    if "archive" in own:
        parser.add_argument(
            "--archive",
            type=Path,
            nargs="+",
            default=[],
            metavar="DIR",
            help="measure these data directories, Pantheon's or ours, instead of flights in the twin",
        )
    if "minutes" in own:
        parser.add_argument(
            "--minutes",
            type=_minutes,
            metavar="M",
            help=f"of each training (default: {MINUTES:g}; quick: {QUICK_MINUTES:g})",
        )
    parser.set_defaults(run=run)
    return parser


def _minutes(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= MOST_MINUTES:
        raise argparse.ArgumentTypeError(
            f"{text[:40]!r} is not a time above 0, up to {MOST_MINUTES:g} minutes"
        )
    return value


def add_common_arguments(parser: argparse.ArgumentParser, folder: str) -> None:
    """How thorough, and where it is kept."""
    parser.add_argument("--quick", action="store_true", help="fewer runs, shorter trainings")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path(folder),
        metavar="DIR",
        help=f"where flights and pictures are kept, to go on after an interruption (default: {folder})",
    )


def run(args: argparse.Namespace) -> int:
    """Does the experiment, keeps its pictures, prints the table."""
    from ccgym.experiments.reproduction import reproduction_lines

    found = reproduced(args.experiment, circumstances(args, args.out))
    keep_pictures(found, args.out)
    if args.json:
        print(
            json.dumps(
                {"title": found.title, "lines": [asdict(line) for line in found.lines], "notes": found.notes}
            )
        )
    else:
        print("\n".join(reproduction_lines(found)))
        print(f"pictures: {args.out}")
    return 0 if found.met else 1


def circumstances(args: argparse.Namespace, folder: Path) -> "Circumstances":
    """Of the arguments; not every experiment has all."""
    from ccgym.experiments.reproduction import Circumstances

    folder.mkdir(parents=True, exist_ok=True)
    given = vars(args)
    return Circumstances(
        given.get("backend", "twin"),
        args.quick,
        folder,
        given.get("document"),
        tuple(given.get("archive", ())),
        given.get("trace"),
        given.get("scheme"),
        given.get("minutes") or (QUICK_MINUTES if args.quick else MINUTES),
        SEED,
    )


def reproduced(name: str, how: "Circumstances") -> "Reproduction":
    """The experiment of that name, done."""
    found: Reproduction = import_module(f"ccgym.experiments.{name.replace('-', '_')}").reproduce(how)
    return found


def keep_pictures(found: "Reproduction", folder: Path) -> list[Path]:
    """Writes each as SVG; returns where."""
    from functools import partial

    from ccgym.envs.outside_files import replace_file

    kept = []
    for name, figure in found.pictures.items():
        kept.append(folder / f"{name}.svg")
        replace_file(kept[-1], partial(figure.savefig, format="svg", metadata={"Date": None}))
    return kept
