"""Ideal windows in closed form and clairvoyant: where the search finds them, what they reach when run."""

import numpy as np
import pytest
from ccgym.envs import _core
from ccgym.envs.errors import InputError
from ccgym.envs.specs.emulators import EmulatorSpec, LinkSpec, select_emulators
from ccgym.envs.specs.variation_spec import RateStep
from ccgym.oracle.ideal import STEADY_QUEUE_MS, STEADY_QUEUE_SHARE, ideal_windows, shared_windows
from ccgym.oracle.poisson_window import poisson_window
from ccgym.oracle.published import PUBLISHED_WINDOWS

PACKETS_PER_MS_PER_MBPS = 1504 / 1468 / 12


def emulator(uplink: LinkSpec, delay_ms: int = 30) -> EmulatorSpec:
    return EmulatorSpec(name="link", delay_ms=delay_ms, uplink=uplink)


def test_windows_are_near_the_published_ones() -> None:
    deviations = [
        float(ideal_windows(named.spec, 0.5, 1)[0]) / PUBLISHED_WINDOWS[named.label] - 1
        for named in select_emulators("synthetic,calibrated")
    ]
    assert np.abs(deviations).mean() <= 0.06


def test_an_even_link_wants_its_bdp_and_the_standing_queue_of_the_preference() -> None:
    rate = 24 * PACKETS_PER_MS_PER_MBPS
    middle_ms = STEADY_QUEUE_MS + STEADY_QUEUE_SHARE * 30
    for preference, queue_ms in ((0.5, middle_ms), (0.5 + 1 / 6, 2 * middle_ms)):
        (window,) = ideal_windows(emulator(LinkSpec(rate_mbps=24.0)), preference, 1)
        assert window == pytest.approx(rate * (60 + queue_ms))


@pytest.mark.parametrize(
    ("rate_mbps", "delay_ms"), [(0.15, 50), (0.3, 60), (0.5, 11), (0.9, 60), (1.8, 7), (3.5, 7)]
)
@pytest.mark.parametrize("stepping", [False, True])
def test_a_slow_link_wants_a_packet_for_every_opportunity_and_none_to_wait(
    rate_mbps: float, delay_ms: int, stepping: bool
) -> None:
    steps = (RateStep(at_s=59, rate_mbps=rate_mbps),) if stepping else None
    spec = emulator(LinkSpec(rate_mbps=rate_mbps, rate_steps=steps, period_s=60.0), delay_ms)
    window = round(float(np.median(ideal_windows(spec, 0.1, 1000))))

    def run(packets: int) -> tuple[float, float]:
        record = _core.simulate(spec.to_path(), f"fixed:{packets}", seconds=30, seed=0)
        return len(record.departure_ms) / record.opportunities, float(np.median(record.departure_delay_ms))

    (used, delay_ms_), (used_by_less, _), (_, delay_of_more_ms) = (
        run(window),
        run(window - 1),
        run(window + 1),
    )
    assert used >= 0.96
    assert used_by_less < 0.95
    assert delay_of_more_ms > delay_ms_


def test_a_short_queue_is_not_filled_to_the_brim() -> None:
    spec = emulator(LinkSpec(rate_mbps=24.0, queue="droptail", packets=10))
    assert ideal_windows(spec, 1.0, 1)[0] == pytest.approx(24 * PACKETS_PER_MS_PER_MBPS * 60 + 6)


@pytest.mark.parametrize("window", [20, 40, 60])
def test_the_poisson_formula_agrees_with_runs(window: int) -> None:
    """The best window of the formula's own objective is the best one run, over many seeds."""
    rate_mbps, delay_ms = 6.0, 40
    rate = rate_mbps * PACKETS_PER_MS_PER_MBPS
    best = poisson_window(rate, 2 * delay_ms + 1 / rate, np.inf, free_ms=delay_ms + 4, delay_weight=0.42)

    def score(packets: float) -> float:
        outcomes = []
        for seed in range(6):
            spec = emulator(LinkSpec(rate_mbps=rate_mbps, arrivals="poisson", seed=seed), delay_ms)
            record = _core.simulate(spec.to_path(), f"fixed:{packets:g}", seconds=20, seed=seed)
            p95_ms = np.percentile(record.departure_delay_ms, 95) + delay_ms
            outcomes.append((len(record.departure_ms), p95_ms))
        throughput, delay = np.mean(outcomes, axis=0)
        return float(np.log(throughput) - 0.42 * np.log(delay))

    assert score(round(best)) >= score(window) - 0.005


def test_a_higher_preference_never_gives_a_smaller_window() -> None:
    for named in select_emulators("random:60:4"):
        curve = np.array([ideal_windows(named.spec, p, 200) for p in (0.1, 0.3, 0.5, 0.7, 0.9)])
        assert (np.diff(curve, axis=0) >= -1e-9).all(), named.label


def test_a_step_of_the_rate_is_followed_within_a_round_trip() -> None:
    link = LinkSpec(rate_mbps=20.0, rate_steps=(RateStep(at_s=2.0, rate_mbps=5.0),))
    windows = ideal_windows(emulator(link), 0.5, 400)
    before, after = (float(ideal_windows(emulator(LinkSpec(rate_mbps=r)), 0.5, 1)[0]) for r in (20.0, 5.0))
    assert windows[150] == pytest.approx(before, rel=0.05)
    assert windows[207:300] == pytest.approx(after, rel=0.12)


@pytest.mark.parametrize(
    "uplink",
    [
        LinkSpec(rate_mbps=24.0, arrivals="poisson"),
        LinkSpec(rate_mbps=24.0, rate_steps=(RateStep(at_s=9.0, rate_mbps=6.0),), arrivals="poisson"),
    ],
)
def test_on_random_links_the_queue_of_a_short_path_is_shorter(uplink: LinkSpec) -> None:
    def queue_ms(delay_ms: int) -> float:
        windows = ideal_windows(emulator(uplink, delay_ms), 0.5, 800)[10:]
        return float(windows.mean() / (24 * PACKETS_PER_MS_PER_MBPS) - 2 * delay_ms)

    shortest, short, long, longer = (queue_ms(delay_ms) for delay_ms in (2, 10, 20, 30))
    assert shortest < 0.75 * short
    assert short < 0.85 * long
    assert longer > 0.85 * long


def test_a_step_of_an_even_link_is_looked_for_with_the_whole_queue_on_a_short_path() -> None:
    """A shorter one tells a network nothing of a link that has become faster."""
    even = LinkSpec(rate_mbps=24.0, rate_steps=(RateStep(at_s=9.0, rate_mbps=6.0),))
    steady = LinkSpec(rate_mbps=24.0)
    stepping, constant = (np.median(ideal_windows(emulator(link, 3), 0.5, 100)) for link in (even, steady))
    assert stepping >= constant


def test_fair_shares_shrink_as_flows_join_and_leave_the_queue_to_all() -> None:
    spec = emulator(LinkSpec(rate_mbps=40.0))
    present = np.array([1, 2, 8])
    windows = shared_windows(spec, 0.5, present, np.zeros(8), contested=False)
    assert (windows == windows[0]).all()
    together = present * windows[0] / (40 * PACKETS_PER_MS_PER_MBPS)
    assert together[0] == pytest.approx(60 + STEADY_QUEUE_MS + STEADY_QUEUE_SHARE * 30)
    assert np.all(np.diff(together) > 0), "the more flows, the longer the queue"


@pytest.mark.parametrize(
    ("key", "given"),
    [
        ("delay_steps", {"delay_steps": [{"at_s": 1, "delay_ms": 40}]}),
        ("delay_walk", {"delay_walk": {"every_ms": 50, "spread": 0.1, "low_ms": 5, "high_ms": 60}}),
        ("cross_traffic", {"cross_traffic": [{"kind": "constant", "rate_mbps": 3}]}),
        ("flows", {"flows": [{}, {"scheme": "cubic"}]}),
        ("onoff", {"uplink": {"rate_mbps": 12, "onoff": {"mean_on_s": 1, "mean_off_s": 1}}}),
    ],
)
def test_what_the_closed_forms_do_not_read_is_refused_by_name(key: str, given: dict[str, object]) -> None:
    fields = {"name": "odd", "delay_ms": 20, "uplink": {"rate_mbps": 12}} | given
    spec = EmulatorSpec.model_validate(fields)
    with pytest.raises(InputError, match=f"odd: {key}: the oracle's labels do not take it into account"):
        ideal_windows(spec, 0.5, 10)
