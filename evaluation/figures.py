"""The pictures of the report as plotly figures; the page gives them paper and ink."""

import math
from itertools import pairwise
from typing import Any

import numpy as np
from ccgym.envs.event_log import Array

from .palette import Style
from .results import FlowResult, Scenario
from .summary import SchemeMean, scheme_means

Figure = dict[str, Any]

_WIDE = 4.0
"""Delays that span more than this ratio go on a logarithmic axis."""
_ELLIPSE_POINTS = 60
_LABEL_PLACES = ("top center", "bottom center")
_ROW_PX = 170
_MOST_TICKS = 7
_NEUTRAL = "rgba(128,128,128,0.55)"
_CAPACITY = "rgba(128,128,128,0.16)"


def frontier(scenario: Scenario, styles: dict[str, Style]) -> Figure:
    """Throughput over p95 delay of every scheme: mean, runs, and the ellipse of one standard deviation."""
    traces: list[Figure] = []
    means = scheme_means(scenario.flows)
    places = _label_places([mean.p95_delay_ms for mean in means])
    for mean, place in zip(means, places, strict=True):
        flows = [flow for flow in scenario.flows if flow.scheme == mean.scheme]
        points = np.array([[flow.metrics.p95_delay_ms, flow.metrics.throughput_mbps] for flow in flows])
        traces += _cloud(points, mean.scheme, styles[mean.scheme])
        traces.append(_mean_marker(mean, styles[mean.scheme], place))
    delays = [flow.metrics.p95_delay_ms for flow in scenario.flows]
    top = max(flow.metrics.throughput_mbps for flow in scenario.flows)
    capacity = float(np.mean([flow.metrics.capacity_mbps for flow in scenario.flows]))
    layout = {
        "xaxis": _delay_axis(delays, "95th percentile one-way delay (ms), lower is further right"),
        "yaxis": {"title": {"text": "throughput (Mbit/s)"}, "range": [0, 1.12 * max(top, capacity)]},
        "shapes": _frontier_line(means) + ([_capacity_line(capacity)] if capacity else []),
    }
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
    traces = []
    for mean, place in zip(means, _label_places([mean.p95_delay_ms for mean in means]), strict=True):
        style = styles[mean.scheme]
        traces += _cloud(clouds[mean.scheme], mean.scheme, style, ellipse=False)
        traces.append(_mean_marker(mean, style, place, " %", " x propagation"))
    ratios = [ratio for points in clouds.values() for ratio in points[:, 0]]
    layout = {
        "xaxis": _delay_axis(ratios, "p95 one-way delay / propagation delay, lower is further right"),
        "yaxis": {"title": {"text": "utilisation (%)"}, "range": [0, 112]},
        "shapes": [_capacity_line(100)],
    }
    return {"data": traces, "layout": layout}


def runs_over_time(scenario: Scenario, run: int, styles: dict[str, Style]) -> Figure:
    """One row per scheme: throughput against the link's capacity left, delays of packets right."""
    flows = [flow for flow in scenario.flows if flow.run == run]
    rows = len(flows)
    layout: Figure = {
        "grid": {"rows": rows, "columns": 2, "pattern": "independent", "xgap": 0.09, "ygap": 0.24},
        "height": rows * _ROW_PX + 60,
        "showlegend": False,
        "annotations": [],
        "margin": {"t": 34, "b": 46, "l": 58, "r": 16},
    }
    traces: list[Figure] = []
    for row, flow in enumerate(flows):
        left, right = 2 * row + 1, 2 * row + 2
        traces += _throughput_traces(flow, styles[flow.scheme], left) + _delay_traces(
            flow, styles[flow.scheme], right
        )
        layout |= _row_axes(flows, left, right, last=row == rows - 1)
        layout["annotations"] += _row_titles(flow, styles[flow.scheme], left, right)
    return {"data": traces, "layout": layout}


def _relative(scenario: Scenario, scheme: str) -> tuple[float, float]:
    """The scheme's mean in a scenario as (p95 delay / propagation, utilisation in %); NaN where unknown."""
    flows = [flow for flow in scenario.flows if flow.scheme == scheme]
    if not flows or not scenario.delay_ms or not flows[0].metrics.capacity_mbps:
        return math.nan, math.nan
    mean = scheme_means(flows)[0]
    used = mean.throughput_mbps / float(np.mean([flow.metrics.capacity_mbps for flow in flows]))
    return mean.p95_delay_ms / scenario.delay_ms, 100 * used


def _label_places(delays: list[float]) -> list[str]:
    """Above and below in turn along the delay axis, so that neighbours do not write over each other."""
    places = [""] * len(delays)
    for rank, index in enumerate(np.argsort(delays)):
        places[index] = _LABEL_PLACES[rank % 2]
    return places


def _cloud(points: Any, scheme: str, style: Style, ellipse: bool = True) -> list[Figure]:
    """The single runs, small, and the ellipse around them."""
    runs = {
        "type": "scatter",
        "mode": "markers",
        "x": _rounded(points[:, 0]),
        "y": _rounded(points[:, 1]),
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
        "x": _rounded(outline[:, 0]),
        "y": _rounded(outline[:, 1]),
        "fill": "toself",
        "fillcolor": style.translucent(0.14),
        "line": {"width": 1, "color": style.translucent(0.5)},
        "legendgroup": scheme,
        "showlegend": False,
        "hoverinfo": "skip",
    }
    return [shade, runs]


def _ellipse(points: Any) -> Any:
    """Points one standard deviation around the mean, along the axes of the covariance."""
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
        "x": _rounded([mean.p95_delay_ms]),
        "y": _rounded([mean.throughput_mbps]),
        "text": [mean.scheme],
        "textposition": place,
        "textfont": {"color": style.colour, "size": 13},
        "marker": {"symbol": style.marker, "size": 14, "color": style.colour, "line": {"width": 1.5}},
        "name": mean.scheme,
        "legendgroup": mean.scheme,
        "hovertemplate": f"{mean.scheme}: %{{y:.2f}}{unit} at %{{x:.1f}}{delay_unit}<extra>mean</extra>",
    }


def _frontier_line(means: list[SchemeMean]) -> list[Figure]:
    """Steps from one mean that no other beats to the next."""
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
    """Inverted, as in Pantheon; logarithmic to base 2 when the values span much."""
    low, high = min(values), max(values)
    axis: Figure = {"title": {"text": title}}
    if high <= _WIDE * low:
        margin = 0.12 * (high - low) + 0.02 * high
        return axis | {"range": [high + margin, max(0, low - margin)]}
    return axis | _log_axis(low, high) | {"range": [math.log10(high * 1.25), math.log10(low / 1.25)]}


def _log_axis(low: float, high: float) -> Figure:
    """A logarithmic axis with a tick at every power of two, or at every few where those are many."""
    first, last = math.floor(math.log2(low)), math.ceil(math.log2(high))
    ticks = [2.0**power for power in range(first, last + 1, 1 + (last - first) // _MOST_TICKS)]
    return {
        "type": "log",
        "range": [math.log10(low / 1.3), math.log10(high * 1.3)],
        "tickvals": ticks,
        "ticktext": [f"{tick:g}" for tick in ticks],
    }


def _throughput_traces(flow: FlowResult, style: Style, axis: int) -> list[Figure]:
    common = {
        "type": "scatter",
        "mode": "lines",
        "x": _rounded([0, *flow.series.bin_s]),
        "xaxis": f"x{axis}",
        "yaxis": f"y{axis}",
    }
    capacity = {
        **common,
        "y": _stepped(flow.series.capacity_mbps),
        "fill": "tozeroy",
        "fillcolor": _CAPACITY,
        "line": {"width": 0, "shape": "vh"},
        "hovertemplate": "capacity %{y:.2f} Mbit/s<extra></extra>",
    }
    throughput = {
        **common,
        "y": _stepped(flow.series.throughput_mbps),
        "line": {"width": 1.8, "color": style.colour, "shape": "vh"},
        "hovertemplate": f"{flow.scheme} %{{y:.2f}} Mbit/s at %{{x}} s<extra></extra>",
    }
    return [capacity, throughput] if len(flow.series.capacity_mbps) else [throughput]


def _stepped(values: Array) -> list[float]:
    """One value per bin as one per edge: each holds back to the edge before."""
    return _rounded([*values[:1], *values])


def _delay_traces(flow: FlowResult, style: Style, axis: int) -> list[Figure]:
    return [
        {
            "type": "scatter",
            "mode": "markers",
            "x": _rounded(flow.series.delay_s),
            "y": _rounded(flow.series.delay_ms),
            "xaxis": f"x{axis}",
            "yaxis": f"y{axis}",
            "marker": {"size": 3, "color": style.translucent(0.7)},
            "hovertemplate": f"{flow.scheme} %{{y:.1f}} ms at %{{x:.2f}} s<extra></extra>",
        }
    ]


def _row_axes(flows: list[FlowResult], left: int, right: int, last: bool) -> Figure:
    """All rows share their scales, so that schemes compare at a glance."""
    end_s = max(flow.metrics.duration_ms for flow in flows) / 1000
    top = max(max(*flow.series.throughput_mbps, *flow.series.capacity_mbps, 0.0) for flow in flows)
    delays = np.concatenate([flow.series.delay_ms for flow in flows])
    wide = delays.max() > 2 * _WIDE * delays.min()
    delay_axis = (
        _log_axis(float(delays.min()), float(delays.max()))
        if wide
        else {"range": [0, 1.08 * float(delays.max())]}
    )
    time_axis = {"range": [0, end_s], "showticklabels": last} | (
        {"title": {"text": "time (s)"}} if last else {}
    )
    return {
        f"xaxis{left}": time_axis,
        f"xaxis{right}": time_axis,
        f"yaxis{left}": {"range": [0, 1.08 * top], "title": {"text": "Mbit/s"}, "nticks": 5},
        f"yaxis{right}": {**delay_axis, "title": {"text": "ms"}},
    }


def _row_titles(flow: FlowResult, style: Style, left: int, right: int) -> list[Figure]:
    metrics = flow.metrics
    used, loss = f"{100 * metrics.utilisation:.0f} %", f"{100 * metrics.loss:.2f} %"
    texts = {
        left: f"<b>{flow.scheme}</b>  {metrics.throughput_mbps:.2f} Mbit/s, {used} of capacity",
        right: f"p95 {metrics.p95_delay_ms:.0f} ms, mean {metrics.mean_delay_ms:.0f} ms, loss {loss}",
    }
    return [
        {
            "text": text,
            "xref": f"x{axis} domain",
            "yref": f"y{axis} domain",
            "x": 0,
            "y": 1,
            "xanchor": "left",
            "yanchor": "bottom",
            "showarrow": False,
            "font": {"size": 12, "color": style.colour},
        }
        for axis, text in texts.items()
    ]


def _rounded(values: Any) -> list[float]:
    """Four significant decimals are more than a picture shows."""
    rounded: list[float] = np.round(np.asarray(values, np.float64), 4).tolist()
    return rounded
