"""A run meets a draw of its own: arrivals, and the place in a schedule; a seed in the spec fixes the link."""

import numpy as np
import pytest
from ccgym.envs import _core
from ccgym.envs.specs.digest import spec_digest
from ccgym.envs.specs.emulators import EmulatorSpec, LinkSpec
from ccgym.envs.specs.traffic_spec import CrossTraffic
from ccgym.envs.specs.variation_spec import RateWalk
from ccgym.oracle.ideal import ideal_windows


def path(**uplink: object) -> EmulatorSpec:
    return EmulatorSpec(name="path", delay_ms=20, uplink=LinkSpec.model_validate(uplink))


def departures(spec: EmulatorSpec, seed: int) -> list[float]:
    record = _core.simulate(spec.drawn(seed).to_path(), "fixed:30", seconds=3, seed=seed)
    return [float(time) for time in record.departure_ms]


@pytest.mark.parametrize(
    "uplink",
    [
        {"rate_mbps": 6.0, "arrivals": "poisson"},
        {"rate_mbps": 6.0, "arrivals": "poisson", "seed": 1},
        {"rate_mbps": 7.3},
        {"rate_mbps": 6.0, "arrivals": "cellular"},
        {"arrivals": "markov", "rates_mbps": (2.0, 9.0), "mean_stay_ms": 200},
        {"rate_mbps": 6.0, "rate_walk": RateWalk(every_ms=50, spread=0.2, low_mbps=2, high_mbps=12)},
    ],
)
def test_runs_differ_and_the_same_seed_runs_the_same(uplink: dict[str, object]) -> None:
    spec = path(**uplink)
    assert departures(spec, 1) != departures(spec, 2)
    assert departures(spec, 1) == departures(spec, 1)


def test_a_seed_in_the_spec_fixes_the_link_but_not_where_a_run_begins() -> None:
    spec = path(rate_mbps=6.0, arrivals="poisson", seed=4)
    one, other = spec.drawn(1).uplink, spec.drawn(2).uplink
    assert (one.seed, other.seed) == (4, 4)
    assert one.begin_s != other.begin_s
    whole = spec.uplink.schedule()
    for drawn in (one, other):
        begin_ms = round(1000 * drawn.begin_s)
        later_ms = np.array([500, 5000, 70_000])
        expected = whole.count_through(later_ms + begin_ms) - whole.count_through(begin_ms)
        np.testing.assert_array_equal(drawn.schedule().count_through(later_ms), expected)


def test_without_a_seed_arrivals_are_drawn_alike_in_both_directions() -> None:
    spec = path(rate_mbps=6.0, arrivals="poisson").drawn(5)
    assert spec.downlink == spec.uplink.mirrored()
    assert spec.drawn(6).uplink.seed == spec.uplink.seed, "a draw is drawn"


def test_cross_traffic_is_drawn() -> None:
    traffic = CrossTraffic(kind="poisson", rate_mbps=3.0)
    spec = path(rate_mbps=6.0).model_copy(update={"cross_traffic": (traffic, traffic)})
    seeds = [[each.seed for each in spec.drawn(seed).cross_traffic] for seed in (1, 2)]
    assert len({*seeds[0], *seeds[1]}) == 4


def test_a_draw_is_the_same_link_by_its_digest() -> None:
    spec = path(rate_mbps=6.0, arrivals="poisson")
    assert spec_digest(spec.drawn(1)) == spec_digest(spec.drawn(2)) == spec_digest(spec)


def test_the_oracle_sees_the_draw_that_is_run() -> None:
    spec = path(rate_mbps=6.0, arrivals="cellular", seed=2)
    late = spec.model_copy(
        update={
            name: getattr(spec, name).model_copy(update={"begin_s": 4.0}) for name in ("uplink", "downlink")
        }
    )
    whole, rest = ideal_windows(spec, 0.5, 1000), ideal_windows(late, 0.5, 500)
    # Ahead of one round trip, in which the late one has not seen the past.
    np.testing.assert_allclose(rest[20:], whole[420:900])


def test_in_continuous_timing_a_constant_rate_is_the_same_wherever_it_begins() -> None:
    link = LinkSpec(rate_mbps=7.3)
    spec = EmulatorSpec(name="path", delay_ms=20, timing="continuous", uplink=link)
    assert spec.drawn(1).uplink.begin_s != spec.drawn(2).uplink.begin_s
    assert departures(spec, 1) == departures(spec, 2), "its packets are served as they come"
