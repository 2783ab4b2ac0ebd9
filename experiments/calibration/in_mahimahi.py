"""Emulators measured in real mahimahi, with kernel TCP and our schemes, and found again from these figures.

The found emulator runs in real mahimahi too, and must give there the figures measured over the true one.
"""

import argparse
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from ccgym.calibration.calibrate import calibrate_whole, found_spec, storage_of, write_answer
from ccgym.calibration.candidate import Candidate
from ccgym.calibration.load_target import load_target
from ccgym.calibration.target import check_target
from ccgym.calibration.verification import verify_in_mahimahi
from ccgym.configs.arguments import minutes
from ccgym.envs.errors import InputError
from ccgym.envs.outside_files import make_folder
from ccgym.envs.specs.emulator_spec import EmulatorSpec
from ccgym.envs.specs.emulators import NamedEmulator
from ccgym.evaluation.sessions.run_plan import run_plan
from ccgym.evaluation.sessions.session import Plan
from ccgym.experiments.arguments import add_evaluation_arguments
from ccgym.experiments.check import Check
from ccgym.experiments.evaluations import plan_evaluation

from .known_truth import Found, found_line, parameter_checks

EMULATORS = "calibrated"
SCHEMES = "kernel-bbr,kernel-cubic,kernel-reno,copa,vegas,ledbat,vivace,verus"
MOST_ERROR = 0.10


@dataclass(frozen=True)
class RealFound(Found):
    """One true emulator, measured in real mahimahi, and the one found."""

    name: str
    real_errors: dict[str, float]
    """Error of each scheme, and the mean: the found emulator in real mahimahi against the true one there."""
    floor_errors: dict[str, float]
    """The same errors of the true emulator, measured again: chance alone, the least that is possible."""


def truth_of(emulator: NamedEmulator) -> Candidate:
    """The emulator as a candidate of the calibration.

    Raises:
        InputError: calibration cannot find an emulator of this kind.
    """
    spec = emulator.spec
    link = spec.uplink if isinstance(spec, EmulatorSpec) else None
    if link is None or link.rate_mbps is None or link.packets is None or link.queue != "droptail":
        raise InputError(
            f"{emulator.label}: expected a link of constant or Poisson arrivals, queue: droptail"
        )
    return Candidate(link.rate_mbps, round(spec.delay_ms), link.packets, link.loss, link.arrivals)


def found_again(plan: Plan, emulator: NamedEmulator, folder: Path, minutes: float) -> RealFound:
    """Measures, calibrates and verifies; steps that were done before are not repeated."""
    truth, measured, out = truth_of(emulator), folder / "measured", folder / "found.yaml"
    make_folder(folder)
    run_plan(replace(plan, emulators=[emulator]), measured)
    target = check_target(replace(load_target(measured), name=truth_name(emulator)), few=True)
    answer = calibrate_whole(target, storage_of(out), minutes, lambda *_: None)
    write_answer(answer, target, out)
    errors, floor = (
        verify_in_mahimahi(target, spec, folder / "verified")
        for spec in (found_spec(answer, target), truth.spec(truth_name(emulator)))
    )
    return RealFound(truth, answer, emulator.label, errors, floor)


def truth_name(emulator: NamedEmulator) -> str:
    """The name of the emulator without its group."""
    return emulator.label.rpartition("/")[2]


def all_found(args: argparse.Namespace) -> Iterator[RealFound]:
    """Yields the results one after the other."""
    plan = plan_evaluation(args, "mahimahi", args.schemes)
    for emulator in plan.emulators:
        assert isinstance(emulator, NamedEmulator)
        yield found_again(plan, emulator, args.out / truth_name(emulator), args.minutes)


def checks(found: Sequence[RealFound]) -> list[Check]:
    """The checks of emulators measured through the twin, and those of the errors in real mahimahi."""
    met = [each.real_errors["mean"] <= MOST_ERROR for each in found]
    floor = sum(each.floor_errors["mean"] <= MOST_ERROR for each in found)
    measured = f"{sum(met)} of {len(met)}, the truth measured again {floor}"
    return [
        *parameter_checks(found),
        Check("in real mahimahi", "error of 10 % at most each", measured, all(met)),
    ]


def lines(each: RealFound) -> list[str]:
    """The result as text."""
    errors = [
        f"  {scheme:16} in real mahimahi {100 * error:5.1f} %, "
        f"the truth measured again {_percent(each.floor_errors.get(scheme))}"
        for scheme, error in each.real_errors.items()
    ]
    return [f"{each.name}: {found_line(each)}", *errors]


def _percent(share: float | None) -> str:
    return "did not run" if share is None else f"{100 * share:5.1f} %"


DESCRIPTION = (
    "Measures kernel TCP and our schemes over emulators in real mahimahi, calibrates on these figures, and "
    "measures the emulators found in the same way, and the true ones once more: their error is chance alone. "
    "Exit code 1: a parameter is off by more than "
    "`calibration-truth` allows, or the mean error of the found emulator in real mahimahi is above 10 %."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments: what to measure, how often, and how long to search."""
    add_evaluation_arguments(parser, EMULATORS, SCHEMES, runs=3)
    parser.add_argument(
        "--minutes", type=minutes, default=5.0, metavar="M", help="longest search, in minutes (default: 5)"
    )


def run(args: argparse.Namespace) -> int:
    """Measures and searches one emulator after the other."""
    found = []
    for each in all_found(args):
        found.append(each)
        if not args.json:
            print("\n".join(lines(each)), flush=True)
    held = checks(found)
    if args.json:
        rows = [
            {
                "emulator": each.name,
                "truth": asdict(each.truth),
                "real_errors": each.real_errors,
                "floor_errors": each.floor_errors,
            }
            | each.answer.as_json()
            for each in found
        ]
        print(json.dumps({"found": rows, "checks": [asdict(check) for check in held]}))
    else:
        print("\n".join(check.line for check in held))
    return 0 if all(check.met for check in held) else 1
