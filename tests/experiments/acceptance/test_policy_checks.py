"""When a window has settled, and what a check says that is not sure."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from ccgym.agents.shipped import policy_path
from ccgym.envs.specs.emulators import EmulatorSpec
from ccgym.experiments.acceptance import drawn_runs, policy_checks
from ccgym.experiments.acceptance.drawn_runs import DRAWS
from ccgym.experiments.acceptance.policy_checks import PolicyChecks, settling_step
from ccgym.experiments.check import Check, all_met
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
def checks() -> Iterator[PolicyChecks]:
    with ThreadPoolExecutor(2) as executor:
        yield PolicyChecks(policy_path("indigo2"), SEED, executor)


def test_a_count_of_links_is_judged_by_several_draws_of_each(checks: PolicyChecks) -> None:
    check = checks.starvation(3)  # one of them is silent for seconds
    assert check.measured.startswith(f"0.0 (0.0 to 0.0) of 2 below in the mean of {DRAWS} draws")
    assert check.met is True


def test_a_count_that_differs_between_draws_is_not_sure(
    checks: PolicyChecks, monkeypatch: pytest.MonkeyPatch
) -> None:
    starved_in_two = {SEED + 1, SEED + 3}
    monkeypatch.setattr(
        checks, "_utilisation", lambda draw, _: 0.05 if SEED + draw in starved_in_two else 0.9
    )
    check = checks.starvation(1)
    assert check.measured.startswith("0.4 (0.0 to 0.8) of 1 below")
    assert check.met is None


def test_the_policy_and_the_window_beside_it_meet_the_same_draws(
    checks: PolicyChecks, monkeypatch: pytest.MonkeyPatch
) -> None:
    met: dict[str, list[tuple[EmulatorSpec, int]]] = {}
    real = rollouts.run_as_drawn

    def run_as_drawn(spec: EmulatorSpec, scheme: str, *, seed: int, **others: float) -> object:
        met.setdefault(scheme.partition(":")[0], []).append((spec, seed))
        return real(spec, scheme, 1.0, seed=seed)

    monkeypatch.setattr(drawn_runs, "run_as_drawn", run_as_drawn)
    monkeypatch.setattr(policy_checks, "OUTSIDE", [(7.0, 10)])
    assert f"in the mean of {DRAWS} draws" in checks.outside().measured
    policys, windows = (sorted(map(repr, met[kind])) for kind in ("policy", "fixed"))
    assert policys == windows
    assert len({seed for _, seed in met["policy"]}) == DRAWS
