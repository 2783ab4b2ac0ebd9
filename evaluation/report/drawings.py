"""The plots of Pantheon's report, for paper: the summary with its ellipses, and the graphs of a run."""

import math
from collections.abc import Sequence
from itertools import cycle
from typing import Any

import numpy as np
from ccgym.envs.logs.event_log import Array
from ccgym.evaluation.metrics.results import FlowResult, RunResult, Scenario
from ccgym.evaluation.metrics.summary import SchemeMean, scheme_means
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse
from matplotlib.ticker import FuncFormatter, LogLocator

from .figures import WIDE
from .palette import Style

_CAPACITY = "linen"
_PACKETS = 1200
"""Most packets of a flow that are drawn: a page of paper shows no more."""
_FLOWS = ("#0077bb", "#d55e00", "#009e73", "#cc79a7", "#b8860b", "#56b4e9", "#8775d8", "#6f7d1c")


def draw_summary(axes: Axes, scenario: Scenario, styles: dict[str, Style], *, means: bool) -> None:
    """Throughput over p95 delay, low delay at the right: each run, or the mean with its ellipse and name."""
    all_means = [mean for mean in scheme_means(scenario.runs) if mean.delivers]
    runs = scenario.delivered.runs
    for mean in all_means:
        style = styles[mean.scheme]
        points = np.array(
            [[run.total.p95_delay_ms, run.total.throughput_mbps] for run in runs if run.scheme == mean.scheme]
        )
        if not means:
            axes.plot(*points.T, style.pen, color=style.colour, ls="none", label=mean.scheme)
            continue
        if len(points) > 1:
            axes.add_patch(_ellipse(points, style))
        axes.plot(mean.p95_delay_ms, mean.throughput_mbps, style.pen, color=style.colour)
    _delay_axis(axes, [run.total.p95_delay_ms for run in runs])
    axes.set_xlabel("95th percentile one-way delay (ms)")
    axes.set_ylabel("Average throughput (Mbit/s)")
    axes.set_ylim(bottom=0, top=1.15 * max((run.total.throughput_mbps for run in runs), default=1.0))
    axes.grid(alpha=0.3)
    if means:
        _label(axes, all_means, styles)
    elif runs:
        axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize=8, frameon=False)


def _ellipse(points: Any, style: Style) -> Ellipse:
    """One standard deviation over the runs, along the axes of the covariance."""
    spread, directions = np.linalg.eigh(np.cov(points.T))
    width, height = 2 * np.sqrt(np.maximum(spread, 0))
    angle = math.degrees(math.atan2(directions[1, 0], directions[0, 0]))
    return Ellipse(
        tuple(points.mean(axis=0)), width, height, angle=angle, color=style.colour, alpha=0.2, lw=0
    )


def _delay_axis(axes: Axes, delays_ms: Sequence[float]) -> None:
    low, high = min(delays_ms, default=1.0), max(delays_ms, default=1.0)
    if high > WIDE * low:
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_locator(LogLocator(base=2))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.set_xlim(1.3 * high, low / 1.3)
    else:
        margin = 0.12 * (high - low) + 0.02 * high
        axes.set_xlim(high + margin, max(0.0, low - margin))


def _label(axes: Axes, means: Sequence[SchemeMean], styles: dict[str, Style]) -> None:
    """Writes names beside the means, each moved up until it overlaps no other."""
    taken: list[tuple[float, float, float]] = []
    place = axes.transData.transform
    for mean in sorted(means, key=lambda mean: mean.throughput_mbps):
        x, y = place((mean.p95_delay_ms, mean.throughput_mbps))
        width, y = 6.0 * len(mean.label), y + 5
        while any(abs(x - left) < (width + other) / 2 and abs(y - low) < 10 for left, low, other in taken):
            y += 4
        taken.append((x, y, width))
        axes.annotate(
            mean.label,
            (mean.p95_delay_ms, mean.throughput_mbps),
            xytext=tuple(axes.transData.inverted().transform((x, y))),
            textcoords="data",
            ha="center",
            fontsize=8,
            color=styles[mean.scheme].colour,
        )


def draw_throughput(axes: Axes, run: RunResult) -> None:
    """Sending rate (dashed) and throughput of each flow in bins, with the link's capacity shaded."""
    first = run.flows[0].series
    assert first is not None
    if len(first.capacity_mbps):
        axes.fill_between(*_stepped(first.bin_s, first.capacity_mbps), step="pre", color=_CAPACITY, lw=0)
    for flow, colour in zip(run.flows, cycle(_FLOWS), strict=False):
        series, metrics = flow.series, flow.metrics
        assert series is not None
        name, begin_s = _name(run, flow), _begins_s(run, flow)
        sent_s, sent_mbps = _stepped(series.bin_s, series.sent_mbps)
        axes.step(begin_s + sent_s, sent_mbps, "--", color=colour, lw=1, label=f"{name} ingress")
        left_s, left_mbps = _stepped(series.bin_s, series.throughput_mbps)
        label = f"{name} egress (mean {metrics.throughput_mbps:.2f} Mbit/s)"
        axes.step(begin_s + left_s, left_mbps, color=colour, lw=1.4, label=label)
    capacity = run.total.capacity_mbps
    if capacity:
        axes.set_title(f"Average capacity {capacity:.2f} Mbit/s (shaded region)", fontsize=9)
    axes.set_xlabel("Time (s)")
    axes.set_ylabel("Throughput (Mbit/s)")
    axes.set_xlim(0, run.total.duration_ms / 1000)
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    _legend(axes)


def _stepped(bin_s: Array, values: Array) -> tuple[Array, Array]:
    """Converts one value per bin to one per edge; each value holds back to the previous edge."""
    return np.concatenate([[0.0], bin_s]), np.concatenate([values[:1], values])


def draw_delay(axes: Axes, run: RunResult) -> None:
    """One-way delay of packets; where they are dense, only the least and the greatest."""
    for flow, colour in zip(run.flows, cycle(_FLOWS), strict=False):
        assert flow.series is not None
        series = flow.series.thinned(_PACKETS)
        p95 = f"95th percentile {flow.metrics.p95_delay_ms:.2f} ms"
        label = f"{_name(run, flow)} ({p95 if flow.metrics.delivers else 'nothing came through'})"
        times_s = _begins_s(run, flow) + series.delay_s
        axes.plot(times_s, series.delay_ms, ".", ms=1.5, color=colour, label=label)
    axes.set_xlabel("Time (s)")
    axes.set_ylabel("Per-packet one-way delay (ms)")
    axes.set_xlim(0, run.total.duration_ms / 1000)
    axes.grid(alpha=0.3)
    _legend(axes, markerscale=5)


def draw_fairness(axes: Axes, run: RunResult) -> None:
    """Jain's index of the flows that have begun, in the bins of the throughput."""
    assert run.fairness is not None
    axes.plot(run.fairness.bin_s, run.fairness.jain, color=_FLOWS[0], lw=1.4)
    axes.set_title(f"Jain's index (mean {run.fairness.mean:.3f})", fontsize=9)
    axes.set_xlim(0, run.total.duration_ms / 1000)
    axes.set_ylim(0, 1.05)
    axes.set_xlabel("Time (s)")
    axes.grid(alpha=0.3)


def _begins_s(run: RunResult, flow: FlowResult) -> float:
    return (flow.metrics.start_ms - run.total.start_ms) / 1000


def _name(run: RunResult, flow: FlowResult) -> str:
    return f"Flow {flow.flow}" if flow.flow_scheme == run.scheme else f"Flow {flow.flow}, {flow.flow_scheme}"


def _legend(axes: Axes, **options: Any) -> None:
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.18), ncol=2, fontsize=7, frameon=False, **options)


def single_figure(width: float = 9, height: float = 5) -> tuple[Figure, Axes]:
    """An empty figure of this size in inches."""
    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.add_subplot()
