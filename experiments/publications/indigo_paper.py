"""Indigo's paper (Yan et al., ATC 2018): the oracle's windows, calibrated emulators, hidden units.

The trainings take minutes, not days: they show in which direction a choice works, not how far. `--minutes`
makes them longer.
"""

import argparse
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import numpy as np
from ccgym.configs.arguments import add_ray_argument
from ccgym.envs.specs.emulators import select_emulators
from ccgym.oracle.published import PUBLISHED_WINDOWS, mean_relative_deviation
from ccgym.oracle.window import find_windows
from matplotlib.figure import Figure

from .command import (
    add_backend_argument,
    add_common_arguments,
    add_minutes_argument,
    description_of,
    run_reproduction,
)
from .reproduction import Line, Reproduction, ReproductionOptions
from .trainings import CHECKED_MINUTES, UNCHECKED, evaluate_policies, trained_policy

TITLE = "Indigo: oracle, calibrated emulators, hidden units"
DOCUMENT = "document 002"
WORST_DEVIATION = 0.15
"""Bound on the windows' mean deviation: the paper searched in steps of 10 packets, of 5 at 5 Mbit/s."""
HIDDEN, QUICK_HIDDEN = (1, 2, 4, 8, 16, 32, 64, 128, 256), (1, 16, 64)
GOOD = (16, 128)
GOOD_MARGIN = 0.1
"""A log power is good if it is at most so much below the best of the sweep."""
WIRED = "calibrated/india,calibrated/california-mexico"
RUNS, QUICK_RUNS, INTERVAL_S = 5, 2, 10.0
UNSEEN = "random:24:780"


def reproduce(options: ReproductionOptions) -> Reproduction:
    """Searches the windows, trains, runs."""
    with ThreadPoolExecutor(os.cpu_count()) as executor:
        lines, figure = _windows(executor)
        figures = {"indigo-oracle-windows": figure}
        lines += _calibration(options)
        swept, sweep = _hidden_units(options)
    notes = [
        f"trainings of {options.minutes:g} minutes each; theirs took days",
        "figures 6 and 7, all schemes: `ccgym reproduce pantheon-emulators`",
    ]
    return Reproduction(TITLE, DOCUMENT, [*lines, *swept], {**figures, "indigo-hidden-units": sweep}, notes)


def _windows(executor: ThreadPoolExecutor) -> tuple[list[Line], Figure]:
    emulators = select_emulators("synthetic,calibrated")
    found = find_windows([emulator.spec for emulator in emulators], executor)
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


def _calibration(options: ReproductionOptions) -> list[Line]:
    """With and without calibrated emulators in the training, on wired calibrated paths."""
    schemes = {
        name: trained_policy(options, f"training-{kind}", {"emulators": emulators})
        for name, kind, emulators in (
            ("trained with calibrated emulators", "calibrated", "synthetic,calibrated"),
            ("without them", "synthetic", "synthetic"),
        )
    } | {"the policy that comes along": "indigo"}
    runs = QUICK_RUNS if options.quick else RUNS
    lines = []
    for flows, interval_s, figure in ((1, 0.0, "6"), (3, INTERVAL_S, "7a")):
        evaluated = evaluate_policies(
            options, f"calibration-{flows}", select_emulators(WIRED), schemes, runs, flows, interval_s
        )
        who = "alone" if flows == 1 else "three flows"
        lines += [each.line(f"log power on wired paths, {who}, {name}") for name, each in evaluated.items()]
        calibrated, synthetic, _ = evaluated.values()
        what = f"with calibrated emulators at least as good, {who} (figure {figure})"
        lines.append(calibrated.at_least_as_good(what, synthetic, options.minutes))
    return lines


def _hidden_units(options: ReproductionOptions) -> tuple[list[Line], Figure]:
    hidden = QUICK_HIDDEN if options.quick else HIDDEN
    schemes = {
        str(units): trained_policy(options, f"hidden-{units}", {"hidden": (units,)}) for units in hidden
    }
    evaluated = evaluate_policies(options, "hidden-units", select_emulators(UNSEEN), schemes)
    means = {int(units): float(np.mean(list(each.log_powers.values()))) for units, each in evaluated.items()}
    best = max(means.values())
    lines = []
    for units, mean in means.items():
        good = GOOD[0] <= units <= GOOD[1]
        what = f"{units} hidden unit{'s' if units > 1 else ''}: log power on unseen emulators"
        line = evaluated[str(units)].line(what, "good" if good else "-")
        if good and options.minutes >= CHECKED_MINUTES:
            met = mean >= best - GOOD_MARGIN
            line = replace(line, tolerance=f"within {GOOD_MARGIN:g} of the best", met=met)
        elif good:
            line = replace(line, why=UNCHECKED)
        lines.append(line)
    figure = Figure(figsize=(6, 3.5), layout="constrained")
    axes = figure.add_subplot()
    axes.semilogx(list(means), list(means.values()), "o-", base=2, color="#0077bb")
    axes.set_xlabel("hidden units")
    axes.set_ylabel("mean ln(throughput / p95 delay)")
    axes.grid(alpha=0.3)
    return lines, figure


DESCRIPTION = description_of("indigo-paper")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What can be chosen."""
    add_common_arguments(parser, "reproductions/indigo-paper")
    add_backend_argument(parser)
    add_ray_argument(parser)
    add_minutes_argument(parser)


run = partial(run_reproduction, reproduce)
