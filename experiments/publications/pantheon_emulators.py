"""All schemes on Pantheon's calibrated and pathological emulators, one flow and three flows 10 s apart.

Runs are those of the observatory: 5 runs of 30 s in random order. The documents print no figures of these
runs, so the leaderboard is ours alone. It is compared with the documents' claims: Indigo is on the frontier
of wired paths, here India and California to Mexico, alone (Figure 6) and with others (7a), and shares fairly
(7b).
"""

import argparse
from functools import partial

import numpy as np
from ccgym.configs.arguments import add_ray_argument
from ccgym.envs.specs.emulators import select_emulators
from ccgym.evaluation.metrics.results import Evaluation, Scenario
from ccgym.evaluation.metrics.summary import evaluation_leaderboard, scheme_means
from ccgym.evaluation.report.drawings import draw_summary, draw_throughput, single_figure
from ccgym.evaluation.report.palette import styles
from matplotlib.figure import Figure

from .command import add_backend_argument, add_common_arguments, description_of, run_reproduction
from .reproduction import Line, Reproduction, ReproductionOptions, evaluate, failure_text, mean_text

TITLE = "Pantheon's emulators: calibrated and pathological"
DOCUMENT = "document 002"
EMULATORS = "calibrated,pathological"
SECONDS, RUNS, INTERVAL_S = 30.0, 5, 10.0
QUICK_RUNS = 1
SCHEMES = (
    "bbr", "copa", "cubic", "indigo", "indigo2", "ledbat", "allegro", "vivace", "scream", "sprout", "vegas",
    "verus", "gcc", "reno", "bbr3", "aurora",
)  # fmt: skip
QUICK_SCHEMES = ("bbr", "copa", "cubic", "indigo", "indigo2", "ledbat", "allegro", "vegas")
QUICK_SHARED = "calibrated"
"""Emulators of the runs of three flows with `--quick`."""
WIRED = ("calibrated/india", "calibrated/california-mexico")
FAIR = 0.9
PATIENT_INTERVAL_S = 40.0
"""With BDPs of some 450 and 860 packets, flows may need longer than 10 s to reach an even share."""
POLICIES = ("indigo", "indigo2")
_WHY_UNEVEN = "a flow that joins needs 5 to 10 of its 10 s to come to an even share: see 40 s apart"


def reproduce(options: ReproductionOptions) -> Reproduction:
    """Runs one flow and three flows."""
    quick = options.quick
    runs, chosen = (QUICK_RUNS, QUICK_SCHEMES) if quick else (RUNS, SCHEMES)
    schemes = options.kernels(chosen)
    lines: list[Line] = []
    figures = {}
    for flows, interval_s in ((1, 0.0), (3, INTERVAL_S)):
        emulators = select_emulators(QUICK_SHARED if quick and flows > 1 else EMULATORS)
        evaluation = evaluate(
            options, f"pantheon-emulators-{flows}", emulators, schemes, runs, SECONDS, flows, interval_s
        )
        lines += [*_leaderboard_lines(evaluation, flows), *_wired_lines(evaluation, flows)]
        for scenario in evaluation.scenarios:
            if scenario.label in WIRED and scenario.runs:
                figure, axes = single_figure()
                draw_summary(axes, scenario, styles(evaluation.schemes), means=True)
                axes.set_title(f"{scenario.label}, {flows} flow{'s' if flows > 1 else ''}", fontsize=9)
                figures[f"pantheon-emulators-{scenario.label.replace('/', '-')}-{flows}"] = figure
    # One run is not enough for an index: five runs of indigo2 on the path from India have 0.88 to 0.94.
    lines += _sharing_lines(options, INTERVAL_S, RUNS, f">= {FAIR:g}")
    lines += _sharing_lines(options, PATIENT_INTERVAL_S, runs, "")
    figures |= _over_time(options)
    return Reproduction(
        TITLE,
        DOCUMENT,
        lines,
        figures,
        ["the documents print no figures of these runs: the leaderboard is ours"],
    )


def _sharing_lines(options: ReproductionOptions, interval_s: float, runs: int, tolerance: str) -> list[Line]:
    """How evenly flows of a policy share a wired path."""
    evaluation = evaluate(
        options, f"pantheon-emulators-{interval_s:g}-s-apart", select_emulators(",".join(WIRED)), POLICIES,
        runs, 3 * interval_s, 3, interval_s,
    )  # fmt: skip
    lines = []
    for scenario in evaluation.scenarios:
        for scheme in POLICIES:
            jain = [run.fairness.mean for run in scenario.runs if run.scheme == scheme and run.fairness]
            met = float(np.mean(jain)) >= FAIR if tolerance and jain else None
            name = f"{scenario.label}: three flows of {scheme}, {interval_s:g} s apart, mean Jain's index"
            why = failure_text(scenario, scheme) or (_WHY_UNEVEN if tolerance else "")
            theirs = "shares fairly (figure 7b)" if tolerance else "-"
            lines.append(Line(name, theirs, mean_text(jain), tolerance, met, why))
    return lines


def _over_time(options: ReproductionOptions) -> dict[str, Figure]:
    """Figure 7b: three flows on the path from India."""
    evaluation = evaluate(
        options, "pantheon-emulators-over-time", select_emulators(WIRED[0]), POLICIES, 1, SECONDS, 3,
        INTERVAL_S, over_time=True,
    )  # fmt: skip
    figures = {}
    for run in evaluation.scenarios[0].runs:
        figure, axes = single_figure()
        draw_throughput(axes, run)
        axes.set_title(f"{WIRED[0]}: three flows of {run.scheme} (figure 7b)", fontsize=9)
        figures[f"pantheon-emulators-over-time-{run.scheme}"] = figure
    return figures


def _leaderboard_lines(evaluation: Evaluation, flows: int) -> list[Line]:
    return [
        Line(
            f"{_flows(flows)}, {row.scheme}: mean log power / frontier share / utilisation",
            "-",
            "-"
            if row.mean_log_power is None
            else f"{row.mean_log_power:.2f} ({row.interval_text}) / {row.frontier_text} / "
            f"{row.utilisation_text}",
            why=f"{row.shortfall}: {row.reason}" if row.failed_runs else "",
        )
        for row in evaluation_leaderboard(evaluation)
    ]


def _flows(flows: int) -> str:
    return f"{flows} flow{'s' if flows > 1 else ''}"


def _wired_lines(evaluation: Evaluation, flows: int) -> list[Line]:
    return [
        _frontier_line(scenario, scheme, flows)
        for scenario in evaluation.scenarios
        if scenario.label in WIRED
        for scheme in POLICIES
    ]


def _frontier_line(scenario: Scenario, scheme: str, flows: int) -> Line:
    means = {mean.scheme: mean for mean in scheme_means(scenario.runs)}
    what = f"{scenario.label}, {_flows(flows)}: {scheme} is at the frontier (figures 6, 7a)"
    if scheme not in means:
        return Line(what, "yes", "-", met=False, why=failure_text(scenario, scheme))
    own = means[scheme]
    better = [mean.scheme for mean in means.values() if mean.clearly_beats(own)]
    return Line(
        what,
        "yes",
        f"beaten by {', '.join(better)}" if better else "yes",
        "no scheme has 2 % more of both",
        not better,
        "theirs was held against fewer schemes, without indigo2",
    )


DESCRIPTION = description_of("pantheon-emulators")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What can be chosen."""
    add_common_arguments(parser, "reproductions/pantheon-emulators")
    add_backend_argument(parser)
    add_ray_argument(parser)


run = partial(run_reproduction, reproduce)
