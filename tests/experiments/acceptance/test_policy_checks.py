"""When a window has settled, and what a check says that is not sure."""

import math
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from ccgym.agents.shipped import policy_path
from ccgym.envs.logs.flow_metrics import STARVED_DELAY_MS, STARVED_MBPS, FlowMetrics
from ccgym.envs.specs.emulators import EmulatorSpec
from ccgym.experiments.acceptance import drawn_runs, given_links, policy_checks
from ccgym.experiments.acceptance.drawn_runs import DRAWS
from ccgym.experiments.acceptance.given_links import GivenLinkChecks, settling_step
from ccgym.experiments.acceptance.policy_checks import RandomLinkChecks
from ccgym.experiments.check import Check, all_met
from ccgym.experiments.known import KNOWN
from ccgym.training import rollouts


def test_a_window_that_crosses_the_ideal_one_has_not_settled() -> None:
    crossing = np.array([False, True, False, False, True] + [True] * 20)
    assert settling_step(crossing) == 4
    assert settling_step(np.zeros(10, bool)) == 10
    probing = np.ones(200, bool)
    probing[150:155] = False
    assert settling_step(probing) == 0, "what probes the path now and then is settled"


def test_a_check_that_is_not_sure_says_so() -> None:
    assert Check("share", ">= 95 %", "94 % to 97 %", met=None).line.startswith("UNSURE")
    assert [all_met(True, None), all_met(None, False), all_met(True, True)] == [None, False, True]


SEED = 5


@pytest.fixture
def executor() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(2) as executor:
        yield executor


def test_starvation_is_looked_for_once_on_each_link(
    executor: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    checks = RandomLinkChecks(policy_path("indigo2"), SEED, executor)
    check = checks.starvation(3)  # one of them is silent for seconds
    assert check.measured.startswith("0 of 2 below; least ")
    assert check.met is True
    starving = iter([0.05])
    monkeypatch.setattr(checks, "_utilisation", lambda _: next(starving, 0.9))
    check = checks.starvation(3)
    assert (check.measured, check.met) == ("1 of 2 below; least 5.0%", False)


def test_the_policy_and_the_window_beside_it_meet_the_same_draws(
    executor: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    checks = GivenLinkChecks(policy_path("indigo2"), SEED, executor)
    met: dict[str, list[tuple[EmulatorSpec, int]]] = {}
    real = rollouts.run_as_drawn

    def run_as_drawn(spec: EmulatorSpec, scheme: str, *, seed: int, **others: float) -> object:
        met.setdefault(scheme.partition(":")[0], []).append((spec, seed))
        return real(spec, scheme, 1.0, seed=seed)

    monkeypatch.setattr(drawn_runs, "run_as_drawn", run_as_drawn)
    monkeypatch.setattr(given_links, "OUTSIDE", [(7.0, 10)])
    assert f"in the mean of {DRAWS} draws" in checks.outside().measured
    policys, windows = (sorted(map(repr, met[kind])) for kind in ("policy", "fixed"))
    assert policys == windows
    assert len({seed for _, seed in met["policy"]}) == DRAWS


def test_a_policy_that_starves_is_on_no_frontier(
    executor: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = rollouts.run_as_drawn

    def run_as_drawn(spec: EmulatorSpec, scheme: str, seconds: float) -> FlowMetrics:
        figures = real(spec, "fixed:2", 1.0, seed=1)
        starved = {"throughput_mbps": 0.0, "p95_delay_ms": math.nan, "power": STARVED_MBPS / STARVED_DELAY_MS}
        return replace(figures, **starved) if scheme.startswith("policy:") else figures

    monkeypatch.setattr(policy_checks, "run_as_drawn", run_as_drawn)
    checks, (deficit, *_) = RandomLinkChecks(policy_path("indigo2"), SEED, executor).against_rivals(2)
    assert [check.measured.split(" (")[0] for check in checks] == ["0.0%", "-18.133"]
    assert "nan" not in deficit.reason


@pytest.mark.parametrize(
    ("log_powers", "met"), [([-2.0, -1.9, -2.1], None), ([-2.0] * 3, True), ([-2.06] * 3, False)]
)
def test_the_mean_log_power_is_held_by_its_interval(log_powers: list[float], met: bool | None) -> None:
    check = policy_checks._mean_log_power(log_powers)
    assert check.met is met
    assert check.measured.startswith(f"{np.mean(log_powers):.3f} (")


def test_every_native_scheme_for_any_link_is_a_rival(
    executor: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []

    def run_as_drawn(spec: EmulatorSpec, scheme: str, _: float) -> FlowMetrics:
        seen.append(scheme.partition(":")[0])
        return rollouts.run_as_drawn(spec, "fixed:2", 1.0, seed=1)

    monkeypatch.setattr(policy_checks, "run_as_drawn", run_as_drawn)
    frontier, power = RandomLinkChecks(policy_path("indigo2"), SEED, executor).against_rivals(1)[0]
    assert set(seen) == {
        "policy", "copa", "reno", "cubic", "vegas", "ledbat", "bbr", "bbr3", "allegro", "vivace",
    }  # fmt: skip
    assert frontier.wanted == ">= 96%"
    assert {frontier.name, power.name} <= KNOWN.keys()
