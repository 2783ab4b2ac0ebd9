"""What a spec can say beyond a plain path: order, interruptions, variation, timing, other flows."""

import re
from typing import Any

import numpy as np
import pytest
from ccgym.envs import _core
from ccgym.envs.errors import InputError
from ccgym.envs.specs.emulator_spec import EmulatorSpec
from ccgym.envs.specs.emulators import select_emulators
from ccgym.envs.specs.link_spec import LinkSpec
from ccgym.envs.specs.schedules import opportunities_through
from ccgym.envs.specs.spec_errors import first_mistake
from ccgym.envs.specs.variation_spec import RateStep, RateSteps
from pydantic import ValidationError

SECONDS = 20.0
CONTINUOUS: dict[str, Any] = {"timing": "continuous"}
STEP = {"at_s": 10, "delay_ms": 40}
WALK = {"every_ms": 100, "spread": 0.1}


def spec_of(**fields: Any) -> EmulatorSpec:
    return EmulatorSpec.model_validate({"name": "a", "delay_ms": 20, "uplink": {"rate_mbps": 12}, **fields})


def run(spec: EmulatorSpec, window: int = 20, seed: int = 1) -> _core.FlowRecord:
    return _core.simulate(spec.to_path(), f"fixed:{window}", seconds=SECONDS, seed=seed)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"nesting": ["delay"]}, "nesting lacks link, which the emulator has"),
        ({"nesting": ["link", "delay", "link"]}, "nesting names an element twice"),
        (
            {"nesting": ["link", "delay"], "downlink": {"rate_mbps": 1, "loss": 0.1}},
            "nesting lacks loss, which the emulator has",
        ),
        (
            {"nesting": ["delay", "queue"]},
            "nesting.1: 'queue' is not one of 'delay', 'onoff', 'loss' or 'link'",
        ),
        ({"nesting": "link"}, "nesting: 'link' is not a list"),
        ({"timing": "exact"}, "timing: 'exact' is not one of 'mahimahi' or 'continuous'"),
        ({"once": True}, "once goes with traces, in both directions"),
        ({"once": 1}, "once: 1 is not true or false"),
        (
            {"delay_steps": [STEP], "delay_walk": {**WALK, "low_ms": 1, "high_ms": 99}},
            "has both of delay_steps and delay_walk; give at most one",
        ),
        (
            {"delay_steps": [{"at_s": 1, "delay": 40}]},
            "delay_steps.0.delay: unknown key; known: at_s, delay_ms, did you mean delay_ms?",
        ),
        ({"delay_steps": [STEP, STEP]}, "the times at_s must increase, from above 0 to below period_s 60"),
        (
            {"delay_steps": [{"at_s": 60, "delay_ms": 4}]},
            "the times at_s must increase, from above 0 to below period_s 60",
        ),
        (
            {"delay_steps": [{"at_s": 1, "delay_ms": 4.5}]},
            "delay_ms: 4.5 is not a whole number, which timing: mahimahi needs",
        ),
        (
            {"delay_walk": {**WALK, "low_ms": 30, "high_ms": 99}},
            "delay_ms 20 is not within the bounds of delay_walk",
        ),
        (
            {"delay_walk": {**WALK, "low_ms": 9, "high_ms": 1}},
            "delay_walk: low_ms 9 is not within (0, high_ms 1]",
        ),
        ({"uplink": {"rate_mbps": 1, "onoff": {"mean_on_s": 1}}}, "uplink.onoff.mean_off_s: is missing"),
        (
            {"uplink": {"rate_mbps": 1, "onoff": {"mean_on_s": 0, "mean_off_s": 1}}},
            "uplink.onoff.mean_on_s: 0.0 is not within [0.001, 1000000.0]",
        ),
        (
            {"uplink": {"rate_mbps": 1, "rate_steps": [{"at_s": 1, "rate_mbps": -1}]}},
            "uplink.rate_steps.0.rate_mbps: -1.0 is not within [0, 10000]",
        ),
        (
            {"uplink": {"trace": "a", "rate_steps": [{"at_s": 1, "rate_mbps": 1}]}},
            "uplink: rate_steps goes with rate_mbps and constant or poisson arrivals",
        ),
        (
            {"uplink": {"rate_mbps": 9, "rate_walk": {**WALK, "low_mbps": 1, "high_mbps": 2}}},
            "uplink: rate_mbps 9.0 is not within the bounds of rate_walk",
        ),
        (
            {"uplink": {"rate_mbps": 9, "rate_walk": {**WALK, "low_mbps": 3, "high_mbps": 2}}},
            "uplink.rate_walk: low_mbps 3.0 is above high_mbps 2.0",
        ),
        (
            {"uplink": {"arrivals": "markov", "rates_mbps": [1, 2]}},
            "uplink: markov arrivals need rates_mbps and mean_stay_ms",
        ),
        (
            {"uplink": {"arrivals": "markov", "rates_mbps": [0, 0], "mean_stay_ms": 9}},
            "uplink: rates_mbps needs at least two rates, one of them above 0",
        ),
        (
            {"uplink": {"arrivals": "markov", "rate_mbps": 1}},
            "uplink: markov arrivals take rates_mbps instead of rate_mbps",
        ),
        (
            {"uplink": {"rate_mbps": 1, "rates_mbps": [1, 2]}},
            "uplink: rates_mbps and mean_stay_ms go with arrivals: markov",
        ),
        ({"flows": [{"start_s": 3, "stop_s": 3}]}, "flows.0: stop_s 3 is not after start_s 3"),
        (
            {"flows": [{"delay_ms": 3}]},
            "flows.0.delay_ms: unknown key; known: scheme, start_s, stop_s, extra_delay_ms, bytes, "
            "mean_think_s, mean_on_s, mean_off_s, did you mean extra_delay_ms?",
        ),
        (
            {"flows": [{"scheme": "copa"}, {"scheme": "cubic"}]},
            "flows: each names a scheme; leave one without, for the scheme that is run",
        ),
        ({"flows": [{"bytes": 0}]}, "flows.0.bytes: 0 is not within [1, 1000000000000]"),
        ({"flows": [{"mean_think_s": 1}]}, "flows.0: mean_think_s needs bytes, the size of an answer"),
        (
            {"flows": [{"mean_off_s": 1}]},
            "flows.0: has one of mean_on_s and mean_off_s; give both or neither",
        ),
        (
            {"cross_traffic": [{"kind": "onoff", "rate_mbps": 1}]},
            "cross_traffic.0: onoff cross traffic needs mean_on_s",
        ),
        (
            {"cross_traffic": [{"kind": "constant", "rate_mbps": 1000, "packet_bytes": 100}]},
            "cross_traffic: 1.25e+06 packets per s together, more than 1e+06",
        ),
        (
            {"cross_traffic": [{"kind": "poisson", "rate_mbps": 1, "mean_off_s": 1}]},
            "cross_traffic.0: poisson cross traffic does not take mean_off_s",
        ),
        (
            {"cross_traffic": [{"kind": "poisson", "rate_mbps": 1, "packet_bytes": 9000}]},
            "cross_traffic.0.packet_bytes: 9000 is not within [28, 1500]",
        ),
    ],
)
def test_a_mistake_is_told_in_one_line(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError) as caught:
        spec_of(**fields)
    assert first_mistake(caught.value, EmulatorSpec) == message


def test_a_flow_that_answers_requests_says_how_long_each_took() -> None:
    record = run(spec_of(flows=[{"bytes": 10_000, "mean_think_s": 0.1}]))
    assert len(record.completion_ms) > 10
    assert len(record.completion_ms) == record.delivered_packets // 7  # of 1436 bytes


def test_a_flow_with_spells_leaves_part_of_the_link() -> None:
    now_and_then = run(spec_of(flows=[{"mean_on_s": 0.05, "mean_off_s": 0.05}]))
    assert 100 < now_and_then.delivered_packets < 0.8 * run(spec_of()).delivered_packets


def test_loss_inside_the_link_takes_packets_before_the_queue() -> None:
    lossy = {"uplink": {"rate_mbps": 12, "loss": 0.2}}
    behind = run(spec_of(**lossy))
    assert len(behind.arrival_ms) == behind.sent_packets
    before = run(spec_of(**lossy, nesting=["delay", "link", "loss"]))
    share = 1 - len(before.arrival_ms) / before.sent_packets
    assert share == pytest.approx(0.2, abs=0.02)
    assert len(before.departure_ms) == pytest.approx(len(before.arrival_ms), abs=20)


def test_the_delay_inside_the_link_comes_before_the_queue() -> None:
    assert run(spec_of()).arrival_ms[0] == 0
    assert run(spec_of(nesting=["link", "delay"])).arrival_ms[0] == 20


def test_an_interrupted_link_passes_its_share_of_the_time() -> None:
    onoff = {"mean_on_s": 0.2, "mean_off_s": 0.2}
    spec = spec_of(uplink={"rate_mbps": 12, "onoff": onoff}, nesting=["delay", "link", "onoff"])
    passed_ms = np.unique(run(spec, window=60).arrival_ms)
    pauses_ms = np.diff(passed_ms)
    assert np.sum(pauses_ms > 100) > 10
    assert run(spec, seed=1).delivered_packets != run(spec, seed=2).delivered_packets
    assert run(spec, seed=2).delivered_packets == run(spec, seed=2).delivered_packets


def test_a_delay_steps_up_and_down_without_reordering() -> None:
    spec = spec_of(delay_steps=[{"at_s": 5, "delay_ms": 80}, {"at_s": 10, "delay_ms": 5}])
    record = run(spec)
    per_s = np.bincount((record.departure_ms // 1000).astype(int), minlength=20)
    # 20 packets a round trip: 42, 162 and 12 ms; no more than one a ms.
    assert per_s[2] == pytest.approx(20 / 0.042, rel=0.02)
    assert per_s[7] == pytest.approx(20 / 0.162, rel=0.05)  # whole windows in a second
    assert per_s[15] == pytest.approx(1000 * 1504 / 1468, rel=0.02)


def test_continuous_timing_is_exact() -> None:
    record = run(spec_of(**CONTINUOUS), window=200)
    # 1464 IP bytes of data a packet.
    assert record.delivered_packets * 1464 * 8 / (SECONDS - 0.3) == pytest.approx(12e6, rel=0.02)
    spec_of(**CONTINUOUS, delay_steps=[{"at_s": 1, "delay_ms": 4.25}]).to_path()


def test_rates_change_in_steps() -> None:
    link = LinkSpec.model_validate(
        {
            "rate_mbps": 12,
            "rate_steps": [{"at_s": 2, "rate_mbps": 0}, {"at_s": 4, "rate_mbps": 120}],
            "period_s": 6,
        }
    )
    times_ms = opportunities_through(link.schedule(), 12_000)
    per_s = np.bincount((times_ms - 1) // 1000, minlength=12)
    assert per_s.tolist() == [1000, 1000, 0, 0, 10_000, 10_000] * 2


def test_steps_in_columns_are_those_of_a_list() -> None:
    listed = [{"at_s": 2.0, "rate_mbps": 0.0}, {"at_s": 4.0, "rate_mbps": 120.0}]
    link = LinkSpec.model_validate({"rate_mbps": 12, "rate_steps": listed})
    columns = RateSteps.within_bounds([2.0, 4.0], [0.0, 120.0])
    same = LinkSpec(rate_mbps=12.0, rate_steps=columns)
    assert same == link
    assert hash(same) == hash(link)
    assert same.model_dump(mode="json")["rate_steps"] == listed
    assert list(columns) == [RateStep.model_validate(step) for step in listed]
    assert list(columns[1:]) == list(columns)[1:]


@pytest.mark.parametrize(
    ("at_s", "rate_mbps"),
    [((1.0, -2.0), (1.0, 1.0)), ((1.0, 2.0), (1.0, 2e4)), ((1.0, 2.0), (1.0, float("nan")))],
)
def test_steps_in_columns_keep_within_the_bounds_of_a_step(
    at_s: tuple[float, ...], rate_mbps: tuple[float, ...]
) -> None:
    with pytest.raises(ValueError, match="is not within"):
        RateSteps.within_bounds(at_s, rate_mbps)


def test_a_rate_walks_within_its_bounds() -> None:
    walk = {"every_ms": 1000, "spread": 0.5, "low_mbps": 6, "high_mbps": 24, "seed": 3}
    link = LinkSpec.model_validate({"rate_mbps": 12, "rate_walk": walk})
    per_s = np.bincount((link.schedule().opportunities_ms() - 1) // 1000, minlength=60)
    assert per_s[0] == pytest.approx(1000, abs=1)
    assert per_s.min() >= 499
    assert per_s.max() <= 2001
    assert len(np.unique(per_s)) > 40
    other = link.model_copy(update={"rate_walk": link.rate_walk.model_copy(update={"seed": 4})})  # type: ignore[union-attr]
    assert not np.array_equal(other.schedule().opportunities_ms(), link.schedule().opportunities_ms())


def test_markov_arrivals_jump_between_their_rates() -> None:
    link = LinkSpec.model_validate({"arrivals": "markov", "rates_mbps": [1.2, 120], "mean_stay_ms": 1000})
    per_100ms = np.bincount(link.schedule().opportunities_ms() // 100, minlength=601)[:600]
    slow, fast = np.sum(per_100ms < 40), np.sum(per_100ms > 800)
    assert slow + fast > 500  # the rest has a jump in it
    assert min(slow, fast) > 100


def test_cellular_arrivals_keep_their_mean_and_have_outages() -> None:
    times_ms = LinkSpec(rate_mbps=12.0, arrivals="cellular").schedule().opportunities_ms()
    assert len(times_ms) == pytest.approx(60_000, rel=0.02)
    per_s = np.bincount(times_ms // 1000, minlength=61)[:60]
    assert per_s.std() > 200  # Poisson alone: 32
    gaps = [
        np.diff(LinkSpec(rate_mbps=12.0, arrivals="cellular", seed=seed).schedule().opportunities_ms()).max()
        for seed in range(5)
    ]
    assert max(gaps) > 200


def test_a_scaled_emulator_runs_whatever_varies_in_it() -> None:
    for emulator in select_emulators("varying"):
        for rate_factor, delay_factor in ((0.37, 2.3), (3.1, 0.4)):
            scaled = emulator.spec.scaled(rate_factor, delay_factor)
            assert EmulatorSpec.model_validate(scaled.model_dump(exclude_none=True)) == scaled
            was, now = (spec.uplink.schedule().mean_rate_mbps for spec in (emulator.spec, scaled))
            assert now == pytest.approx(was * rate_factor, rel=0.05)
            scaled.to_path()


def test_what_shares_the_path_reaches_the_twin() -> None:
    spec = spec_of(
        flows=[{"scheme": "copa"}, {"start_s": 2, "stop_s": 9, "extra_delay_ms": 30.05}],
        cross_traffic=[{"kind": "onoff", "rate_mbps": 3, "mean_on_s": 1, "mean_off_s": 2, "start_s": 4}],
    )
    assert isinstance(spec.to_path(), _core.Path)


@pytest.mark.parametrize("arrivals", ["constant", "poisson", "cellular"])
def test_what_is_drawn_is_exact_in_continuous_timing(arrivals: str) -> None:
    uplink = {"rate_mbps": 6, "arrivals": arrivals}
    exact = _core.simulate(spec_of(uplink=uplink, **CONTINUOUS).to_path(), "fixed:30", seconds=3, seed=1)
    whole = _core.simulate(spec_of(uplink=uplink).to_path(), "fixed:30", seconds=3, seed=1)
    for record, fractions in ((exact, True), (whole, False)):
        assert np.any(record.departure_ms % 1) == fractions
        assert np.any(record.departure_delay_ms % 1) == fractions
        assert np.allclose(record.departure_ms - record.departure_delay_ms, record.departed_sent_ms)
    assert len(exact.departure_ms) == pytest.approx(len(whole.departure_ms), rel=0.05)


def test_a_run_tells_when_packets_were_sent_and_received() -> None:
    """With the delay behind the link, then before it; what is lost behind the link is never received."""
    for nesting, before_ms, behind_ms in ((None, 0, 20), (["link", "loss", "onoff", "delay"], 20, 0)):
        order = {"nesting": nesting} if nesting else {}
        uplink = {"rate_mbps": 12, "loss": 0.1}
        record = _core.simulate(
            spec_of(delay_ms=20, uplink=uplink, **order).to_path(), "fixed:10", seconds=5, seed=1
        )
        assert np.all(record.arrival_ms - record.sent_ms == before_ms)
        received = ~np.isnan(record.received_ms)
        assert np.all((record.received_ms - record.departure_ms)[received] == behind_ms)
        lost_behind = np.mean(~received)
        assert lost_behind == pytest.approx(0.1, abs=0.03) if behind_ms else lost_behind == 0


@pytest.mark.parametrize(
    ("scheme", "message"),
    [("cubik", "no scheme 'cubik', did you mean cubic?"), ("fixed:0", "fixed"), ("policy:/none", "/none")],
)
def test_a_flow_of_an_unknown_scheme_is_refused_at_load(scheme: str, message: str) -> None:
    fields = {"name": "x", "delay_ms": 1, "uplink": {"rate_mbps": 1}, "flows": [{}, {"scheme": scheme}]}
    with pytest.raises(ValidationError, match=re.escape(message)):
        EmulatorSpec.model_validate(fields)


def test_a_schedule_that_fits_into_no_memory_is_refused() -> None:
    with pytest.raises(ValidationError, match="opportunities, more than 5e"):
        LinkSpec.model_validate({"rate_mbps": 10_000, "arrivals": "poisson", "period_s": 3600})


def test_a_rate_that_steps_to_too_many_opportunities_is_refused() -> None:
    steps = [{"at_s": 1, "rate_mbps": 10_000}]
    link = LinkSpec.model_validate({"rate_mbps": 1, "period_s": 3600, "rate_steps": steps})
    with pytest.raises(InputError, match="opportunities in a period are more than 50 million"):
        link.schedule()


@pytest.mark.parametrize("name", ["a/" * 999, "a" * 201])
def test_a_long_name_is_told_in_short(name: str) -> None:
    with pytest.raises(ValidationError) as caught:
        EmulatorSpec.model_validate({"name": name, "delay_ms": 1, "uplink": {"rate_mbps": 1}})
    assert len(first_mistake(caught.value, EmulatorSpec)) < 250
