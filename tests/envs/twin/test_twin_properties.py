"""What holds in the twin whatever the emulator: no packet is made, doubled, reordered or early."""

from math import log2
from typing import Any

import numpy as np
import pytest
from ccgym.envs import _core
from ccgym.envs.specs.emulator_spec import EmulatorSpec
from ccgym.envs.specs.link_spec import LinkSpec
from ccgym.envs.specs.schedules import opportunities_through
from ccgym.tests.envs.specs.random_specs import emulators, links, queues
from hypothesis import example, given, settings
from hypothesis import strategies as st

WINDOW = 40
SECONDS = 3.0
STEPS = 60
MOST_BACKOFF = 64
"""What the probe time-out is multiplied with at most: the sender doubles it six times."""
PACKET_THRESHOLD = 3
"""RFC 9002, kPacketThreshold."""


def ends_just_after(outage: tuple[float, float], **entry: Any) -> EmulatorSpec:
    """A path that falls silent after its first round trips and comes back shortly before the run ends."""
    from_s, to_s = outage
    steps = [{"at_s": from_s, "rate_mbps": 0}, {"at_s": to_s, "rate_mbps": 0.5}]
    uplink = {"rate_steps": steps, "period_s": 60.0, **entry.pop("uplink")}
    return EmulatorSpec.model_validate({"name": "outage", "uplink": uplink, **entry})


SHORT_CONTINUOUS = ends_just_after(
    (0.0147, 2.9537),
    delay_ms=1,
    timing="continuous",
    uplink={"rate_mbps": 16.87, "queue": "droptail", "packets": 2},
)
SHORT_MAHIMAHI = ends_just_after(
    (0.0184, 2.9595),
    delay_ms=2,
    timing="mahimahi",
    uplink={"rate_mbps": 38.76, "queue": "droptail", "packets": 4},
)


def specs() -> st.SearchStrategy[EmulatorSpec]:
    """Quick enough to see a few round trips; one flow and no cross traffic."""
    single = emulators(0.3, 40, most_delay_ms=100).map(
        lambda entry: {**entry, "flows": [], "cross_traffic": []}
    )
    return single.map(EmulatorSpec.model_validate)


@settings(max_examples=120, deadline=None)
@given(
    link=links(0.1, 100).map(LinkSpec.model_validate),
    gaps_ms=st.lists(st.integers(0, 8), min_size=1, max_size=300),
    seed=st.integers(0, 2**32),
    end_ms=st.integers(0, 4000),
)
def test_a_link_conserves_and_keeps_the_order(
    link: LinkSpec, gaps_ms: list[int], seed: int, end_ms: int
) -> None:
    arrivals_ms = np.cumsum(gaps_ms).astype(np.int32)
    sizes = np.random.default_rng(seed).integers(32, 1505, len(gaps_ms)).astype(np.int32)
    end_ms = max(end_ms, int(arrivals_ms[-1]))
    left_ms, left_bytes, delays_ms, dropped, waiting = _core.replay(
        link.to_link(), arrivals_ms, sizes, base_ms=0, end_ms=end_ms, seed=seed
    )
    assert len(left_ms) + dropped + waiting == len(arrivals_ms)
    assert np.all(np.diff(left_ms) >= 0)
    assert np.all(delays_ms >= 1)
    assert_subsequence(
        list(zip(left_ms - delays_ms, left_bytes, strict=True)), list(zip(arrivals_ms, sizes, strict=True))
    )
    carried = np.searchsorted(left_ms, left_ms, side="right")
    opportunities = np.searchsorted(opportunities_through(link.schedule(), end_ms), left_ms, side="right")
    assert np.all(np.cumsum(left_bytes)[carried - 1] <= 1504 * opportunities)


def assert_subsequence(some: list[Any], all_of_them: list[Any]) -> None:
    following = iter(all_of_them)
    assert all(one in following for one in some)


@settings(max_examples=60, deadline=None)
@given(
    parameters=queues(most=50).filter(lambda queue: queue.get("queue") == "droptail"),
    gaps_ms=st.lists(st.integers(0, 2), min_size=1, max_size=200),
)
def test_a_droptail_queue_never_holds_more_than_its_limits(
    parameters: dict[str, Any], gaps_ms: list[int]
) -> None:
    arrivals_ms = np.cumsum(gaps_ms).astype(np.int32)
    sizes = np.full(len(gaps_ms), 1504, np.int32)
    link = LinkSpec(rate_mbps=6.0, **parameters).to_link()
    left_ms, _, delays_ms, *_ = _core.replay(link, arrivals_ms, sizes, base_ms=0, end_ms=2000)
    for ms in range(int(arrivals_ms[-1]) + 1):
        held = int(np.sum((left_ms - delays_ms <= ms) & (left_ms > ms)))
        assert held <= parameters.get("packets", held) + 1  # and one in transmission
        assert (held - 1) * 1504 <= parameters.get("bytes", held * 1504)


def shortest_round_trip_ms(spec: EmulatorSpec) -> float:
    """Below which no round trip is."""
    varying = spec.delay_steps is not None or spec.delay_walk is not None
    # In mahimahi's clock what is sent within a millisecond counts from its beginning.
    slack_ms = 1 if spec.timing == "mahimahi" else 0
    return 2 * (1 if varying else spec.delay_ms) - slack_ms


def most_in_flight(spec: EmulatorSpec) -> float:
    """Of a flow whose window is constant: the window, and what probe time-outs send whatever the window.

    A time-out sends a packet (RFC 9002, section 6.2.4), and so does the ACK that ends a silence of one
    time-out or more (RFC 5682). A silence that was no loss puts all that it took for lost back in flight. The
    path keeps the order: in flight are only packets that left after the newest one that is acknowledged, s,
    and fewer than PACKET_THRESHOLD before it. How many time-outs can there have been since s left, x ms ago?

    srtt + 4 rttvar is at least the latest round trip (section 5.3: 4 rttvar >= |round trip - srtt|). What is
    acknowledged at x left no later than s: the time-out is then x at least, and never below the shortest
    round trip p and the granularity. It doubles with each time-out of a silence, so n of them end at 2^n x or
    later. That holds from each silence to the next: since x = p there were log2(run / p) at most, before it
    three (one that was under way when s left, one until the next ACK, one until x = p); and one more in each
    MOST_BACKOFF time-outs, as then it doubles no longer.
    """
    run_ms, shortest_ms = 1000 * SECONDS, shortest_round_trip_ms(spec)
    granularity_ms = 1
    timeouts = 3 + log2(run_ms / shortest_ms) + run_ms / (MOST_BACKOFF * (shortest_ms + granularity_ms))
    silences = timeouts + 1  # each of one time-out at least; the first may have had its own before s left
    return WINDOW + (PACKET_THRESHOLD - 1) + timeouts + silences


@settings(max_examples=60, deadline=None)
@given(spec=specs(), seed=st.integers(0, 2**32))
@example(spec=SHORT_CONTINUOUS, seed=1)
@example(spec=SHORT_MAHIMAHI, seed=1)
def test_a_run_conserves_its_packets(spec: EmulatorSpec, seed: int) -> None:
    record = _core.simulate(spec.to_path(), f"fixed:{WINDOW}", seconds=SECONDS, seed=seed)
    in_flight = record.sent_packets - record.delivered_packets - record.lost_packets
    assert 0 <= in_flight <= most_in_flight(spec)
    assert record.delivered_packets <= len(record.departure_ms) <= len(record.arrival_ms)
    assert len(record.arrival_ms) <= record.sent_packets
    assert np.all(np.diff(record.arrival_ms) >= 0)
    assert np.all(np.diff(record.departure_ms) >= 0)


@settings(max_examples=40, deadline=None)
@given(
    spec=specs(),
    flows=st.lists(st.tuples(st.floats(0, 2), st.integers(0, 50)), min_size=2, max_size=4),
    seed=st.integers(0, 2**32),
)
def test_flows_together_conserve_their_packets_and_share_one_link(
    spec: EmulatorSpec, flows: list[tuple[float, int]], seed: int
) -> None:
    sharing = [
        _core.Flow(scheme=f"fixed:{WINDOW}", start_s=start_s, extra_delay_ms=extra_ms)
        for start_s, extra_ms in flows
    ]
    records = _core.simulate(spec.to_path(), sharing, seconds=SECONDS, seed=seed)
    for record in records:
        in_flight = record.sent_packets - record.delivered_packets - record.lost_packets
        assert 0 <= in_flight <= most_in_flight(spec)
        assert record.delivered_packets <= len(record.departure_ms) <= len(record.arrival_ms)
    if spec.timing == "mahimahi":
        left_ms = np.sort(np.concatenate([record.departure_ms for record in records]))
        left_bytes = np.arange(1, len(left_ms) + 1) * 1468
        opportunities_ms = opportunities_through(spec.uplink.schedule(), 1000 * SECONDS)
        assert np.all(left_bytes <= 1504 * np.searchsorted(opportunities_ms, left_ms, side="right"))


@settings(max_examples=40, deadline=None)
@given(spec=specs(), seed=st.integers(0, 2**32))
def test_no_round_trip_is_shorter_than_the_propagation(spec: EmulatorSpec, seed: int) -> None:
    telemetry = measured(spec, seed)
    rtts_ms = telemetry[:, list(_core.TELEMETRY).index("min_rtt_ms")]
    assert np.all((rtts_ms == 0) | (rtts_ms >= shortest_round_trip_ms(spec)))


@settings(max_examples=20, deadline=None)
@given(spec=specs(), seed=st.integers(0, 2**32))
def test_the_same_seed_gives_the_same_bits(spec: EmulatorSpec, seed: int) -> None:
    assert np.array_equal(measured(spec, seed), measured(spec, seed))


def measured(spec: EmulatorSpec, seed: int) -> Any:
    """Telemetry of a flow of the policy controller, shape (steps, columns)."""
    batch = _core.PathBatch([spec.to_path()], features="indigo", actions="indigo")
    observations = np.zeros((1, batch.observation_size), np.float32)
    telemetry = np.zeros((1, len(_core.TELEMETRY)))
    batch.reset(np.zeros(1, np.int32), np.array([seed], np.uint64), observations)
    rows = []
    for step in range(STEPS):
        batch.step(np.array([[step % 5]], np.float32), observations, telemetry)
        rows.append(telemetry[0].copy())
    return np.array(rows)


@pytest.mark.parametrize("timing", ["mahimahi", "continuous"])
@pytest.mark.parametrize("nesting", [["delay", "link"], ["link", "delay"]])
def test_the_round_trip_does_not_depend_on_the_nesting(timing: str, nesting: list[str]) -> None:
    entry = {"name": "a", "delay_ms": 20, "uplink": {"rate_mbps": 12}, "timing": timing, "nesting": nesting}
    rtt_ms = measured(EmulatorSpec.model_validate(entry), 1)[-1, list(_core.TELEMETRY).index("min_rtt_ms")]
    # Continuous: 1464 IP bytes of data and 57 of an ACK at 12 Mbit/s take 0.976 and 0.038 ms.
    low_ms = 41 if timing == "mahimahi" else 40.99
    assert low_ms <= rtt_ms <= (42 if timing == "mahimahi" else 41.05)
