"""Plots of single runs over time, as plotly figures."""

from typing import Any

import numpy as np
from ccgym.envs.logs.event_log import Array
from ccgym.evaluation.metrics.results import FlowResult, RunResult, Scenario
from ccgym.evaluation.metrics.time_series import TimeSeries

from .figures import WIDE, Figure, log_axis, rounded
from .palette import Style

_ROW_PX = 170
_GAP_SHARES = {2: 0.12, 3: 0.2}
"""Gap between columns, by their number, as a share of a column's width: room for the next axis's labels."""
_CAPACITY = "rgba(128,128,128,0.16)"
_FLOW_COLOURS = ("#0077bb", "#d55e00", "#009e73", "#cc79a7", "#b8860b", "#56b4e9", "#8775d8", "#6f7d1c")
"""Colours of the flows of one run, in turn; a lone flow has the colour of its scheme."""


def runs_over_time(scenario: Scenario, number: int, styles: dict[str, Style], most_packets: int) -> Figure:
    """One row per scheme: throughput against the link's capacity, delays of packets, Jain's index."""
    runs = [run for run in scenario.runs if run.run == number and has_series(run)]
    shared = any(run.fairness is not None for run in runs)
    columns = 3 if shared else 2
    layout: Figure = {
        "grid": {
            "rows": len(runs),
            "columns": columns,
            "pattern": "independent",
            "xgap": _GAP_SHARES[columns],
            "ygap": 0.24,
        },
        "height": len(runs) * _ROW_PX + 60,
        "showlegend": False,
        "annotations": [],
        "margin": {"t": 34, "b": 46, "l": 58, "r": 16},
    }
    traces: list[Figure] = []
    for row, run in enumerate(runs):
        axes = [columns * row + column for column in range(1, columns + 1)]
        for flow in run.flows:
            traces += _flow_traces(run, flow, _colour(run, flow, styles), axes, most_packets)
        if run.fairness is not None:
            traces.append(_fairness_trace(run, styles[run.scheme], axes[2]))
        layout |= _row_axes(runs, axes, last=row == len(runs) - 1)
        layout["annotations"] += _row_titles(run, styles[run.scheme], axes)
    return {"data": traces, "layout": layout}


def has_series(run: RunResult) -> bool:
    """Whether the logs of this run were kept."""
    return all(flow.series is not None for flow in run.flows)


def _colour(run: RunResult, flow: FlowResult, styles: dict[str, Style]) -> Style:
    style = styles[run.scheme]
    if len(run.flows) == 1:
        return style
    return Style(_FLOW_COLOURS[(flow.flow - 1) % len(_FLOW_COLOURS)], style.marker)


def _flow_traces(
    run: RunResult, flow: FlowResult, style: Style, axes: list[int], most_packets: int
) -> list[Figure]:
    assert flow.series is not None
    series = flow.series.thinned(most_packets)
    begins_s = (flow.metrics.start_ms - run.total.start_ms) / 1000
    name = flow.flow_scheme if len(run.flows) == 1 else f"flow {flow.flow}, {flow.flow_scheme}"
    traces = [
        _sent_trace(name, series, begins_s, style, axes[0]),
        _throughput_trace(name, series, begins_s, style, axes[0]),
        _delay_trace(name, series, begins_s, style, axes[1]),
    ]
    if flow is run.flows[0] and len(series.capacity_mbps):
        traces.insert(0, _capacity_trace(series, axes[0]))
    return traces


def _lines(times_s: Any, values: Any, axis: int) -> Figure:
    return {
        "type": "scatter",
        "mode": "lines",
        "x": rounded(times_s),
        "y": rounded(values),
        "xaxis": f"x{axis}",
        "yaxis": f"y{axis}",
    }


def _capacity_trace(series: TimeSeries, axis: int) -> Figure:
    return {
        **_lines([0, *series.bin_s], _stepped(series.capacity_mbps), axis),
        "fill": "tozeroy",
        "fillcolor": _CAPACITY,
        "line": {"width": 0, "shape": "vh"},
        "hovertemplate": "capacity %{y:.2f} Mbit/s<extra></extra>",
    }


def _throughput_trace(name: str, series: TimeSeries, begins_s: float, style: Style, axis: int) -> Figure:
    times_s = begins_s + np.array([0, *series.bin_s])
    return {
        **_lines(times_s, _stepped(series.throughput_mbps), axis),
        "line": {"width": 1.8, "color": style.colour, "shape": "vh"},
        "hovertemplate": f"{name} %{{y:.2f}} Mbit/s at %{{x}} s<extra></extra>",
    }


def _sent_trace(name: str, series: TimeSeries, begins_s: float, style: Style, axis: int) -> Figure:
    times_s = begins_s + np.array([0, *series.bin_s])
    return {
        **_lines(times_s, _stepped(series.sent_mbps), axis),
        "line": {"width": 1.2, "color": style.translucent(0.6), "shape": "vh", "dash": "dot"},
        "hovertemplate": f"{name} sends %{{y:.2f}} Mbit/s at %{{x}} s<extra></extra>",
    }


def _stepped(values: Array) -> list[float]:
    """Converts one value per bin to one per edge; each value holds back to the previous edge."""
    return [*values[:1], *values]


def _delay_trace(name: str, series: TimeSeries, begins_s: float, style: Style, axis: int) -> Figure:
    return {
        **_lines(begins_s + np.round(series.delay_s, 3), np.round(series.delay_ms, 2), axis),
        "mode": "markers",
        "marker": {"size": 3, "color": style.translucent(0.7)},
        "hovertemplate": f"{name} %{{y:.1f}} ms at %{{x:.2f}} s<extra></extra>",
    }


def _fairness_trace(run: RunResult, style: Style, axis: int) -> Figure:
    assert run.fairness is not None
    return {
        **_lines(run.fairness.bin_s, run.fairness.jain, axis),
        "line": {"width": 1.8, "color": style.colour},
        "hovertemplate": "Jain's index %{y:.3f} at %{x} s<extra></extra>",
    }


def _row_axes(runs: list[RunResult], axes: list[int], last: bool) -> Figure:
    """The axes of a row; all rows share their scales, so that schemes can be compared."""
    series = [flow.series for run in runs for flow in run.flows if flow.series is not None]
    end_s = max(run.total.duration_ms for run in runs) / 1000
    top = max(max(*each.sent_mbps, *each.throughput_mbps, *each.capacity_mbps, 0.0) for each in series) or 1.0
    time_axis = {"range": [0, end_s], "showticklabels": last} | (
        {"title": {"text": "time (s)"}} if last else {}
    )
    values = [
        {"range": [0, 1.08 * top], "title": {"text": "Mbit/s"}, "nticks": 5},
        {**_delay_axis(np.concatenate([each.delay_ms for each in series])), "title": {"text": "ms"}},
        {"range": [0, 1.05], "title": {"text": "Jain's index"}, "nticks": 5},
    ]
    layout: Figure = {}
    for axis, value_axis in zip(axes, values, strict=False):
        layout |= {f"xaxis{axis}": time_axis, f"yaxis{axis}": value_axis}
    return layout


def _delay_axis(delays_ms: Array) -> Figure:
    low, high = float(delays_ms.min(initial=np.inf)), float(delays_ms.max(initial=1.0))
    if low > 0 and high > 2 * WIDE * low:
        return log_axis(low, high)
    return {"range": [min(0, 1.08 * low), 1.08 * high]}


def _row_titles(run: RunResult, style: Style, axes: list[int]) -> list[Figure]:
    total = run.total
    used = f", {100 * total.utilisation:.0f} % of capacity" if total.capacity_mbps else ""
    delays = f"p95 {total.p95_delay_ms:.0f} ms, mean {total.mean_delay_ms:.0f} ms, " if total.delivers else ""
    texts = [
        f"<b>{run.scheme}</b>  {total.throughput_mbps:.2f} Mbit/s{used}",
        f"{delays}loss {100 * total.loss:.2f} %",
        "" if run.fairness is None else f"Jain's index, mean {run.fairness.mean:.3f}",
    ]
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
        for axis, text in zip(axes, texts, strict=False)
    ]
