"""`summary.json`: every run's figures, and how the schemes compare over all scenarios."""

import json
import math
from collections import Counter
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from ccgym.envs.logs.flow_metrics import STARVED_DELAY_MS, FlowMetrics
from ccgym.evaluation.run_files import replaced_text
from ccgym.evaluation.sessions.session import REFUSED

from .frontier import clearly_beats
from .intervals import Interval, mean_interval, probability_above_zero, share_interval
from .results import Evaluation, RunResult, Scenario

SCHEMA = 1
NEAR_BEST = 0.9
"""Share of the best power within which a scheme wins a scenario."""
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


@dataclass(frozen=True)
class SchemeMean:
    """Mean over the runs of one scheme in one scenario.

    A run in which nothing came through has no delay to be shown; where schemes are compared it counts as
    `FlowMetrics.compared` has it.
    """

    scheme: str
    throughput_mbps: float
    p95_delay_ms: float
    """Over the runs in which something came through; NaN: in none."""
    utilisation: float | None = None
    """None: the capacity is unknown."""
    runs: int = 1
    starved_runs: int = 0
    """In which nothing came through."""
    runs_log_power: float | None = None
    """Mean over the runs of ln(Mbit/s per ms), starved ones too; None: that of the means is as good."""

    @property
    def delivers(self) -> bool:
        """Whether anything came through."""
        return not math.isnan(self.p95_delay_ms)

    @property
    def log_power(self) -> float:
        """ln(Mbit/s per ms), a starved run's as of one packet in 30 s after 30 s."""
        if self.runs_log_power is not None:
            return self.runs_log_power
        return math.log(self.throughput_mbps / self.p95_delay_ms)

    @property
    def power(self) -> float:
        """Mbit/s per ms: the geometric mean over the runs."""
        return math.exp(self.log_power)

    @property
    def compared_delay_ms(self) -> float:
        """The mean p95 delay with that of starved runs."""
        if not self.delivers:
            return STARVED_DELAY_MS
        starved = self.starved_runs / self.runs
        return (1 - starved) * self.p95_delay_ms + starved * STARVED_DELAY_MS

    def clearly_beats(self, other: "SchemeMean") -> bool:
        """Has both clearly more throughput and clearly less p95 delay."""
        own, theirs = ((each.throughput_mbps, each.compared_delay_ms) for each in (self, other))
        return clearly_beats(*own, *theirs)


@dataclass(frozen=True)
class LeaderboardRow:
    """How one scheme did over all scenarios; one in which it failed counts as neither frontier nor win."""

    scheme: str
    frontier_share: float
    """Share of scenarios in which no other scheme clearly beats it."""
    mean_log_power: float | None
    """Mean of ln(throughput / p95 delay) over the runs of each scenario and the scenarios; None: it ran in none."""
    winning_rate: float
    """Share of scenarios in which its power is within 10 % of the best."""
    mean_utilisation: float | None = None
    """Over the scenarios it ran in whose capacity is known; the frontier has those that hardly send, too."""
    failed_runs: int = 0
    failure: str = ""
    """Why most of them failed."""
    log_power_interval: tuple[float, float] | None = None
    """Of the mean log power, over the scenarios; None with one scenario or none, as every interval."""
    frontier_interval: tuple[float, float] | None = None
    """Of the frontier share, over the scenarios."""
    winning_interval: tuple[float, float] | None = None
    """Of the winning rate, over the scenarios."""
    utilisation_interval: tuple[float, float] | None = None
    """Of the mean utilisation, over the scenarios that it is of."""
    lead: float | None = None
    """Mean of the differences in log power to the next scheme, over the scenarios that both ran in."""
    lead_interval: tuple[float, float] | None = None
    ahead_probability: float | None = None
    """That it is ahead of the next scheme, so far as these scenarios tell; None: they are too few to."""

    @property
    def interval_text(self) -> str:
        """The interval of its mean log power, for people."""
        return "{:.3f} to {:.3f}".format(*self.log_power_interval) if self.log_power_interval else "-"

    @property
    def frontier_text(self) -> str:
        """Its frontier share with its interval, for people."""
        return _percent_text(self.frontier_share, self.frontier_interval)

    @property
    def winning_text(self) -> str:
        """Its winning rate with its interval, for people."""
        return _percent_text(self.winning_rate, self.winning_interval)

    @property
    def utilisation_text(self) -> str:
        """Its mean utilisation with its interval, for people."""
        if self.mean_utilisation is None:
            return "-"
        return _percent_text(self.mean_utilisation, self.utilisation_interval)

    @property
    def refused(self) -> bool:
        """Whether most of the failed runs were never tried."""
        return self.failure.startswith(REFUSED)

    @property
    def shortfall(self) -> str:
        """How many runs failed, or were never tried."""
        runs = "run" if self.failed_runs == 1 else "runs"
        return f"{self.failed_runs} {runs} {'skipped' if self.refused else 'failed'}"

    @property
    def reason(self) -> str:
        """The failure, without what `shortfall` says already."""
        return self.failure.removeprefix(REFUSED)


def _percent_text(share: float, interval: tuple[float, float] | None) -> str:
    spread = "" if interval is None else " ({:.0f}-{:.0f})".format(*(100 * end for end in interval))
    return f"{100 * share:.0f} %{spread}"


def scheme_means(runs: list[RunResult]) -> list[SchemeMean]:
    """Throughput and p95 delay of every scheme, all flows of a run together, the mean over its runs."""
    schemes = dict.fromkeys(run.scheme for run in runs)
    return [scheme_mean(scheme, [run.total for run in runs if run.scheme == scheme]) for scheme in schemes]


def scheme_mean(scheme: str, totals: list[FlowMetrics]) -> SchemeMean:
    """Of one scheme over its runs."""
    return SchemeMean(
        scheme,
        float(np.mean([total.throughput_mbps for total in totals])),
        mean_of_known([total.p95_delay_ms for total in totals]),
        float(np.mean([total.utilisation for total in totals]))
        if all(total.capacity_mbps for total in totals)
        else None,
        len(totals),
        sum(not total.delivers for total in totals),
        float(np.mean([math.log(rate / delay) for rate, delay in (total.compared for total in totals)])),
    )


def mean_of_known(values: list[float]) -> float:
    """Of those that are no NaN; NaN: there is none."""
    known = [value for value in values if not math.isnan(value)]
    return float(np.mean(known)) if known else math.nan


def leaderboard(scenarios: list[list[SchemeMean]], schemes: list[str]) -> list[LeaderboardRow]:
    """The table over all scenarios, best mean log power first."""
    rows = [_leaderboard_row(scheme, scenarios) for scheme in schemes]
    rows.sort(key=lambda row: -math.inf if row.mean_log_power is None else row.mean_log_power, reverse=True)
    return [*map(partial(_with_lead, scenarios), rows, rows[1:]), *rows[-1:]]


def _with_lead(
    scenarios: list[list[SchemeMean]], row: LeaderboardRow, following: LeaderboardRow
) -> LeaderboardRow:
    """How sure the place of a scheme before the next one is, from scenarios that both ran in."""
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
    """Of the share of ones among zeros: it has a width also where all are equal."""
    return None if len(held) < 2 else _bounds(share_interval(round(sum(held)), len(held)))


def _leaderboard_row(scheme: str, scenarios: list[list[SchemeMean]]) -> LeaderboardRow:
    frontier, wins = ([0.0] * len(scenarios) for _ in range(2))
    log_powers = []
    used = []
    for number, means in enumerate(scenarios):
        for own in means:
            if own.scheme == scheme:
                beaten = any(other.clearly_beats(own) for other in means)
                frontier[number] = float(own.delivers and not beaten)
                near_best = own.power >= NEAR_BEST * max(other.power for other in means)
                wins[number] = float(own.delivers and near_best)
                log_powers.append(own.log_power)
                used += [] if own.utilisation is None else [own.utilisation]
    used_interval = mean_interval(used)
    return LeaderboardRow(
        scheme,
        float(np.mean(frontier)),
        float(np.mean(log_powers)) if log_powers else None,
        float(np.mean(wins)),
        float(np.mean(used)) if used else None,
        log_power_interval=_bounds(mean_interval(log_powers)),
        frontier_interval=_share_bounds(frontier),
        winning_interval=_share_bounds(wins),
        utilisation_interval=_bounds(used_interval and used_interval.clipped(0, 1)),
    )


def evaluation_leaderboard(evaluation: Evaluation) -> list[LeaderboardRow]:
    """The leaderboard of a whole evaluation."""
    return _leaderboard_of(evaluation.scenarios, evaluation.schemes)


def unseen_leaderboard(evaluation: Evaluation) -> list[LeaderboardRow]:
    """Of the scenarios that no learned scheme has seen in its training; empty: none has been run."""
    unseen = [scenario for scenario in evaluation.scenarios if scenario.is_unseen]
    return _leaderboard_of(unseen, evaluation.schemes)


def _leaderboard_of(scenarios: list[Scenario], schemes: list[str]) -> list[LeaderboardRow]:
    """What an interruption has left without a run says nothing of a scheme."""
    begun = [scenario for scenario in scenarios if scenario.runs or scenario.failures]
    if not begun:
        return []
    rows = leaderboard([scheme_means(scenario.runs) for scenario in begun], schemes)
    return [_with_failures(row, begun) for row in rows]


def _with_failures(row: LeaderboardRow, scenarios: list[Scenario]) -> LeaderboardRow:
    reasons = Counter(
        failure.reason
        for scenario in scenarios
        for failure in scenario.failures
        if failure.scheme == row.scheme
    )
    (most, _), *_ = reasons.most_common(1) or [("", 0)]
    return replace(row, failed_runs=reasons.total(), failure=most)


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
    """One of each flow; of several flows also who ran it, and one of all together, `"flow": "all"`."""
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
    figures = {name: known(getattr(metrics, name)) for name in _FIGURES}
    return {"scheme": run.scheme, "run": run.run, "flow": flow, **figures}


def known(value: float) -> float | None:
    """As JSON has it: no NaN."""
    return None if math.isnan(value) else value


def _begins_s(run: RunResult, flow: FlowMetrics) -> float:
    return round((flow.start_ms - run.total.start_ms) / 1000, 3)


def write_summary(summary: dict[str, Any], path: Path) -> None:
    """Writes `summary.json`."""
    with replaced_text(path) as stream:
        json.dump(summary, stream, indent=2, allow_nan=False)
        stream.write("\n")
