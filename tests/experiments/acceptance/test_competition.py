"""The policy that comes along holds its own beside other kinds of flows, and leaves them theirs."""

import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from ccgym.agents.shipped import policy_path
from ccgym.cli.main import main
from ccgym.envs import _core
from ccgym.envs.specs.emulators import EmulatorSpec, LinkSpec
from ccgym.experiments.acceptance import competition, contested_links
from ccgym.experiments.acceptance.competition import (
    Rivalry,
    competition_checks,
    delivered_packets,
    run_contested,
)
from ccgym.experiments.acceptance.completion_times import CASES, ShortFlows, ratio_to_rival
from ccgym.experiments.acceptance.contested_links import Draw, contested_link

SCHEME = f"policy:{policy_path('indigo2')}"


@pytest.mark.parametrize("rival", ["cubic", "reno", "bbr"])
def test_a_rival_that_fills_the_queue_leaves_it_a_part_on_most_links(rival: str) -> None:
    shares = [
        run_contested(SCHEME, Rivalry(rival, 1, 0.75), contested_link(4711, number)).share
        for number in range(10)
    ]
    assert sum(0.2 <= share <= 0.75 for share in shares) >= 8, shares


@pytest.mark.parametrize("packets", [320, 640, 1280], ids=["2 BDP", "4 BDP", "8 BDP"])
def test_a_flow_that_is_alone_again_leaves_the_queue_empty_soon(packets: int) -> None:
    uplink = LinkSpec(rate_mbps=48.0, queue="droptail", packets=packets)
    spec = EmulatorSpec(name="deep", delay_ms=20, uplink=uplink)
    flows = [_core.Flow("cubic", stop_s=40.0), _core.Flow(SCHEME, start_s=5.0)]
    record = _core.simulate(spec.to_path(), flows, seconds=60, seed=0)[1]
    delays_ms = record.departure_delay_ms
    assert np.percentile(delays_ms[record.departure_ms >= 43e3], 95) <= 20
    assert np.percentile(delays_ms[record.departure_ms >= 47e3], 95) <= 10


def test_flows_that_fill_the_queue_use_the_whole_link_and_no_more() -> None:
    uplink = LinkSpec(rate_mbps=24.0, queue="droptail", packets=640)
    spec = EmulatorSpec(name="deep", delay_ms=20, uplink=uplink)
    assert run_contested("cubic", Rivalry("cubic", 1, 0.85), spec).used == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize(
    ("late_s", "seconds", "least", "most"), [(5, 8, 0.0, 0.35), (0, 8, 0.4, 0.6), (-20, 28, 0.75, 1.0)]
)
def test_who_comes_first_is_ahead(late_s: float, seconds: float, least: float, most: float) -> None:
    uplink = LinkSpec(rate_mbps=24.0, queue="droptail", packets=1280)
    spec = EmulatorSpec(name="deep", delay_ms=80, uplink=uplink)
    rivalry = Rivalry("reno", 1, 0.75, late_s=late_s)
    rival, ours = delivered_packets("reno", rivalry, spec, seconds, counted_s=seconds)
    assert least < ours / (rival + ours) < most


def test_who_comes_first_in_each_millisecond_starves_its_own_kind_and_leaves_ours_its_part() -> None:
    uplink = LinkSpec(rate_mbps=96.0, queue="droptail", packets=160)
    spec = EmulatorSpec(name="full", delay_ms=10, uplink=uplink)
    first = Rivalry("cubic", 1, 0.85, comes_first=True)
    assert run_contested("cubic", first, spec).share < 0.25
    assert run_contested(SCHEME, first, spec).share > 0.35


@pytest.mark.parametrize("comes_first", [False, True])
def test_what_a_rival_keeps_counts_unless_its_own_kind_is_starved(comes_first: bool) -> None:
    with ThreadPoolExecutor(1) as executor:
        rivalry = Rivalry("cubic", 1, 0.85, comes_first)
        (check,) = competition_checks([rivalry], "reno", Draw(1, 4711, executor))
    assert ("rivals keep" in check.wanted) == (not comes_first)
    assert ("rivals keep" in check.measured) == (not comes_first)


def test_it_is_printed_with_its_seed_and_intervals(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(competition, "RIVALRIES", (Rivalry("cubic", 1, 0.85), Rivalry("cubic", 4, 0.8)))
    monkeypatch.setattr(contested_links, "RATE_MBPS", (6.0, 12.0))
    assert main(["reproduce", "competition", "--scheme", "cubic", "--random", "3", "--json"]) in (0, 1)
    result = json.loads(capsys.readouterr().out)
    assert result["seed"] == 777
    assert [check["name"] for check in result["checks"]] == ["beside cubic", "beside 4 cubic"]


@pytest.mark.parametrize("scheme", ["kernel-cubic", "copa,cubic", "nonsense"])
def test_what_cannot_run_in_the_twin_is_refused(scheme: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "competition", "--scheme", scheme]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_short_flows_beside_a_long_one_end_no_later_than_cubics_on_most_links() -> None:
    case = ShortFlows(kilobytes=15, beside_long=True)
    ratios = [ratio_to_rival(SCHEME, case, 4711, number) for number in range(10)]
    assert sum(ratio <= 1.05 for ratio in ratios) >= 8, ratios


def test_cubic_takes_as_long_as_itself(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "completion-times", "--scheme", "cubic", "--random", "3", "--json"]) in (0, 1)
    checks = json.loads(capsys.readouterr().out)["checks"]
    assert [check["name"] for check in checks] == [case.label for case in CASES]
    assert all("100%" in check["measured"] and "1.00 x cubic's" in check["measured"] for check in checks)
