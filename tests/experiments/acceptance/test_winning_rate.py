"""Who wins a segment, and on what links."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from ccgym.agents.shipped import policy_path
from ccgym.envs.specs.emulators import EmulatorSpec, LinkSpec
from ccgym.envs.specs.variation_spec import RateStep
from ccgym.experiments.acceptance import winning_rate
from ccgym.experiments.acceptance.contested_links import Draw
from ccgym.experiments.acceptance.winning_rate import FACTORS, segment_link, segment_scores, shares_won

SCHEME = f"policy:{policy_path('indigo2')}"


def test_every_scheme_within_a_tenth_of_the_best_score_wins() -> None:
    scores = np.array([[10.0, 9.0, 8.9, 0.0], [9.0, 10.0, 10.0, 0.0]])
    assert shares_won(scores).tolist() == [0.5, 0.75], "the last segment is nobody's"


def test_a_score_is_of_one_segment_alone() -> None:
    steps = tuple(RateStep(at_s=at_s, rate_mbps=rate) for at_s, rate in ((7, 6.0), (14, 12.0), (20.9, 0.0)))
    spec = EmulatorSpec(name="steps", delay_ms=20, uplink=LinkSpec(rate_mbps=12.0, rate_steps=steps))
    first, slow, third, silent = segment_scores("fixed:80", spec)
    # Of 80 packets in a window 1.025 leave each ms, or every other one: round trips of 78 and 156 ms.
    assert (first, third) == pytest.approx((12**2 / 58, 12**2 / 58), rel=0.05)
    assert slow == pytest.approx(6**2 / 136, rel=0.03)
    assert silent == 0


def test_a_rate_is_constant_or_steps_every_seven_seconds() -> None:
    specs = [segment_link(1, number) for number in range(300)]
    firsts_mbps = [spec.uplink.rate_mbps or 0 for spec in specs]
    factors = Counter[float]()
    for spec, first_mbps in zip(specs, firsts_mbps, strict=True):
        steps = spec.uplink.rate_steps or ()
        assert [step.at_s for step in steps] in ([], [7, 14, 21])
        rates = [(step.rate_mbps or 0) / first_mbps for step in steps] or [1.0, 1.0, 1.0]
        assert rates == pytest.approx([rates[0], 1, rates[0]])
        factors[round(rates[0], 6)] += 1
    assert set(factors) == set(FACTORS)
    assert min(factors.values()) > 30
    assert 12 <= min(firsts_mbps) < 14
    assert 170 < max(firsts_mbps) <= 192
    assert {spec.delay_ms for spec in specs} >= {5, 6, 10, 20, 40, 79}
    assert all(5 <= spec.delay_ms <= 80 for spec in specs)
    bdps = [
        (spec.uplink.packets or 0) * 12.032 / rate_mbps / (2 * spec.delay_ms)
        for spec, rate_mbps in zip(specs, firsts_mbps, strict=True)
    ]
    assert min(bdps) == pytest.approx(0.5, abs=0.05)
    assert max(bdps) == pytest.approx(16, abs=1.5)


def test_the_policy_wins_most_segments() -> None:
    with ThreadPoolExecutor(2) as executor:
        check = winning_rate.winning_rate(SCHEME, Draw(6, 777, executor))
    assert float(check.measured.split("%")[0]) >= 90
    assert "of 6 links; vegas " in check.measured


@pytest.mark.parametrize(("ours", "met"), [([1, 1, 1], True), ([1, 1, 0.5], None), ([0, 0, 0.25], False)])
def test_the_rate_is_held_by_its_interval(
    ours: list[float], met: bool | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(winning_rate, "RIVALS", ("copa", "cubic"))
    monkeypatch.setattr(winning_rate, "shares_won_on", lambda _, __, number: [ours[number], 0.25, 0.5])
    with ThreadPoolExecutor(2) as executor:
        check = winning_rate.winning_rate("reno", Draw(3, 1, executor))
    assert check.met is met
    assert check.measured.startswith(f"{np.mean(ours):.1%} (")
    assert check.measured.endswith(" of 3 links; cubic 50%")
