"""Does calibration pay? Figures 6 and 7 of the Pantheon paper, on a path whose emulator is known.

A path is measured with eight schemes and calibrated from the measurements. Three policies are trained: on
synthetic links alone; with the calibrated emulator added; and with the ensemble of emulators that fit equally
well added. They run over the path, over its neighbours (each parameter a fifth less or more) and over links
that no training has seen.
"""

import argparse
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

from ccgym.calibration.calibrate import calibrate_whole, posterior_of, write_answer
from ccgym.calibration.candidate import PARAMETERS, Candidate
from ccgym.configs.arguments import add_ray_argument
from ccgym.envs.outside_files import absolute
from ccgym.envs.specs.emulators import NamedEmulator, select_emulators
from ccgym.experiments.calibration.known_truth import RUNS, SCHEMES, measured_over

from .command import (
    add_backend_argument,
    add_common_arguments,
    add_minutes_argument,
    description_of,
    run_reproduction,
)
from .reproduction import Line, Reproduction, ReproductionOptions
from .trainings import evaluate_policies, trained_policy

TITLE = "Calibrated emulators in training"
DOCUMENT = "document 002"
PATHS = {
    "wired": Candidate(77.72, 51, 94, 0.0006, "constant"),
    "cellular": Candidate(3.04, 130, 426, 0.0, "poisson"),
}
"""As the paper's China and Colombia."""
QUICK_PATHS = ("wired",)
CALIBRATION_MINUTES, QUICK_CALIBRATION_MINUTES = 3.0, 0.5
FIRST_RUN = 10_000
DRAWS = 8
"""Runs over the path itself."""
CHANGE = 0.2
UNSEEN = "random:24:780"


def reproduce(options: ReproductionOptions) -> Reproduction:
    """Measures, calibrates, trains and runs."""
    paths = QUICK_PATHS if options.quick else tuple(PATHS)
    synthetic = trained_policy(options, "synthetic", {"emulators": "synthetic"})
    lines = [line for name in paths for line in _path_lines(options, name, synthetic)]
    notes = [f"trainings of {options.minutes:g} minutes each; theirs took days"]
    return Reproduction(TITLE, DOCUMENT, lines, {}, notes)


def _path_lines(options: ReproductionOptions, name: str, synthetic: str) -> list[Line]:
    truth = PATHS[name]
    found = _calibrated(options, name, truth)
    policies = {"synthetic alone": synthetic}
    for kind, file in {"calibrated": found, "ensemble": posterior_of(found)}.items():
        changed: dict[str, object] = {"emulators": f"synthetic,file:{file}"}
        policies[f"with the {kind}"] = trained_policy(options, f"{name}-{kind}", changed)
    places = {
        "on the path": ([NamedEmulator(name, truth.spec(name))], DRAWS),
        "on its neighbours": (neighbours(truth, name), 1),
        "on unseen links": (select_emulators(UNSEEN), 1),
    }
    lines = []
    for place, (emulators, draws) in places.items():
        evaluated = evaluate_policies(
            options, f"{name} {place}".replace(" ", "-"), emulators, policies, draws
        )
        lines += [
            each.line(f"{name}: log power {place}, trained on {kind}") for kind, each in evaluated.items()
        ]
        lines += [
            each.at_least_as_good(
                f"{name}: {kind}, at least as good {place}", evaluated["synthetic alone"], options.minutes
            )
            for kind, each in evaluated.items()
            if kind != "synthetic alone"
        ]
    return lines


def _calibrated(options: ReproductionOptions, name: str, truth: Candidate) -> Path:
    """The file of the calibrated emulator; it is searched only if it does not exist yet."""
    search_minutes = QUICK_CALIBRATION_MINUTES if options.quick else CALIBRATION_MINUTES
    file = options.folder / f"{name}-{search_minutes:g}min.yaml"
    if not file.exists():
        with ThreadPoolExecutor(os.cpu_count()) as executor:
            target = measured_over(truth, SCHEMES, range(FIRST_RUN, FIRST_RUN + RUNS), executor)
        answer = calibrate_whole(target, file.with_suffix(".search"), search_minutes, lambda *_: None)
        write_answer(answer, target, file)
    return absolute(file)


def neighbours(truth: Candidate, name: str) -> list[NamedEmulator]:
    """The emulator with each parameter a fifth less and a fifth more; parameters of 0 stay."""
    found = []
    for factor in (1 - CHANGE, 1 + CHANGE):
        changed = [
            replace(truth, rate_mbps=factor * truth.rate_mbps),
            replace(truth, delay_ms=round(factor * truth.delay_ms)),
            replace(truth, queue_packets=round(factor * truth.queue_packets)),
            replace(truth, loss=factor * truth.loss),
        ]
        found += [
            NamedEmulator(f"{name}-{parameter}-{factor:g}", each.spec(name))
            for parameter, each in zip(PARAMETERS, changed, strict=True)
            if each != truth
        ]
    return found


DESCRIPTION = description_of("calibration-benefit")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What can be chosen."""
    add_common_arguments(parser, "reproductions/calibration-benefit")
    add_backend_argument(parser)
    add_ray_argument(parser)
    add_minutes_argument(parser)


run = partial(run_reproduction, reproduce)
