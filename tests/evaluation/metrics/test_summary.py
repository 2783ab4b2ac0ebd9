"""The leaderboard's definitions, on cases whose answers can be counted."""

import math
from dataclasses import fields
from pathlib import Path

import pytest
from ccgym.envs.logs.flow_metrics import FlowMetrics
from ccgym.evaluation.metrics.leaderboard_row import LeaderboardRow
from ccgym.evaluation.metrics.results import RunResult, Scenario
from ccgym.evaluation.metrics.summary import SchemeMean, leaderboard, scheme_mean
from ccgym.evaluation.report.figures import frontier
from ccgym.evaluation.report.palette import styles
from ccgym.evaluation.sessions.session import REFUSED


def rows(*scenarios: list[SchemeMean]) -> dict[str, LeaderboardRow]:
    schemes = list(dict.fromkeys(mean.scheme for scenario in scenarios for mean in scenario))
    return {row.scheme: row for row in leaderboard(list(scenarios), schemes)}


def test_a_scheme_that_another_beats_clearly_is_off_the_frontier() -> None:
    # 10.2 >= 1.02 x 10 and 49 <= 0.98 x 50: just clearly better in both.
    table = rows([SchemeMean("a", 10.2, 49), SchemeMean("b", 10, 50)])
    assert (table["a"].frontier_share, table["b"].frontier_share) == (1, 0)


@pytest.mark.parametrize(("throughput", "delay"), [(10.19, 49), (10.2, 49.1), (20, 50), (10, 10)])
def test_a_scheme_is_off_the_frontier_only_if_another_is_clearly_better_in_both(
    throughput: float, delay: float
) -> None:
    table = rows([SchemeMean("a", throughput, delay), SchemeMean("b", 10, 50)])
    assert (table["a"].frontier_share, table["b"].frontier_share) == (1, 1)


def test_frontier_share_counts_scenarios() -> None:
    table = rows(
        [SchemeMean("a", 20, 10), SchemeMean("b", 10, 50)],
        [SchemeMean("a", 10, 50), SchemeMean("b", 20, 60)],
        [SchemeMean("a", 10, 50), SchemeMean("b", 20, 20)],
        [SchemeMean("a", 10, 50), SchemeMean("b", 10, 50)],
    )
    assert (table["a"].frontier_share, table["b"].frontier_share) == (0.75, 0.75)


def test_every_figure_has_an_interval_over_the_scenarios() -> None:
    scenarios = [[SchemeMean("a", 20, 10, 0.9), SchemeMean("b", 10, 50, 0.5)] for _ in range(6)]
    scenarios += [[SchemeMean("a", 10, 50, 0.5), SchemeMean("b", 20, 10, 0.9)] for _ in range(2)]
    row = rows(*scenarios)["a"]
    assert (row.frontier_share, row.winning_rate) == (0.75, 0.75)
    assert row.mean_utilisation == pytest.approx(0.8)
    assert row.frontier_interval == row.winning_interval
    for figure, interval in ((0.75, row.frontier_interval), (0.8, row.utilisation_interval)):
        assert interval is not None
        assert 0 < interval[0] < figure < interval[1] <= 1
    # Wilson: 6 of 8; Student's t with 7 degrees of freedom: 2.36 x 0.185 / sqrt(8) = 15 %.
    assert (row.frontier_text, row.utilisation_text) == ("75 % (41-93)", "80 % (65-95)")


def test_a_frontier_share_of_100_percent_still_has_an_interval() -> None:
    row = rows(*[[SchemeMean("a", 20, 10, 1.0), SchemeMean("b", 10, 50, 0.5)] for _ in range(4)])["a"]
    assert row.frontier_text == "100 % (51-100)"
    assert row.utilisation_text == "100 % (100-100)", "all are equal"
    assert row.ahead_probability is None, "four scenarios do not tell an order"


def test_of_one_scenario_there_is_no_interval() -> None:
    row = rows([SchemeMean("a", 20, 10, 0.9)])["a"]
    assert row.frontier_interval is row.winning_interval is row.utilisation_interval is None
    assert (row.frontier_text, row.winning_text, row.utilisation_text) == ("100 %", "100 %", "90 %")


def test_mean_log_power_is_the_mean_over_the_scenarios() -> None:
    # ln(20 / 10) and ln(10 / 40): their mean is ln(2) / 2 - ln(4) / 2 = -ln(2) / 2.
    table = rows([SchemeMean("a", 20, 10)], [SchemeMean("a", 10, 40)])
    assert table["a"].mean_log_power == pytest.approx(-math.log(2) / 2)


def totals(*figures: tuple[float, float]) -> list[FlowMetrics]:
    """Runs at these Mbit/s and p95 ms."""
    names = [field.name for field in fields(FlowMetrics)]
    return [
        FlowMetrics(**dict.fromkeys(names, 10.0) | {"throughput_mbps": mbps, "p95_delay_ms": delay_ms})
        for mbps, delay_ms in figures
    ]


def test_a_run_that_starves_counts_in_every_figure() -> None:
    half = scheme_mean("half", totals((10, 50), (0, math.nan)))
    steady = scheme_mean("steady", totals((6, 60), (6, 60)))
    assert (half.throughput_mbps, half.p95_delay_ms, half.starved_runs) == (5, 50, 1)
    # ln(0.0004 Mbit/s / 30,000 ms) = -18.1 and ln(10 / 50) = -1.6.
    assert half.log_power == pytest.approx((-18.133 - 1.609) / 2, abs=1e-3)
    table = rows([half, steady])
    assert table["half"].mean_log_power == pytest.approx(half.log_power)
    assert (table["half"].frontier_share, table["half"].winning_rate) == (0, 0)
    assert (table["steady"].frontier_share, table["steady"].winning_rate) == (1, 1)


def test_the_picture_has_the_means_of_the_table_and_names_what_starves() -> None:
    runs = [
        RunResult("copa", number, [], each, None)
        for number, each in enumerate(totals((10, 50), (0, math.nan)), 1)
    ]
    scenario = Scenario("link", "twin", "", 10, runs, [], folder=Path("nowhere"))
    marker = frontier(scenario, styles(["copa"]))["data"][-1]
    assert (marker["x"], marker["y"], marker["text"]) == ([50], [5], ["copa (1 of 2 starve)"])


def test_where_all_starve_nobody_wins() -> None:
    dead = [scheme_mean(name, totals((0, math.nan))) for name in "ab"]
    assert [(row.frontier_share, row.winning_rate) for row in leaderboard([dead], ["a", "b"])] == [(0, 0)] * 2


def test_winning_is_within_a_tenth_of_the_best_power() -> None:
    # Powers 1, 0.9 and 0.89.
    table = rows([SchemeMean("a", 100, 100), SchemeMean("b", 90, 100), SchemeMean("c", 89, 100)])
    assert [table[name].winning_rate for name in "abc"] == [1, 1, 0]


def test_a_scenario_in_which_a_scheme_failed_is_neither_frontier_nor_win() -> None:
    scenarios = [[SchemeMean("a", 20, 10), SchemeMean("b", 20, 10)], [SchemeMean("b", 10, 40)]]
    table = {row.scheme: row for row in leaderboard(scenarios, ["a", "b"], [set(), {"a"}])}
    assert (table["a"].frontier_share, table["a"].winning_rate, table["a"].name) == (0.5, 0.5, "a")
    # Its power is the mean over where it ran.
    assert table["a"].mean_log_power == pytest.approx(math.log(2))


def test_a_scheme_that_never_ran_has_an_empty_row() -> None:
    (row,) = (row for row in leaderboard([[SchemeMean("a", 20, 10)]], ["a", "b"]) if row.scheme == "b")
    assert row == LeaderboardRow("b", 0, None, 0, of_scenarios=1)


def test_a_scenario_in_which_a_scheme_has_not_been_run_says_nothing_of_it() -> None:
    both = [SchemeMean("a", 20, 10), SchemeMean("b", 10, 50)]
    row = rows(both, [SchemeMean("b", 10, 40)], [SchemeMean("b", 10, 40)])["a"]
    assert (row.frontier_share, row.winning_rate, row.name) == (1, 1, "a (1 of 3)")
    assert row.frontier_interval is None


def test_a_scheme_that_ran_only_in_an_easy_scenario_is_not_first() -> None:
    easy = [SchemeMean(name, mbps, 10) for name, mbps in (("partial", 90), ("best", 100), ("worst", 50))]
    hard = [SchemeMean(name, mbps, 100) for name, mbps in (("best", 10), ("worst", 5))]
    table = leaderboard([easy, hard], ["partial", "worst", "best"])
    assert [row.scheme for row in table] == ["best", "partial", "worst"]
    powers = {row.scheme: row.mean_log_power or 0 for row in table}
    assert powers["partial"] > powers["best"], "their means are over different scenarios"


@pytest.mark.parametrize(
    ("runs", "failure", "shortfall", "reason"),
    [
        (1, "no answer", "1 run failed", "no answer"),
        (3, f"{REFUSED}not in the twin", "3 runs skipped", "not in the twin"),
    ],
)
def test_skipped_runs_are_not_counted_as_failed(runs: int, failure: str, shortfall: str, reason: str) -> None:
    row = LeaderboardRow("a", 0, None, 0, failed_runs=runs, failure=failure)
    assert (row.shortfall, row.reason) == (shortfall, reason)


def test_the_most_power_comes_first() -> None:
    scenario = [SchemeMean("a", 10, 10), SchemeMean("b", 30, 10), SchemeMean("c", 20, 10)]
    assert [row.scheme for row in leaderboard([scenario], ["a", "b", "c", "absent"])] == [
        "b",
        "c",
        "a",
        "absent",
    ]
