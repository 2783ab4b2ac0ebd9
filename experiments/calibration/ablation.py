"""How much each parameter of an emulator contributes, in the order of the Pantheon paper's Figure 5.

A target is measured over a published emulator, then replicated with the rate alone, with rate and delay, and
so on. Parameters that are not searched yet have the values of a careless emulator: hardly any delay, an
unlimited queue, no loss, constant arrivals.
"""

import argparse
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from itertools import pairwise
from os import cpu_count
from pathlib import Path

from ccgym.calibration.candidate import ARRIVALS, Candidate, Restriction
from ccgym.calibration.least_error import LeastErrorSearch
from ccgym.configs.arguments import minutes
from ccgym.envs.outside_files import make_folder
from ccgym.experiments.check import Check
from ccgym.experiments.json_text import json_text

from .known_truth import RUNS, SCHEMES, measured_over

CHINA = Candidate(77.72, 51, 94, 0.0006, "constant")
COLOMBIA = Candidate(3.04, 130, 426, 0.0, "poisson")
"""The published emulators of the figure's paths."""
PATHS = {"china": CHINA, "colombia": COLOMBIA}

_CARELESS = {"delay_ms": 1.0, "queue_packets": 30_000.0, "loss": 0.0}
STEPS = ("rate", "+ delay", "+ queue", "+ loss", "+ arrivals")
"""The parameters that are searched: each step adds one."""

WORSE_BY = 0.005
"""So much the error may rise when a parameter is added: searches end by time."""


@dataclass(frozen=True)
class Ablation:
    """The result of one search."""

    path: str
    step: str
    error: float
    """Mean error over the schemes, defined as in the paper."""


def restriction_of(step: int) -> Restriction:
    """The parameters that are fixed in this step."""
    fixed = dict(list(_CARELESS.items())[step:])
    return Restriction(fixed, ARRIVALS if step == len(STEPS) - 1 else ARRIVALS[:1])


def ablations(folder: Path, minutes: float) -> Iterator[Ablation]:
    """Yields every step of every path; searches that were stopped go on."""
    make_folder(folder)
    for path, truth in PATHS.items():
        with ThreadPoolExecutor(cpu_count()) as executor:
            target = measured_over(truth, SCHEMES, range(10_000, 10_000 + RUNS), executor)
        for number, step in enumerate(STEPS):
            storage = folder / f"{path}-{number}.search"
            search = LeastErrorSearch(target, storage, minutes, lambda *_: None, restriction_of(number))
            search.run()
            yield Ablation(path, step, search.error(search.best))


def checks(found: list[Ablation]) -> list[Check]:
    """The checks that no parameter increases the error, and that all together replicate the path."""
    held = []
    for path in PATHS:
        errors = [each.error for each in found if each.path == path]
        held.append(
            Check(
                f"{path}: with each parameter",
                "no larger error",
                " -> ".join(f"{100 * error:.1f} %" for error in errors),
                all(after <= before + WORSE_BY for before, after in pairwise(errors)),
            )
        )
    return held


DESCRIPTION = (
    "Measures the published emulators of China and Colombia through the twin with 8 schemes and replicates "
    "them with the rate alone, then with delay, queue, loss and arrivals as well. Exit code 1: a parameter "
    "more makes the error larger by more than half a point."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments: for how long, and where the searches are kept."""
    parser.add_argument(
        "--minutes",
        type=minutes,
        default=1.0,
        metavar="M",
        help="minutes of each of 10 searches (default: 1)",
    )
    parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="where the searches are kept")


def run(args: argparse.Namespace) -> int:
    """Runs the searches one after the other."""
    found = []
    for each in ablations(args.out, args.minutes):
        found.append(each)
        if not args.json:
            print(f"{each.path:10} {each.step:10} {100 * each.error:6.1f} %", flush=True)
    held = checks(found)
    if args.json:
        print(
            json_text(
                {"errors": [asdict(each) for each in found], "checks": [asdict(check) for check in held]}
            )
        )
    else:
        print("\n".join(check.line for check in held))
    return 0 if all(check.met for check in held) else 1
