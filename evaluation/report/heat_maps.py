"""Heat maps in place of a table that would be too large: one for each group of emulators."""

import math
from typing import Any

from ccgym.evaluation.metrics.results import Evaluation, Scenario
from ccgym.evaluation.metrics.summary import SchemeMean, scheme_means

from .figures import Figure

LEAST_SHARE = 0.01
_ROW_PX, _FRAME_PX = 24, 150
_SHADES = [[0, "#f3f4f6"], [0.35, "#fde68a"], [0.7, "#5eead4"], [1, "#0d9488"]]


def heat_maps(evaluation: Evaluation) -> dict[str, Figure]:
    """Heat maps by group: a row per scenario, a column per scheme, shaded by power / best of the row."""
    groups: dict[str, list[Scenario]] = {}
    for scenario in evaluation.scenarios:
        groups.setdefault(scenario.label.partition("/")[0], []).append(scenario)
    measured = {run.scheme for scenario in evaluation.scenarios for run in scenario.runs}
    schemes = [scheme for scheme in evaluation.schemes if scheme in measured]
    return {group: _heat_map(scenarios, schemes) for group, scenarios in groups.items()}


def _heat_map(scenarios: list[Scenario], schemes: list[str]) -> Figure:
    shades: list[list[float | None]] = []
    texts: list[list[str]] = []
    for scenario in scenarios:
        means = {mean.scheme: mean for mean in scheme_means(scenario.runs)}
        best = max((mean.power for mean in means.values()), default=1.0)
        shades.append([_shade(means[scheme], best) if scheme in means else None for scheme in schemes])
        texts.append(
            [_hover_text(means[scheme], best) if scheme in means else "did not run" for scheme in schemes]
        )
    names = [scenario.label.partition("/")[2] or scenario.label for scenario in scenarios]
    layout = {
        "height": len(scenarios) * _ROW_PX + _FRAME_PX,
        "xaxis": {"side": "top", "tickangle": -45, "showgrid": False},
        "yaxis": {"autorange": "reversed", "showgrid": False},
        "margin": {"t": 90, "b": 16, "l": 120, "r": 16},
    }
    return {"data": [_trace(schemes, names, shades, texts)], "layout": layout}


def _trace(
    schemes: list[str], scenarios: list[str], shades: list[list[float | None]], texts: list[list[str]]
) -> dict[str, Any]:
    """Plotly's trace; `shades` are log10 of the share of the row's best power."""
    ticks = [LEAST_SHARE, 0.1, 1]
    return {
        "type": "heatmap",
        "x": schemes,
        "y": scenarios,
        "z": shades,
        "text": texts,
        "zmin": math.log10(LEAST_SHARE),
        "zmax": 0,
        "xgap": 2,
        "ygap": 2,
        "colorscale": _SHADES,
        "colorbar": {
            "tickvals": [math.log10(tick) for tick in ticks],
            "ticktext": [f"{100 * tick:g} %" for tick in ticks],
            "thickness": 12,
        },
        "hovertemplate": "%{x} over %{y}<br>%{text}<extra></extra>",
    }


def _shade(mean: SchemeMean, best: float) -> float:
    return round(math.log10(max(LEAST_SHARE, mean.power / best)), 3)


def _hover_text(mean: SchemeMean, best: float) -> str:
    if not mean.delivers:
        return "starves: nothing came through"
    share = f"{100 * mean.power / best:.0f} % of the best power"
    return f"{mean.throughput_mbps:.2f} Mbit/s, p95 {mean.p95_delay_ms:.0f} ms: {share}"
