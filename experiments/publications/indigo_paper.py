"""Indigo's paper (Yan et al., ATC 2018): the oracle's windows, calibrated emulators, hidden units.

The trainings are of minutes, not of days: they show which way a choice goes, not how far. `--minutes` gives
each more.
"""

import argparse
import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
from ccgym.agents.shipped import policy_path
from ccgym.envs.specs.emulators import select_emulators
from ccgym.evaluation.metrics.intervals import bootstrap_interval
from ccgym.oracle.published import PUBLISHED_WINDOWS, mean_relative_deviation
from ccgym.oracle.window import ideal_windows
from matplotlib.figure import Figure

from .command import add_common_arguments, add_minutes_argument, description_of, run_reproduction
from .reproduction import Circumstances, Line, Reproduction, mean_text
from .trainings import log_powers, trained_log_powers

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


def _calibration(circumstances: Circumstances) -> list[Line]:
    """With and without calibrated emulators in the training, on wired calibrated paths."""
    kinds = {"synthetic": "synthetic", "calibrated": "synthetic,calibrated"}
    wired = select_emulators(WIRED)
    flown = {
        name: trained_log_powers(circumstances, f"training-{name}", {"emulators": emulators}, wired)
        for name, emulators in kinds.items()
    }
    shipped = log_powers(f"policy:{policy_path('indigo')}", wired)
    differences = np.subtract(flown["calibrated"], flown["synthetic"]).tolist()
    interval = bootstrap_interval(differences)
    met = None if interval is None else interval.high >= 0
    return [
        *(
            Line(f"log power on wired paths, {name}", "-", mean_text(powers))
            for name, powers in {
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
        units: trained_log_powers(circumstances, f"hidden-{units}", {"hidden": (units,)}, unseen)
        for units in hidden
    }
    best = max(float(np.mean(powers)) for powers in flown.values())
    lines = []
    for units, powers in flown.items():
        good = GOOD[0] <= units <= GOOD[1]
        checked = good and circumstances.minutes >= CHECKED_MINUTES
        lines.append(
            Line(
                f"{units} hidden unit{'s' if units > 1 else ''}: log power on unseen emulators",
                "good" if good else "-",
                mean_text(powers),
                f"within {GOOD_MARGIN:g} of the best" if checked else "",
                float(np.mean(powers)) >= best - GOOD_MARGIN if checked else None,
                "" if checked or not good else f"not checked before {CHECKED_MINUTES:g} minutes of training",
            )
        )
    figure = Figure(figsize=(6, 3.5), layout="constrained")
    axes = figure.add_subplot()
    axes.semilogx(
        list(flown), [float(np.mean(powers)) for powers in flown.values()], "o-", base=2, color="#0077bb"
    )
    axes.set_xlabel("hidden units")
    axes.set_ylabel("mean ln(throughput / p95 delay)")
    axes.grid(alpha=0.3)
    return lines, figure


DESCRIPTION = description_of("indigo-paper")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What can be chosen."""
    add_common_arguments(parser, "reproductions/indigo-paper")
    add_minutes_argument(parser)


run = partial(run_reproduction, reproduce)
