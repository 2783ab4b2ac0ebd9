"""Table 1 of a reproduction of Copa (Stanford 2019): shares and queueing delays over Pantheon's paths.

Throughput is a share of the best scheme's in the same experiment; queueing delay is the mean delay minus the
flow's least. The published figures are from Pantheon's archive of February 2018. Ours are from any data
directory (`--archive`), or from our runs over wired and cellular emulators. These are other paths, so there
is no tolerance for a single figure.
"""

import argparse
import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
from ccgym.calibration.scheme_names import stable_name
from ccgym.configs.arguments import add_ray_argument
from ccgym.envs.specs.emulators import select_emulators
from ccgym.evaluation.metrics.results import Evaluation, FlowResult, load_evaluation
from ccgym.evaluation.schemes import select_schemes
from matplotlib.figure import Figure

from .command import add_backend_argument, add_common_arguments, description_of, run_reproduction
from .reproduction import Line, Reproduction, ReproductionOptions, evaluate, mean_text

TITLE = "Copa over Pantheon's paths: Table 1"
DOCUMENT = "document 004"
SECONDS, RUNS, QUICK_RUNS = 30.0, 3, 1
EMULATORS = {
    "wired": "calibrated/india,calibrated/china,calibrated/california-mexico",
    "cellular": "calibrated/mexico,calibrated/brazil",
}
RECORDED = "cellular/verizon-lte,cellular/tmobile-lte,cellular/att-lte-driving"
"""Emulators that run only if their traces are here, as these are not part of ccgym."""
BEST_OF = ("cubic", "reno")
"""Schemes that are not in the table but ran there too: one of them may be the best on a path."""


@dataclass(frozen=True)
class Published:
    """The published figures of a scheme over all paths of a kind."""

    throughput_share: float
    """Throughput as a share of the best scheme's on the same path."""
    queueing_delay_ms: float
    """Mean delay minus the flow's least."""


WIRED: dict[str, Published] = {
    "copa": Published(0.702, 4.27),
    "sprout": Published(0.312, 3.455),
    "vivace": Published(0.608, 2.441),
    "vivace:loss": Published(0.655, 11.25),
    "scream": Published(0.003176, 0.450),
    "vegas": Published(0.660, 3.44),
    "bbr": Published(0.741, 13.47),
    "verus": Published(0.601, 12.92),
    "allegro": Published(0.626, 6.194),
    "gcc": Published(0.0226, 1.377),
    "ledbat": Published(0.538, 6.194),
    "indigo": Published(0.758, 5.120),
}
CELLULAR: dict[str, Published] = {
    "copa": Published(0.410, 70.75),
    "sprout": Published(0.220, 40.30),
    "vivace": Published(0.440, 1808),
    "vivace:loss": Published(0.615, 1981),
    "scream": Published(0.066, 20.47),
    "vegas": Published(0.494, 334.9),
    "bbr": Published(0.664, 360.6),
    "verus": Published(0.626, 473.6),
    "allegro": Published(0.501, 2401),
    "gcc": Published(0.195, 120.7),
    "ledbat": Published(0.579, 83.24),
    "indigo": Published(0.346, 48.31),
}

TABLE = {"wired": WIRED, "cellular": CELLULAR}
THEIRS_ALONE = {
    "wired": {
        "FillP": Published(0.798, 16.10),
        "QUIC": Published(0.648, 11.17),
        "Vivace LTE": Published(0.669, 7.01),
        "TaoVA": Published(0.701, 8.159),
    },
    "cellular": {
        "FillP": Published(0.680, 2721),
        "QUIC": Published(0.660, 818.7),
        "Vivace LTE": Published(0.563, 1845),
        "TaoVA": Published(0.537, 285.3),
    },
}
WHY = {
    "scream": "theirs sends a video, whose rate bounds it",
    "gcc": "theirs sends a video, whose rate bounds it",
    "indigo": "our weights",
}
WHAT = "share of the best / queue ms"


@dataclass
class Averages:
    """The measurements of a scheme: a share for each of its flows, a delay for each flow that delivers."""

    throughput_shares: list[float] = field(default_factory=list)
    queueing_delays_ms: list[float] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The means with their intervals, as text."""
        return f"{mean_text(self.throughput_shares)} / {mean_text(self.queueing_delays_ms, 1)}"

    @property
    def queueing_delay_ms(self) -> float:
        """The mean of the delays; NaN if none of the flows delivers."""
        return float(np.mean(self.queueing_delays_ms)) if self.queueing_delays_ms else math.nan


def reproduce(options: ReproductionOptions) -> Reproduction:
    """Measures the archives, or runs ours."""
    if options.archives:
        measured = averages(load_evaluation(folder) for folder in options.archives)
        notes = [f"ours: {len(options.archives)} data directories"]
        return Reproduction(TITLE, DOCUMENT, _archive_lines(measured), notes=notes)
    by_kind = {kind: _run(options, kind) for kind in TABLE}
    lines = [line for kind, ours in by_kind.items() for line in _lines(kind, ours)]
    lines += [_claim(kind, ours) for kind, ours in by_kind.items()]
    return Reproduction(TITLE, DOCUMENT, lines, {"copa-pantheon": _figure(by_kind)})


def _run(options: ReproductionOptions, kind: str) -> dict[str, Averages]:
    """Runs every scheme of the table; the results by the name in the table."""
    recorded = kind == "cellular" and "CCGYM_TRACES" in os.environ
    emulators = select_emulators(f"{EMULATORS[kind]},{RECORDED}" if recorded else EMULATORS[kind])
    schemes = [*TABLE[kind], *BEST_OF]
    selected = options.kernels(schemes)
    runs = QUICK_RUNS if options.quick else RUNS
    evaluation = evaluate(options, f"copa-pantheon-{kind}", emulators, selected, runs, SECONDS)
    measured = averages([evaluation])
    labels = [select_schemes(scheme)[0].label for scheme in selected]
    names = dict(zip(labels, schemes, strict=True))
    return {names[label]: each for label, each in measured.items()}


def averages(evaluations: Iterable[Evaluation]) -> dict[str, Averages]:
    """The averages of every scheme over all scenarios of the evaluations."""
    found: dict[str, Averages] = {}
    for evaluation in evaluations:
        for scenario in evaluation.scenarios:
            best = max((flow.metrics.throughput_mbps for flow in scenario.flows), default=0.0)
            for flow in scenario.flows:
                own = found.setdefault(flow.scheme, Averages())
                if best > 0:  # otherwise no scheme has a share
                    own.throughput_shares.append(flow.metrics.throughput_mbps / best)
                if flow.metrics.delivers:  # otherwise it has no delay
                    own.queueing_delays_ms.append(_queueing_ms(flow))
    return found


def _queueing_ms(flow: FlowResult) -> float:
    """Mean delay minus the flow's least, in ms."""
    if flow.series is None or not len(flow.series.delay_ms):
        return flow.metrics.queueing_delay_ms
    return flow.metrics.mean_delay_ms - float(flow.series.delay_ms.min())


def _lines(kind: str, ours: Mapping[str, Averages]) -> list[Line]:
    lines = [
        Line(
            f"{kind}, {scheme}: {WHAT}",
            _text(theirs),
            ours[scheme].text if scheme in ours else "-",
            why=WHY.get(scheme, "") if scheme in ours else "no run of it succeeded",
        )
        for scheme, theirs in TABLE[kind].items()
    ]
    return lines + [
        Line(f"{kind}, {name}: {WHAT}", _text(theirs), "-", why="not among our schemes")
        for name, theirs in THEIRS_ALONE[kind].items()
    ]


def _archive_lines(measured: Mapping[str, Averages]) -> list[Line]:
    lines = []
    for scheme, own in measured.items():
        name, _ = stable_name(scheme)
        known = [f"{kind}: {_text(table[name])}" for kind, table in TABLE.items() if name in table]
        lines.append(Line(f"{scheme}: {WHAT}", ", ".join(known) or "-", own.text))
    return lines


def _text(figures: Published) -> str:
    return f"{figures.throughput_share:.2f} / {figures.queueing_delay_ms:.1f}"


def _claim(kind: str, ours: Mapping[str, Averages]) -> Line:
    """The published finding: a queueing delay of a half to a tenth of BBR's, or less."""
    what = f"{kind}: BBR's queueing delay / Copa's"
    theirs = TABLE[kind]["bbr"].queueing_delay_ms / TABLE[kind]["copa"].queueing_delay_ms
    if not {"bbr", "copa"} <= ours.keys():
        return Line(what, f"{theirs:.1f}", "-", ">= 2", met=False, why="no run of one of them succeeded")
    if not (ours["bbr"].queueing_delays_ms and ours["copa"].queueing_delays_ms):
        return Line(what, f"{theirs:.1f}", "-", ">= 2", met=False, why="no packet of one of them arrived")
    ratio = ours["bbr"].queueing_delay_ms / ours["copa"].queueing_delay_ms
    why = "these paths have other queues: on ours BBR keeps a short one"
    return Line(what, f"{theirs:.1f}", f"{ratio:.1f}", ">= 2", ratio >= 2, why)


def _figure(by_kind: Mapping[str, Mapping[str, Averages]]) -> Figure:
    """A plot of each scheme's published figures joined with ours."""
    figure = Figure(figsize=(10, 4.5), layout="constrained")
    for axes, (kind, ours) in zip(figure.subplots(1, 2), by_kind.items(), strict=True):
        for scheme, theirs in TABLE[kind].items():
            if scheme not in ours or not ours[scheme].queueing_delays_ms:
                continue
            place = ours[scheme].queueing_delay_ms, float(np.mean(ours[scheme].throughput_shares))
            both = np.array([(theirs.queueing_delay_ms, theirs.throughput_share), place])
            (line,) = axes.plot(*both.T, "-", lw=0.8)
            axes.plot(*both[0], "o", mfc="none", color=line.get_color())
            axes.plot(*both[1], "o", color=line.get_color())
            axes.annotate(scheme, place, fontsize=7)
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
    add_backend_argument(parser)
    add_ray_argument(parser)
    parser.add_argument(
        "--archive",
        type=Path,
        nargs="+",
        default=[],
        metavar="DIR",
        help="measure these data directories, Pantheon's or ours, instead of runs of ours",
    )


run = partial(run_reproduction, reproduce)
