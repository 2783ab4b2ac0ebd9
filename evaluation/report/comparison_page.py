"""The page of `ccgym compare`: the changes as plots and tables."""

import math
from pathlib import Path
from typing import Any

from ccgym.evaluation.metrics.comparison import Change, Comparison, Effect, percent, plain, points, verdict
from ccgym.evaluation.run_files import replaced_text

from .figures import Figure, rounded
from .packed import packed_json, packed_plotly
from .palette import styles
from .report import page_environment

_ROW_PX, _FRAME_PX = 26, 130
_NEUTRAL = "rgba(128,128,128,0.55)"
_ZERO = {"type": "line", "layer": "below", "line": {"color": _NEUTRAL, "width": 1}}


def write_comparison(comparison: Comparison, path: Path) -> None:
    """Writes the page, one self-contained file."""
    figures = {"changes": _changes(comparison), "scenarios": _scenarios(comparison)}
    content = {
        "packed": {"plotly": packed_plotly(), "figures": packed_json(figures)},
        "names": comparison.names,
        "remarks": comparison.remarks,
        "overall": [_row(change) for change in comparison.overall],
        "by_place": [_row(change) for change in comparison.by_place],
        "only_in": {name: lines for name, lines in comparison.only_in.items() if lines},
    }
    with replaced_text(path) as stream:
        stream.write(page_environment().get_template("compare.html").render(content))


def _row(change: Change) -> dict[str, Any]:
    return {
        "other": change.other,
        "scheme": change.scheme,
        "place": "" if change.place is None else f"{change.place.emulator}, {change.place.backend}",
        "pairs": change.pairs,
        "throughput": percent(change.throughput),
        "p95_delay": percent(change.p95_delay),
        "loss": points(change.loss),
        "log_power": plain(change.log_power),
        "verdict": verdict(change),
    }


def _changes(comparison: Comparison) -> Figure:
    """The change of each scheme's throughput, p95 delay and power, with intervals; 0 is no change."""
    colours = styles([change.scheme for change in comparison.overall])
    heads = ("throughput (%)", "p95 delay (%)", "power (%)")
    traces: list[Figure] = []
    shapes: list[Figure] = []
    layout: Figure = {
        "grid": {"rows": 1, "columns": 3, "pattern": "independent", "xgap": 0.06},
        "height": len(comparison.overall) * _ROW_PX + _FRAME_PX,
        "showlegend": False,
        "shapes": shapes,
    }
    names = [_name(comparison, change) for change in comparison.overall]
    for column, head in enumerate(heads, 1):
        for change, name in zip(comparison.overall, names, strict=True):
            effect = (change.throughput, change.p95_delay, change.log_power)[column - 1]
            trace = _bar(effect, name, colours[change.scheme].colour, column)
            trace["marker"]["symbol"] = "circle" if change.is_clear(effect) else "circle-open"
            traces.append(trace)
        layout[f"xaxis{column}"] = {"title": {"text": head}}
        layout[f"yaxis{column}"] = {
            "categoryorder": "array",
            "categoryarray": names[::-1],
            "showticklabels": column == 1,
        }
        shapes.append(
            {**_ZERO, "xref": f"x{column}", "yref": f"y{column} domain", "x0": 0, "x1": 0, "y0": 0, "y1": 1}
        )
    return {"data": traces, "layout": layout}


def _name(comparison: Comparison, change: Change) -> str:
    return change.scheme if len(comparison.names) == 2 else f"{change.scheme}, {change.other}"


def _bar(effect: Effect, name: str, colour: str, column: int) -> Figure:
    mean = 100 * math.expm1(effect.mean)
    trace: Figure = {
        "type": "scatter",
        "mode": "markers",
        "x": rounded([mean]),
        "y": [name],
        "xaxis": f"x{column}",
        "yaxis": f"y{column}",
        "marker": {"size": 9, "color": colour},
        "hovertemplate": f"{name}: {percent(effect)}<extra></extra>",
    }
    if effect.interval is not None:
        low, high = (100 * math.expm1(bound) for bound in (effect.interval.low, effect.interval.high))
        trace["error_x"] = {
            "array": rounded([high - mean]),
            "arrayminus": rounded([mean - low]),
            "color": colour,
        }
    return trace


def _scenarios(comparison: Comparison) -> Figure:
    """Change of throughput over change of p95 delay, for every scheme and scenario."""
    colours = styles([change.scheme for change in comparison.overall])
    traces: list[Figure] = []
    for scheme in dict.fromkeys(change.scheme for change in comparison.by_place):
        own = [change for change in comparison.by_place if change.scheme == scheme]
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": scheme,
                "x": rounded([100 * math.expm1(change.p95_delay.mean) for change in own]),
                "y": rounded([100 * math.expm1(change.throughput.mean) for change in own]),
                "text": [f"{change.place.emulator}, {change.other}" for change in own if change.place],
                "marker": {
                    "size": 9,
                    "color": colours[scheme].translucent(0.7),
                    "symbol": colours[scheme].marker,
                },
                "hovertemplate": f"{scheme} over %{{text}}: throughput %{{y:+.1f}} %, p95 %{{x:+.1f}} %"
                "<extra></extra>",
            }
        )
    layout = {
        "xaxis": {"title": {"text": "p95 one-way delay, change (%)"}},
        "yaxis": {"title": {"text": "throughput, change (%)"}},
        "shapes": [
            {**_ZERO, "yref": "paper", "x0": 0, "x1": 0, "y0": 0, "y1": 1},
            {**_ZERO, "xref": "paper", "x0": 0, "x1": 1, "y0": 0, "y1": 0},
        ],
    }
    return {"data": traces, "layout": layout}
