"""`summary.json`: the figures of every run, and the comparison of the schemes over all scenarios."""

import json
import math
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from ccgym.envs.logs.flow_metrics import STARVED_DELAY_MS, FlowMetrics
from ccgym.evaluation.run_files import replaced_text

from .frontier import clearly_beats
from .intervals import Interval, mean_interval, probability_above_zero, share_interval
from .leaderboard_row import LeaderboardRow
from .results import Evaluation, RunResult, Scenario

SCHEMA = 1
NEAR_BEST = 0.9
"""A scheme with at least this share of the best power wins the scenario."""
_FIGURES = (
    "throughput_mbps",
    "p95_delay_ms",
    "mean_delay_ms",
    "p99_delay_ms",
    "loss",
    "pantheon_loss",
    "utilisation",
    "queueing_delay_ms",
)
_FIGURES_OF_ENDS = ("completions", "mean_completion_ms", "p95_completion_ms")
"""Keys of a flow whose application ends, or answers requests."""


@dataclass(frozen=True)
class SchemeMean:
    """Mean over the runs of one scheme in one scenario.

    A run in which nothing arrived has no delay to be shown; in comparisons of schemes it counts as in
    `FlowMetrics.compared`.
    """

    scheme: str
    throughput_mbps: float
    p95_delay_ms: float
    """Over the runs in which something arrived; NaN: in none."""
    utilisation: float | None = None
    """None: the capacity is unknown."""
    runs: int = 1
    starved_runs: int = 0
    """Number of runs in which nothing arrived."""
    runs_log_power: float | None = None
    """Mean over the runs of ln(Mbit/s per ms), starved ones included; None: use that of the means."""

    @property
    def delivers(self) -> bool:
        """Whether a packet arrived in any run."""
        return not math.isnan(self.p95_delay_ms)

    @property
    def label(self) -> str:
        """The label in pictures, with the number of runs that have no mark because nothing arrived."""
        starved = f" ({self.starved_runs} of {self.runs} starve)" if self.starved_runs else ""
        return self.scheme + starved

    @property
    def log_power(self) -> float:
        """ln(Mbit/s per ms); a starved run counts as one packet in 30 s with a delay of 30 s."""
        if self.runs_log_power is not None:
            return self.runs_log_power
        return math.log(self.throughput_mbps / self.p95_delay_ms)

    @property
    def power(self) -> float:
        """Geometric mean over the runs, in Mbit/s per ms."""
        return math.exp(self.log_power)

    @property
    def compared_delay_ms(self) -> float:
        """The mean p95 delay over all runs; a starved run counts as STARVED_DELAY_MS."""
        if not self.delivers:
            return STARVED_DELAY_MS
        starved = self.starved_runs / self.runs
        return (1 - starved) * self.p95_delay_ms + starved * STARVED_DELAY_MS

    def clearly_beats(self, other: "SchemeMean") -> bool:
        """Whether it has both clearly more throughput and clearly less p95 delay than `other`."""
        own, theirs = ((each.throughput_mbps, each.compared_delay_ms) for each in (self, other))
        return clearly_beats(*own, *theirs)


def scheme_means(runs: list[RunResult]) -> list[SchemeMean]:
    """The mean of every scheme over its runs, with all flows of a run taken together."""
    schemes = dict.fromkeys(run.scheme for run in runs)
    return [scheme_mean(scheme, [run.total for run in runs if run.scheme == scheme]) for scheme in schemes]


def scheme_mean(scheme: str, totals: list[FlowMetrics]) -> SchemeMean:
    """The means of one scheme over its runs."""
    capacity_is_known = all(total.capacity_mbps for total in totals)
    log_powers = [math.log(mbps / delay_ms) for mbps, delay_ms in (total.compared for total in totals)]
    return SchemeMean(
        scheme,
        throughput_mbps=float(np.mean([total.throughput_mbps for total in totals])),
        p95_delay_ms=mean_of_known([total.p95_delay_ms for total in totals]),
        utilisation=float(np.mean([total.utilisation for total in totals])) if capacity_is_known else None,
        runs=len(totals),
        starved_runs=sum(not total.delivers for total in totals),
        runs_log_power=float(np.mean(log_powers)),
    )


def mean_of_known(values: list[float]) -> float:
    """The mean without NaNs; NaN: there are only NaNs."""
    known = [value for value in values if not math.isnan(value)]
    return float(np.mean(known)) if known else math.nan


def leaderboard(
    scenarios: list[list[SchemeMean]], schemes: list[str], failed: Sequence[Collection[str]] = ()
) -> list[LeaderboardRow]:
    """The table over all scenarios, best first, in the order of `_standings`.

    Args:
        scenarios: for each scenario, the means of the schemes that ran in it.
        schemes: the schemes, with a row for each.
        failed: for each scenario, the schemes that failed in it; empty: none did.
    """
    failed = failed or [()] * len(scenarios)
    standings = _standings(scenarios)
    rows = [_leaderboard_row(scheme, scenarios, failed) for scheme in schemes]
    rows.sort(key=lambda row: standings.get(row.scheme, -math.inf), reverse=True)
    return [*map(partial(_with_lead, scenarios), rows, rows[1:]), *rows[-1:]]


def _standings(scenarios: list[list[SchemeMean]]) -> dict[str, float]:
    """Log power of a scheme relative to the schemes that ran everywhere, over the scenarios in which it ran.

    Means over different scenarios give no order: a scheme that ran in easy scenarios only would be first. If
    no scheme ran everywhere, all that ran in a scenario are used.
    """
    powers = [{mean.scheme: mean.log_power for mean in means} for means in scenarios if means]
    everywhere = set.intersection(*map(set, powers)) if powers else set()
    above: dict[str, list[float]] = defaultdict(list)
    for power in powers:
        others = float(np.mean([power[scheme] for scheme in everywhere or power]))
        for scheme, own in power.items():
            above[scheme].append(own - others)
    return {scheme: float(np.mean(each)) for scheme, each in above.items()}


def _with_lead(
    scenarios: list[list[SchemeMean]], row: LeaderboardRow, following: LeaderboardRow
) -> LeaderboardRow:
    """Difference to the next scheme and its certainty, from the scenarios that both ran in."""
    powers = [{mean.scheme: mean.log_power for mean in means} for means in scenarios]
    leads = [
        power[row.scheme] - power[following.scheme]
        for power in powers
        if power.keys() >= {row.scheme, following.scheme}
    ]
    return replace(
        row,
        lead=float(np.mean(leads)) if leads else None,
        lead_interval=_bounds(mean_interval(leads)),
        ahead_probability=probability_above_zero(leads),
    )


def _bounds(interval: Interval | None) -> tuple[float, float] | None:
    return None if interval is None else (interval.low, interval.high)


def _share_bounds(held: list[float]) -> tuple[float, float] | None:
    """Interval of the share of ones among zeros; unlike Student's t it has a width if all are equal."""
    return None if len(held) < 2 else _bounds(share_interval(round(sum(held)), len(held)))


def _leaderboard_row(
    scheme: str, scenarios: list[list[SchemeMean]], failed: Sequence[Collection[str]]
) -> LeaderboardRow:
    ran = [(own, means) for means in scenarios for own in means if own.scheme == scheme]
    # A scenario in which the scheme only failed gives no power, and counts as off the frontier and not won.
    only_failed = [0.0] * sum(
        scheme in failures and all(mean.scheme != scheme for mean in means)
        for means, failures in zip(scenarios, failed, strict=True)
    )
    frontier = [float(_is_on_frontier(own, means)) for own, means in ran] + only_failed
    wins = [float(_wins(own, means)) for own, means in ran] + only_failed
    log_powers = [own.log_power for own, _ in ran]
    utilisations = [own.utilisation for own, _ in ran if own.utilisation is not None]
    utilisation_interval = mean_interval(utilisations)
    return LeaderboardRow(
        scheme,
        frontier_share=float(np.mean(frontier or [0])),
        mean_log_power=float(np.mean(log_powers)) if log_powers else None,
        winning_rate=float(np.mean(wins or [0])),
        mean_utilisation=float(np.mean(utilisations)) if utilisations else None,
        log_power_interval=_bounds(mean_interval(log_powers)),
        frontier_interval=_share_bounds(frontier),
        winning_interval=_share_bounds(wins),
        utilisation_interval=_bounds(utilisation_interval and utilisation_interval.clipped(0, 1)),
        scenarios=len(frontier),
        of_scenarios=len(scenarios),
    )


def _is_on_frontier(own: SchemeMean, means: list[SchemeMean]) -> bool:
    return own.delivers and not any(other.clearly_beats(own) for other in means)


def _wins(own: SchemeMean, means: list[SchemeMean]) -> bool:
    return own.delivers and own.power >= NEAR_BEST * max(other.power for other in means)


def evaluation_leaderboard(evaluation: Evaluation) -> list[LeaderboardRow]:
    """The leaderboard of a whole evaluation."""
    return _leaderboard_of(evaluation.scenarios, evaluation.schemes)


def unseen_leaderboard(evaluation: Evaluation) -> list[LeaderboardRow]:
    """The leaderboard of scenarios that no learned scheme was trained on; empty: none has been run."""
    unseen = [scenario for scenario in evaluation.scenarios if scenario.is_unseen]
    return _leaderboard_of(unseen, evaluation.schemes)


def _leaderboard_of(scenarios: list[Scenario], schemes: list[str]) -> list[LeaderboardRow]:
    """Scenarios that an interruption left without a run do not count for a scheme."""
    begun = [scenario for scenario in scenarios if scenario.runs or scenario.failures]
    if not begun:
        return []
    means = [scheme_means(scenario.runs) for scenario in begun]
    failed = [{failure.scheme for failure in scenario.failures} for scenario in begun]
    rows = leaderboard(means, schemes, failed)
    return [_with_failures(row, begun) for row in rows]


def _with_failures(row: LeaderboardRow, scenarios: list[Scenario]) -> LeaderboardRow:
    reasons = Counter(
        failure.reason
        for scenario in scenarios
        for failure in scenario.failures
        if failure.scheme == row.scheme
    )
    (most_frequent, _), *_ = reasons.most_common(1) or [("", 0)]
    return replace(row, failed_runs=reasons.total(), failure=most_frequent)


def summarise(evaluation: Evaluation) -> dict[str, Any]:
    """The content of `summary.json`."""
    return {
        "schema": SCHEMA,
        "scenarios": [_scenario_entry(scenario) for scenario in evaluation.scenarios],
        "table": [vars(row) for row in evaluation_leaderboard(evaluation)],
        "unseen": {
            "scenarios": sum(scenario.is_unseen for scenario in evaluation.scenarios),
            "table": [vars(row) for row in unseen_leaderboard(evaluation)],
        },
        "failures": [
            {
                "emulator": scenario.label,
                "scheme": failure.scheme,
                "run": failure.run,
                "reason": failure.reason,
            }
            for scenario in evaluation.scenarios
            for failure in scenario.failures
        ],
        "remarks": [
            {"emulator": scenario.label, "remark": remark}
            for scenario in evaluation.scenarios
            for remark in scenario.remarks
        ],
    }


def _scenario_entry(scenario: Scenario) -> dict[str, Any]:
    return {
        "emulator": scenario.label,
        "backend": scenario.backend,
        "seen": scenario.seen,
        "schemes": [entry for run in scenario.runs for entry in _run_entries(run)],
    }


def _run_entries(run: RunResult) -> list[dict[str, Any]]:
    """One entry per flow; for several flows also the scheme of each, and one of all, `"flow": "all"`."""
    if len(run.flows) == 1:
        return [_entry(run, 1, run.total)]
    flows = [
        {
            **_entry(run, flow.flow, flow.metrics),
            "flow_scheme": flow.flow_scheme,
            "begins_s": _begins_s(run, flow.metrics),
        }
        for flow in run.flows
    ]
    together = _entry(run, "all", run.total)
    if run.fairness is not None:
        together["jain_index"] = run.fairness.mean
        together["jain_over_time"] = {"s": run.fairness.bin_s, "index": run.fairness.jain}
    return [*flows, together]


def _entry(run: RunResult, flow: int | str, metrics: FlowMetrics) -> dict[str, Any]:
    names = _FIGURES + _FIGURES_OF_ENDS * (metrics.completions > 0)
    figures = {name: known(getattr(metrics, name)) for name in names}
    return {"scheme": run.scheme, "run": run.run, "flow": flow, **figures}


def known(value: float) -> float | None:
    """The value for JSON, which has no NaN."""
    return None if math.isnan(value) else value


def _begins_s(run: RunResult, flow: FlowMetrics) -> float:
    return round((flow.start_ms - run.total.start_ms) / 1000, 3)


def write_summary(summary: dict[str, Any], path: Path) -> None:
    """Writes `summary.json`."""
    with replaced_text(path) as stream:
        json.dump(summary, stream, indent=2, allow_nan=False)
        stream.write("\n")
