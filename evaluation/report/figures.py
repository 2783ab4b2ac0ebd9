"""The plots of the report as plotly figures; the page sets their background and ink."""

import math
from itertools import pairwise
from typing import Any

import numpy as np
from ccgym.evaluation.metrics.results import Scenario
from ccgym.evaluation.metrics.summary import SchemeMean, scheme_means

from .palette import Style

Figure = dict[str, Any]

WIDE = 4.0
"""Delays that span more than this ratio go on a logarithmic axis."""
_ELLIPSE_POINTS = 60
_LABEL_PLACES = (
    ("top center", 0, 1),
    ("bottom center", 0, -1),
    ("middle right", 1, 0),
    ("middle left", -1, 0),
    ("top right", 1, 1),
    ("top left", -1, 1),
    ("bottom right", 1, -1),
    ("bottom left", -1, -1),
)
"""plotly's name of a text position, and its offset from the mark: to the right and up."""
_PICTURE_PX = (960, 370)
_LETTER_PX, _LINE_PX, _MARK_PX = 7.5, 17.0, 7.0
_MOST_TICKS = 7
_NEUTRAL = "rgba(128,128,128,0.55)"


def frontier(scenario: Scenario, styles: dict[str, Style]) -> Figure:
    """Throughput over p95 delay for every scheme: mean, runs, and the ellipse of one standard deviation."""
    traces: list[Figure] = []
    means = [mean for mean in scheme_means(scenario.runs) if mean.delivers]
    scenario = scenario.delivered
    delays = [run.total.p95_delay_ms for run in scenario.runs]
    top = max((run.total.throughput_mbps for run in scenario.runs), default=1.0)
    capacity = float(np.mean([run.total.capacity_mbps for run in scenario.runs] or [0.0]))
    layout = {
        "xaxis": _delay_axis(delays, "95th percentile one-way delay (ms), lower is further right"),
        "yaxis": {"title": {"text": "throughput (Mbit/s)"}, "range": [0, 1.12 * max(top, capacity)]},
        "shapes": _frontier_line([mean for mean in means if not mean.starved_runs])
        + ([_capacity_line(capacity)] if capacity else []),
    }
    for mean, place in zip(means, _label_places(means, layout), strict=True):
        totals = [run.total for run in scenario.runs if run.scheme == mean.scheme]
        points = np.array([[total.p95_delay_ms, total.throughput_mbps] for total in totals])
        traces += _cloud(points, mean.scheme, styles[mean.scheme])
        traces.append(_mean_marker(mean, styles[mean.scheme], place))
    return {"data": traces, "layout": layout}


def overall_frontier(scenarios: list[Scenario], styles: dict[str, Style]) -> Figure:
    """Every scheme over all scenarios: mean utilisation, geometric mean of p95 delay / propagation."""
    clouds = {scheme: np.array([_relative(scenario, scheme) for scenario in scenarios]) for scheme in styles}
    clouds = {scheme: points[~np.isnan(points[:, 0])] for scheme, points in clouds.items()}
    means = [
        SchemeMean(scheme, float(points[:, 1].mean()), math.exp(float(np.log(points[:, 0]).mean())))
        for scheme, points in clouds.items()
        if len(points)
    ]
    ratios = [ratio for points in clouds.values() for ratio in points[:, 0]]
    layout = {
        "xaxis": _delay_axis(ratios, "p95 one-way delay / propagation delay, lower is further right"),
        "yaxis": {"title": {"text": "utilisation (%)"}, "range": [0, 112]},
        "shapes": [_capacity_line(100)],
    }
    traces = []
    for mean, place in zip(means, _label_places(means, layout), strict=True):
        style = styles[mean.scheme]
        traces += _cloud(clouds[mean.scheme], mean.scheme, style, ellipse=False)
        traces.append(_mean_marker(mean, style, place, " %", " x propagation"))
    return {"data": traces, "layout": layout}


def _relative(scenario: Scenario, scheme: str) -> tuple[float, float]:
    """The scheme's mean in a scenario as (p95 delay / propagation, utilisation in %); NaN where unknown."""
    runs = [run for run in scenario.runs if run.scheme == scheme]
    if not runs or not scenario.delay_ms or not runs[0].total.capacity_mbps:
        return math.nan, math.nan
    (mean,) = scheme_means(runs)
    used = mean.throughput_mbps / float(np.mean([run.total.capacity_mbps for run in runs]))
    return mean.p95_delay_ms / scenario.delay_ms, 100 * used


def _label_places(means: list[SchemeMean], layout: Figure) -> list[str]:
    """The text position of each mean's name, so that no two overlap; empty: there is no room for it.

    Names are placed in the order of power, best first, in a plot of _PICTURE_PX with these axes.
    """
    taken: list[tuple[float, float, float, float]] = [
        (*_place(mean, layout), _MARK_PX, _MARK_PX) for mean in means
    ]
    places = [""] * len(means)
    for index in sorted(range(len(means)), key=lambda index: -means[index].power):
        x, y = _place(means[index], layout)
        half_width = _LETTER_PX * len(means[index].label) / 2
        for name, across, up in _LABEL_PLACES:
            box = (x + across * (half_width + _MARK_PX), y + up * _LINE_PX, half_width, _LINE_PX / 2)
            inside = half_width < box[0] < _PICTURE_PX[0] - half_width
            if inside and not any(_overlap(box, other) for other in taken):
                places[index] = name
                taken.append(box)
                break
    return places


def _place(mean: SchemeMean, layout: Figure) -> tuple[float, float]:
    """The position of a mean in the plot, in px from its lower left corner."""
    delay = math.log10(mean.p95_delay_ms) if "type" in layout["xaxis"] else mean.p95_delay_ms
    left, right = layout["xaxis"]["range"]
    up = mean.throughput_mbps / layout["yaxis"]["range"][1]
    return (delay - left) / (right - left) * _PICTURE_PX[0], up * _PICTURE_PX[1]


def _overlap(one: tuple[float, float, float, float], other: tuple[float, float, float, float]) -> bool:
    """Whether two boxes overlap; each is (x, y, width / 2, height / 2) with its middle at (x, y)."""
    return abs(one[0] - other[0]) < one[2] + other[2] and abs(one[1] - other[1]) < one[3] + other[3]


def _cloud(points: Any, scheme: str, style: Style, ellipse: bool = True) -> list[Figure]:
    """The single runs as small marks, and the ellipse around them."""
    runs = {
        "type": "scatter",
        "mode": "markers",
        "x": rounded(points[:, 0]),
        "y": rounded(points[:, 1]),
        "marker": {"symbol": style.marker, "size": 7, "color": style.translucent(0.45)},
        "name": scheme,
        "legendgroup": scheme,
        "showlegend": False,
        "hovertemplate": f"{scheme}: %{{y:.2f}} at %{{x:.1f}}<extra></extra>",
    }
    if len(points) < 2 or not ellipse:
        return [runs]
    outline = _ellipse(points)
    shade = {
        "type": "scatter",
        "mode": "lines",
        "x": rounded(outline[:, 0]),
        "y": rounded(outline[:, 1]),
        "fill": "toself",
        "fillcolor": style.translucent(0.14),
        "line": {"width": 1, "color": style.translucent(0.5)},
        "legendgroup": scheme,
        "showlegend": False,
        "hoverinfo": "skip",
    }
    return [shade, runs]


def _ellipse(points: Any) -> Any:
    """Points of the ellipse one standard deviation around the mean, along the axes of the covariance."""
    spread, axes = np.linalg.eigh(np.cov(points.T))
    turn = np.linspace(0, 2 * math.pi, _ELLIPSE_POINTS)
    circle = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    outline = points.mean(axis=0) + circle * np.sqrt(np.maximum(spread, 0)) @ axes.T
    return np.maximum(outline, [1e-3, 0])


def _mean_marker(
    mean: SchemeMean, style: Style, place: str, unit: str = " Mbit/s", delay_unit: str = " ms"
) -> Figure:
    return {
        "type": "scatter",
        "mode": "markers+text",
        "x": rounded([mean.p95_delay_ms]),
        "y": rounded([mean.throughput_mbps]),
        "text": [mean.label if place else ""],
        "textposition": place or "top center",
        "textfont": {"color": style.colour, "size": 13},
        "marker": {"symbol": style.marker, "size": 14, "color": style.colour, "line": {"width": 1.5}},
        "name": mean.scheme,
        "legendgroup": mean.scheme,
        "hovertemplate": f"{mean.label}: %{{y:.2f}}{unit} at %{{x:.1f}}{delay_unit}<extra>mean</extra>",
    }


def _frontier_line(means: list[SchemeMean]) -> list[Figure]:
    """The frontier as steps between the means that no other mean beats."""
    best: list[SchemeMean] = []
    for mean in sorted(means, key=lambda mean: (mean.p95_delay_ms, -mean.throughput_mbps)):
        if not best or mean.throughput_mbps > best[-1].throughput_mbps:
            best.append(mean)
    line = {"type": "line", "layer": "below", "line": {"color": _NEUTRAL, "width": 1, "dash": "dot"}}
    steps = []
    for low, high in pairwise(best):
        steps.append(
            _segment(line, low.p95_delay_ms, high.p95_delay_ms, low.throughput_mbps, low.throughput_mbps)
        )
        steps.append(
            _segment(line, high.p95_delay_ms, high.p95_delay_ms, low.throughput_mbps, high.throughput_mbps)
        )
    return steps


def _segment(line: Figure, x0: float, x1: float, y0: float, y1: float) -> Figure:
    return {**line, "x0": x0, "x1": x1, "y0": y0, "y1": y1}


def _capacity_line(capacity: float) -> Figure:
    return {
        "type": "line",
        "layer": "below",
        "xref": "paper",
        "x0": 0,
        "x1": 1,
        "y0": capacity,
        "y1": capacity,
        "line": {"color": _NEUTRAL, "width": 1},
        "label": {"text": "capacity", "textposition": "start", "font": {"size": 11, "color": _NEUTRAL}},
    }


def _delay_axis(values: list[float], title: str) -> Figure:
    """The delay axis: inverted as in Pantheon; logarithmic to base 2 if the values span a large ratio."""
    low, high = min(values, default=1.0), max(values, default=1.0)
    axis: Figure = {"title": {"text": title}}
    if high <= WIDE * low:
        margin = 0.12 * (high - low) + 0.02 * high
        return axis | {"range": [high + margin, max(0, low - margin)]}
    return axis | log_axis(low, high) | {"range": [math.log10(high * 1.25), math.log10(low / 1.25)]}


def log_axis(low: float, high: float) -> Figure:
    """A logarithmic axis with a tick at every power of two, or at every few where those are many."""
    first, last = math.floor(math.log2(low)), math.ceil(math.log2(high))
    ticks = [2.0**power for power in range(first, last + 1, 1 + (last - first) // _MOST_TICKS)]
    return {
        "type": "log",
        "range": [math.log10(low / 1.3), math.log10(high * 1.3)],
        "tickvals": ticks,
        "ticktext": [f"{tick:g}" for tick in ticks],
    }


def rounded(values: Any) -> list[float]:
    """The values rounded to four decimals, more than a plot shows."""
    rounded: list[float] = np.round(np.asarray(values, np.float64), 4).tolist()
    return rounded
