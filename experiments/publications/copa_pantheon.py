"""Table 1 of a reproduction of Copa (Stanford 2019): shares and queueing delays over Pantheon's paths.

Throughput is a share of the best scheme's in the same experiment; queueing delay is the mean above the least
of the flow. Theirs are of Pantheon's archive of February 2018. Ours are of any data directory (`--archive`),
or of our runs over wired and cellular emulators: other paths, so that no tolerance is stated for a single
figure.
"""

import argparse
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
from ccgym.calibration.scheme_names import stable_name
from ccgym.evaluation.metrics.results import Evaluation, FlowResult, load_evaluation
from ccgym.experiments.cross_validation.published import AveragesRow, PublishedComparison
from ccgym.experiments.cross_validation.published_figures import CELLULAR, WIRED, PathAverages
from matplotlib.figure import Figure

from .command import add_common_arguments, description_of, run_reproduction
from .reproduction import Circumstances, Line, Reproduction, mean_text

TITLE = "Copa over Pantheon's paths: Table 1"
DOCUMENT = "document 004"
THEIRS_ALONE = {
    "wired": {
        "FillP": (0.798, 16.10), "QUIC": (0.648, 11.17), "Vivace LTE": (0.669, 7.01),
        "Indigo": (0.758, 5.120), "TaoVA": (0.701, 8.159),
    },
    "cellular": {
        "FillP": (0.680, 2721), "QUIC": (0.660, 818.7), "Vivace LTE": (0.563, 1845), "Indigo": (0.346, 48.31),
        "TaoVA": (0.537, 285.3),
    },
}  # fmt: skip
"""Schemes of the table that are not among our schemes, or have other weights there."""


def reproduce(circumstances: Circumstances) -> Reproduction:
    """Measures the archives, or flies ours."""
    if circumstances.archives:
        evaluations = [load_evaluation(folder) for folder in circumstances.archives]
        lines = list(_archive_lines(evaluations))
        return Reproduction(TITLE, DOCUMENT, lines, notes=[f"ours: {len(evaluations)} data directories"])
    with ThreadPoolExecutor(2) as executor:
        rows = PublishedComparison(executor, circumstances.seed).averages()
    lines = [
        Line(f"{row.kind}, {row.scheme}: share of the best / queue ms", _text(row.published), _text(row.ours))
        for row in rows
    ]
    for kind, schemes in THEIRS_ALONE.items():
        lines += [
            Line(
                f"{kind}, {name}: share of the best / queue ms",
                _text(PathAverages(*figures)),
                "-",
                why="not among our schemes",
            )
            for name, figures in schemes.items()
        ]
    ours = {(row.kind, row.scheme): row.ours for row in rows}
    lines += [_claim(ours, "wired"), _claim(ours, "cellular")]
    return Reproduction(TITLE, DOCUMENT, lines, {"copa-pantheon": _figure(rows)})


def _text(figures: PathAverages) -> str:
    return f"{figures.throughput_share:.2f} / {figures.queueing_delay_ms:.1f}"


def _claim(ours: Mapping[tuple[str, str], PathAverages], kind: str) -> Line:
    """Their finding: a queueing delay of a half to a tenth of BBR's, or less."""
    ratio = ours[kind, "bbr"].queueing_delay_ms / ours[kind, "copa"].queueing_delay_ms
    theirs = {"wired": WIRED, "cellular": CELLULAR}[kind]
    published = theirs["bbr"].queueing_delay_ms / theirs["copa"].queueing_delay_ms
    why = "" if ratio >= 2 else "these paths have other queues: on ours BBR keeps a short one"
    what = f"{kind}: BBR's queueing delay / Copa's"
    return Line(what, f"{published:.1f}", f"{ratio:.1f}", ">= 2", ratio >= 2, why)


def _archive_lines(evaluations: Iterable[Evaluation]) -> Iterable[Line]:
    shares: dict[str, list[float]] = {}
    queues: dict[str, list[float]] = {}
    for evaluation in evaluations:
        for scenario in evaluation.scenarios:
            best = max(flow.metrics.throughput_mbps for flow in scenario.flows)
            for flow in scenario.flows:
                shares.setdefault(flow.scheme, []).append(flow.metrics.throughput_mbps / best)
                queues.setdefault(flow.scheme, []).append(_queueing_ms(flow))
    for scheme, values in shares.items():
        name, _ = stable_name(scheme)
        known = [f"{kind}: {_text(table[name])}" for kind, table in (("wired", WIRED), ("cellular", CELLULAR))
                 if name in table]  # fmt: skip
        yield Line(
            f"{scheme}: share of the best / queue ms",
            ", ".join(known) or "-",
            f"{mean_text(values)} / {mean_text(queues[scheme], 1)}",
        )


def _queueing_ms(flow: FlowResult) -> float:
    """Mean delay above the least of the flow."""
    if flow.series is None or not len(flow.series.delay_ms):
        return flow.metrics.queueing_delay_ms
    return flow.metrics.mean_delay_ms - float(flow.series.delay_ms.min())


def _figure(rows: Iterable[AveragesRow]) -> Figure:
    """Each scheme's place in their table and in ours, joined."""
    figure = Figure(figsize=(10, 4.5), layout="constrained")
    for axes, kind in zip(figure.subplots(1, 2), ("wired", "cellular"), strict=True):
        for row in [row for row in rows if row.kind == kind]:
            both = np.array(
                [(each.queueing_delay_ms, each.throughput_share) for each in (row.published, row.ours)]
            )
            (line,) = axes.plot(*both.T, "-", lw=0.8)
            axes.plot(*both[0], "o", mfc="none", color=line.get_color())
            axes.plot(*both[1], "o", color=line.get_color())
            axes.annotate(row.scheme, both[1], fontsize=7)
        axes.set_xscale("log")
        axes.invert_xaxis()
        axes.set_title(f"{kind}; open: theirs, filled: ours", fontsize=9)
        axes.set_xlabel("queueing delay (ms)")
        axes.set_ylabel("throughput, share of the best")
        axes.grid(alpha=0.3)
    return figure


DESCRIPTION = description_of("copa-pantheon")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What can be chosen."""
    add_common_arguments(parser, "reproductions/copa-pantheon")
    parser.add_argument(
        "--archive",
        type=Path,
        nargs="+",
        default=[],
        metavar="DIR",
        help="measure these data directories, Pantheon's or ours, instead of flights in the twin",
    )


run = partial(run_reproduction, reproduce)
