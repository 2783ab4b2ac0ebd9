"""`report.html`: the whole evaluation on one self-contained page."""

import math
from collections.abc import Iterable, Iterator
from dataclasses import astuple
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from ccgym.envs.logs.flow_metrics import FlowMetrics
from ccgym.evaluation.metrics.frontier import CLEARLY
from ccgym.evaluation.metrics.intervals import mean_interval
from ccgym.evaluation.metrics.leaderboard_row import LeaderboardRow
from ccgym.evaluation.metrics.results import Evaluation, RunResult, Scenario
from ccgym.evaluation.metrics.summary import (
    NEAR_BEST,
    evaluation_leaderboard,
    mean_of_known,
    scheme_means,
    unseen_leaderboard,
)
from ccgym.evaluation.run_files import replaced_text
from ccgym.evaluation.sessions.session import REFUSED
from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from .figures import Figure, frontier, overall_frontier
from .heat_maps import heat_maps
from .packed import packed_json, packed_plotly, packed_text
from .palette import Style, styles
from .run_figures import has_series, runs_over_time
from .static_plot import static_plot

UNKNOWN = "\N{EN DASH}"
MOST_CELLS = 100
"""Most cells (scenarios times schemes) of a table of figures; larger ones become heat maps."""
MOST_OPEN = 12
"""Most scenarios whose sections are open; with more, sections are closed and filled when opened."""
MOST_PACKETS, FEWEST_PACKETS = 300_000, 40
"""Packets drawn over time: most of all flows together, and the fewest to which a flow is thinned."""
_COLUMNS = {
    "throughput_mbps": ("throughput", "Mbit/s", 1, 2, max),
    "utilisation": ("utilisation", "%", 100, 1, max),
    "p95_delay_ms": ("p95 delay", "ms", 1, 1, min),
    "p99_delay_ms": ("p99 delay", "ms", 1, 1, min),
    "mean_delay_ms": ("mean delay", "ms", 1, 1, min),
    "queueing_delay_ms": ("queueing delay", "ms", 1, 1, min),
    "loss": ("lost", "%", 100, 2, min),
    "pantheon_loss": ("not received", "%, Pantheon's loss", 100, 2, min),
    "power": ("power", "kbit/s per ms", 1000, 1, max),
}
"""By metric: heading, unit, factor to that unit, decimals, and whether least or most is best."""
_COLUMNS_OF_ENDS = {
    "completions": ("ended", "flows or answers", 1, 0, max),
    "mean_completion_ms": ("mean completion", "ms", 1, 1, min),
    "p95_completion_ms": ("p95 completion", "ms", 1, 1, min),
}
"""The same for flows whose application completes transfers or requests."""
_ALL_COLUMNS = _COLUMNS | _COLUMNS_OF_ENDS


_SEEN = {
    "train": "trained on it",
    "validation": "validated on it",
    "no": "has not seen it",
    "unknown": "does not say whether it has seen it",
}


def write_report(evaluation: Evaluation, path: Path) -> None:
    """Writes the page."""
    page = page_environment().get_template("report.html").render(_content(evaluation))
    with replaced_text(path) as stream:
        stream.write(page)


@cache
def page_environment() -> Environment:
    """The environment of the page's templates."""
    return Environment(
        loader=PackageLoader("ccgym.evaluation.report", "templates"),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _content(evaluation: Evaluation) -> dict[str, Any]:
    colours = styles(evaluation.schemes)
    leaderboard = evaluation_leaderboard(evaluation)
    large = len(evaluation.scenarios) * len(evaluation.schemes) > MOST_CELLS
    maps = heat_maps(evaluation) if large else {}
    figures = _frontiers(evaluation, colours) | {f"heat-{group}": figure for group, figure in maps.items()}
    hexes = {scheme: style.colour for scheme, style in colours.items()}
    is_open = len(evaluation.scenarios) <= MOST_OPEN
    scenarios = [
        {
            "index": index,
            "label": scenario.label,
            "section": _section(index, scenario, hexes, figures if is_open else {}),
        }
        for index, scenario in enumerate(evaluation.scenarios)
    ]
    sections = {} if is_open else {f"section-{each['index']}": str(each["section"]) for each in scenarios}
    return {
        "packed": _packed(figures, _figures_of_runs(evaluation, colours), sections),
        "overall": static_plot(figures["overall"]) if "overall" in figures else "",
        "session": evaluation.session,
        "generated": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "colours": hexes,
        "leaderboards": _leaderboards(evaluation, leaderboard),
        "any_failed": any(row.failed_runs for row in leaderboard),
        "clearly": f"{100 * CLEARLY:.0f} %",
        "near_best": f"{100 * (1 - NEAR_BEST):.0f} %",
        "scenarios": scenarios,
        "schemes": evaluation.schemes,
        "glance": [] if large else _glance(evaluation),
        "heat_maps": list(maps),
        "open": is_open,
    }


def _packed(
    figures: dict[str, Figure], figures_of_runs: Iterable[tuple[str, Figure]], sections: dict[str, str]
) -> dict[str, str]:
    """What the page unpacks when it is needed: the chart library, the figures, sections that are closed."""
    return {
        "plotly": packed_plotly(),
        "figures": packed_json(figures),
        **{name: packed_json(figure) for name, figure in figures_of_runs},
        **{name: packed_text(section) for name, section in sections.items()},
    }


def _frontiers(evaluation: Evaluation, colours: dict[str, Style]) -> dict[str, Figure]:
    """By the name that the page has for it: that of all scenarios together, and that of each."""
    figures: dict[str, Figure] = {}
    present = [scenario for scenario in evaluation.scenarios if scenario.runs]
    if any(scenario.delay_ms for scenario in present) and len(present) > 1:
        figures["overall"] = overall_frontier(present, colours)
    for index, scenario in enumerate(evaluation.scenarios):
        if scenario.runs:
            figures[f"frontier-{index}"] = frontier(scenario, colours)
    return figures


def _figures_of_runs(evaluation: Evaluation, colours: dict[str, Style]) -> Iterator[tuple[str, Figure]]:
    """By name, those over the time of each run whose logs were kept."""
    most_packets = _packets_of_a_flow(evaluation)
    for index, scenario in enumerate(evaluation.scenarios):
        for run in _runs(scenario):
            yield f"runs-{index}-{run}", runs_over_time(scenario, run, colours, most_packets)


def _packets_of_a_flow(evaluation: Evaluation) -> int:
    """How many packets of each flow are drawn over time; fewer if there are many, to keep the page small."""
    flows = sum(len(scenario.flows) for scenario in evaluation.scenarios)
    return max(FEWEST_PACKETS, MOST_PACKETS // max(1, flows))


def _section(index: int, scenario: Scenario, colours: dict[str, str], figures: dict[str, Figure]) -> str:
    frontier = figures.get(f"frontier-{index}")
    content = {
        "scenario": _scenario_content(index, scenario),
        "colours": colours,
        "columns": _columns(scenario),
        "picture": static_plot(frontier) if frontier else "",
    }
    return page_environment().get_template("scenario.html").render(content)


def _leaderboards(evaluation: Evaluation, leaderboard: list[LeaderboardRow]) -> list[dict[str, Any]]:
    """The leaderboards; first that of the scenarios no learned scheme has seen, unless it has all or none."""
    scenarios = evaluation.scenarios
    unseen = sum(scenario.is_unseen for scenario in scenarios)
    if unseen in (0, len(scenarios)):
        learned = any(scenario.seen for scenario in scenarios)
        known = "seen by no learned scheme in its training" if unseen else "all seen by a learned scheme"
        return [{"title": f"Leaderboard ({known})" if learned else "Leaderboard", "rows": leaderboard}]
    headline = {
        "title": f"Leaderboard of the {unseen} scenarios unseen in training",
        "rows": unseen_leaderboard(evaluation),
    }
    whole = {"title": f"Leaderboard of all {len(scenarios)} scenarios", "rows": leaderboard}
    return [headline, whole] if headline["rows"] else [whole]


def _scenario_content(index: int, scenario: Scenario) -> dict[str, Any]:
    return {
        "index": index,
        "label": scenario.label,
        "backend": scenario.backend,
        "description": scenario.description,
        "seen": [f"{scheme}: {_SEEN[how]}" for scheme, how in scenario.seen.items()],
        "rows": _rows(scenario),
        "runs": _runs(scenario),
        "shared": any(len(run.flows) > 1 for run in scenario.runs),
        "remarks": scenario.remarks,
        "failures": [each for each in scenario.failures if not each.reason.startswith(REFUSED)],
    }


def _runs(scenario: Scenario) -> list[int]:
    """The numbers of the runs whose logs were kept."""
    return sorted({run.run for run in scenario.runs if has_series(run)})


def _columns(scenario: Scenario) -> dict[str, tuple[Any, ...]]:
    ends = any(run.total.completions for run in scenario.runs)
    return _ALL_COLUMNS if ends else _COLUMNS


def _rows(scenario: Scenario) -> list[dict[str, Any]]:
    """One row per scheme: mean and 95 % interval of every metric over its runs, the best marked."""
    schemes = dict.fromkeys(run.scheme for run in scenario.runs)
    by_scheme = {scheme: [run for run in scenario.runs if run.scheme == scheme] for scheme in schemes}
    columns = _columns(scenario)
    best = {
        metric: best_of(_known_means(by_scheme.values(), metric), default=math.nan)
        for metric, (_, _, _, _, best_of) in columns.items()
    }
    return [
        {
            "scheme": scheme,
            "runs": len(runs),
            "cells": [_cell(runs, metric, best[metric]) for metric in columns],
            "flows": _flow_rows(runs, columns),
            "jain": _mean_jain(runs),
        }
        for scheme, runs in by_scheme.items()
    ]


def _cell(runs: list[RunResult], metric: str, best: float) -> dict[str, Any]:
    _, unit, factor, decimals, _ = _ALL_COLUMNS[metric]
    if _is_unknown([run.total for run in runs], metric):
        return {"text": UNKNOWN, "interval": "", "best": False}
    mean, values = _mean(runs, metric), [getattr(run.total, metric) for run in runs]
    if math.isnan(mean):  # no packet arrived
        return {"text": UNKNOWN, "interval": "", "best": False}
    interval = mean_interval([value for value in values if not math.isnan(value)])
    possible = (0, 1 if unit.startswith("%") else math.inf)
    bounds = [] if interval is None else astuple(interval.clipped(*possible))
    return {
        "text": f"{factor * mean:.{decimals}f}",
        "interval": " to ".join(f"{factor * bound:.{decimals}f}" for bound in bounds),
        "best": math.isclose(mean, best, rel_tol=1e-9),
    }


def _known_means(schemes: Iterable[list[RunResult]], metric: str) -> list[float]:
    return [mean for runs in schemes if not math.isnan(mean := _mean(runs, metric))]


def _mean(runs: list[RunResult], metric: str) -> float:
    return mean_of_known([getattr(run.total, metric) for run in runs])


def _flow_rows(runs: list[RunResult], columns: Iterable[str]) -> list[dict[str, Any]]:
    """The means of each flow of a scheme whose runs have several flows."""
    flows = {flow.flow: flow.flow_scheme for run in runs for flow in run.flows}
    if len(flows) == 1:
        return []
    return [
        {"name": f"flow {number}, {scheme}", "cells": [_figure(of_flow, metric) for metric in columns]}
        for number, scheme in sorted(flows.items())
        for of_flow in [[flow.metrics for run in runs for flow in run.flows if flow.flow == number]]
    ]


def _figure(metrics: list[FlowMetrics], metric: str) -> str:
    if _is_unknown(metrics, metric):
        return UNKNOWN
    _, _, factor, decimals, _ = _ALL_COLUMNS[metric]
    mean = mean_of_known([getattr(each, metric) for each in metrics])
    return UNKNOWN if math.isnan(mean) else f"{factor * mean:.{decimals}f}"


def _is_unknown(metrics: list[FlowMetrics], metric: str) -> bool:
    """Whether a metric is unknown: on a real path, the capacity of the link is."""
    return metric == "utilisation" and not any(each.capacity_mbps for each in metrics)


def _mean_jain(runs: list[RunResult]) -> str:
    means = [run.fairness.mean for run in runs if run.fairness is not None]
    return f"{np.mean(means):.3f}" if means else ""


def _glance(evaluation: Evaluation) -> list[dict[str, Any]]:
    """The results of each scheme by scenario, with its power as a share of the best."""
    rows = []
    for index, scenario in enumerate(evaluation.scenarios):
        means = {mean.scheme: mean for mean in scheme_means(scenario.runs)}
        best = max((mean.power for mean in means.values()), default=1.0)
        cells = [
            {
                "throughput": f"{means[scheme].throughput_mbps:.2f}",
                "delay": f"{means[scheme].p95_delay_ms:.0f}" if means[scheme].delivers else UNKNOWN,
                "share": round(means[scheme].power / best, 3),
            }
            if scheme in means
            else None
            for scheme in evaluation.schemes
        ]
        rows.append({"index": index, "label": scenario.label, "cells": cells})
    return rows
