"""Indigo's paper (Yan et al., ATC 2018): the oracle's windows, calibrated emulators, hidden units.

The trainings are of minutes, not of days: they show which way a choice goes, not how far. `--minutes` gives
each more.
"""

import argparse
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from ccgym.agents.shipped import policy_path
from ccgym.dagger.train import train
from ccgym.envs.errors import InputError
from ccgym.envs.specs.emulators import NamedEmulator, select_emulators
from ccgym.evaluation.metrics.intervals import bootstrap_interval
from ccgym.oracle.published import PUBLISHED_WINDOWS, mean_relative_deviation
from ccgym.oracle.window import ideal_windows
from ccgym.training.config import TrainingConfig, config_file, load_config
from ccgym.training.rollouts import fly_measured
from ccgym.training.runs.run_directory import RunDirectory
from matplotlib.figure import Figure

from .command import MINUTES, QUICK_MINUTES, add_common_arguments, description_of, minutes, run_reproduction
from .reproduction import Circumstances, Line, Reproduction, mean_text

TITLE = "Indigo: oracle, calibrated emulators, hidden units"
DOCUMENT = "document 002"
WORST_DEVIATION = 0.15
"""Mean of the windows': theirs are searched in steps of 10 packets, 5 at 5 Mbit/s."""
HIDDEN, QUICK_HIDDEN = (1, 2, 4, 8, 16, 32, 64, 128, 256), (1, 16, 64)
GOOD = (16, 128)
CHECKED_MINUTES = 5.0
"""Of training; after less it says little, and nothing is checked."""
GOOD_MARGIN = 0.1
"""Of the log power, below the best of the sweep."""
WIRED = "calibrated/india,calibrated/california-mexico"
UNSEEN = "random:24:780"
SECONDS = 30.0


def reproduce(circumstances: Circumstances) -> Reproduction:
    """Searches the windows, trains, flies."""
    with ThreadPoolExecutor(os.cpu_count()) as executor:
        lines, figure = _windows(executor)
        figures = {"indigo-oracle-windows": figure}
        lines += _calibration(circumstances)
        swept, sweep = _hidden_units(circumstances)
    notes = [
        f"trainings of {circumstances.minutes:g} minutes each; theirs took days",
        "figures 6 and 7, all schemes: `ccgym reproduce pantheon-emulators`",
    ]
    return Reproduction(TITLE, DOCUMENT, [*lines, *swept], {**figures, "indigo-hidden-units": sweep}, notes)


def _windows(executor: ThreadPoolExecutor) -> tuple[list[Line], Figure]:
    emulators = select_emulators("synthetic,calibrated")
    found = ideal_windows([emulator.spec for emulator in emulators], executor)
    windows = {emulator.label: int(packets) for emulator, packets in zip(emulators, found, strict=True)}
    lines = [
        Line(f"oracle's window, {label} (packets)", str(PUBLISHED_WINDOWS[label]), str(ours))
        for label, ours in windows.items()
    ]
    deviation = mean_relative_deviation(windows)
    lines.append(
        Line(
            f"oracle's windows: mean deviation over {len(windows)} emulators",
            "0",
            f"{deviation:.1%}",
            f"<= {WORST_DEVIATION:.0%}",
            deviation <= WORST_DEVIATION,
        )
    )
    figure = Figure(figsize=(5, 5), layout="constrained")
    axes = figure.add_subplot()
    theirs = [PUBLISHED_WINDOWS[label] for label in windows]
    axes.loglog(theirs, list(windows.values()), "o", color="#0077bb")
    axes.loglog(theirs, theirs, "-", color="grey", lw=0.8)
    axes.set_xlabel("published window (packets)")
    axes.set_ylabel("ours (packets)")
    return lines, figure


@dataclass(frozen=True)
class _Trained:
    log_powers: list[float]
    """By flight."""

    @property
    def mean(self) -> float:
        return float(np.mean(self.log_powers))


def _calibration(circumstances: Circumstances) -> list[Line]:
    """With and without calibrated emulators in the training, on wired calibrated paths."""
    kinds = {"synthetic": "synthetic", "calibrated": "synthetic,calibrated"}
    wired = select_emulators(WIRED)
    flown = {
        name: _flown(circumstances, f"training-{name}", {"emulators": emulators}, wired)
        for name, emulators in kinds.items()
    }
    shipped = _fly(f"policy:{policy_path('indigo')}", wired)
    differences = np.subtract(flown["calibrated"].log_powers, flown["synthetic"].log_powers).tolist()
    interval = bootstrap_interval(differences)
    met = None if interval is None else interval.high >= 0
    return [
        *(
            Line(f"log power on wired paths, {name}", "-", mean_text(trained.log_powers))
            for name, trained in {
                "trained with calibrated emulators": flown["calibrated"],
                "without them": flown["synthetic"],
                "the policy that comes along": shipped,
            }.items()
        ),
        Line(
            "with calibrated emulators at least as good (figures 6, 7)",
            "always",
            f"difference {mean_text(differences)}",
            "the interval reaches 0",
            met,
        ),
    ]  # fmt: skip


def _hidden_units(circumstances: Circumstances) -> tuple[list[Line], Figure]:
    hidden = QUICK_HIDDEN if circumstances.quick else HIDDEN
    unseen = select_emulators(UNSEEN)
    flown = {
        units: _flown(circumstances, f"hidden-{units}", {"hidden": (units,)}, unseen) for units in hidden
    }
    best = max(each.mean for each in flown.values())
    lines = []
    for units, trained in flown.items():
        good = GOOD[0] <= units <= GOOD[1]
        checked = good and circumstances.minutes >= CHECKED_MINUTES
        lines.append(
            Line(
                f"{units} hidden unit{'s' if units > 1 else ''}: log power on unseen emulators",
                "good" if good else "-",
                mean_text(trained.log_powers),
                f"within {GOOD_MARGIN:g} of the best" if checked else "",
                trained.mean >= best - GOOD_MARGIN if checked else None,
                "" if checked or not good else f"not checked before {CHECKED_MINUTES:g} minutes of training",
            )
        )
    figure = Figure(figsize=(6, 3.5), layout="constrained")
    axes = figure.add_subplot()
    axes.semilogx(list(flown), [each.mean for each in flown.values()], "o-", base=2, color="#0077bb")
    axes.set_xlabel("hidden units")
    axes.set_ylabel("mean ln(throughput / p95 delay)")
    axes.grid(alpha=0.3)
    return lines, figure


def _flown(
    circumstances: Circumstances, name: str, changed: dict[str, object], emulators: list[NamedEmulator]
) -> _Trained:
    """Trains, or goes on with the training that is there, and flies the best policy."""
    config = load_config(config_file("indigo-2018"), changed, TrainingConfig)
    folder = circumstances.folder / f"{name}-{circumstances.minutes:g}min"
    return _fly(f"policy:{_policy(config, folder, circumstances.minutes)}", emulators)


def _policy(config: TrainingConfig, folder: Path, minutes: float) -> Path:
    run = RunDirectory(folder, TrainingConfig)
    begun = (folder / "config.yaml").exists()
    if begun and run.config() != config:
        raise InputError(f"{folder}: holds a run of other settings; choose another --out")
    if not run.best_policy.exists():
        with redirect_stdout(sys.stderr):  # the progress of the training
            train(config, run, resume=begun, workers=os.cpu_count() or 1, minutes=minutes)
    return run.best_policy


def _fly(scheme: str, emulators: list[NamedEmulator]) -> _Trained:
    with ThreadPoolExecutor(os.cpu_count()) as executor:
        flown = executor.map(lambda emulator: fly_measured(emulator, scheme, SECONDS), emulators)
        return _Trained([float(np.log(metrics.power)) for metrics in flown])


DESCRIPTION = description_of("indigo-paper")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What can be chosen."""
    add_common_arguments(parser, "reproductions/indigo-paper")
    parser.add_argument(
        "--minutes",
        type=minutes,
        metavar="M",
        help=f"of each training (default: {MINUTES:g}; quick: {QUICK_MINUTES:g})",
    )


run = partial(run_reproduction, reproduce)
