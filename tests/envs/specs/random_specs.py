"""Random emulators for property tests: whatever a file may say, short of traces."""

from typing import Any

from hypothesis import strategies as st

Entries = st.SearchStrategy[dict[str, Any]]


def merged(*parts: Entries) -> Entries:
    return st.tuples(*parts).map(
        lambda several: {key: value for one in several for key, value in one.items()}
    )


def queues(most: int = 60_000) -> Entries:
    whole = st.integers(1, most)
    return st.one_of(
        st.just({}),
        st.fixed_dictionaries({"queue": st.sampled_from(["droptail", "drophead"]), "packets": whole}),
        st.fixed_dictionaries(
            {"queue": st.sampled_from(["droptail", "drophead"]), "bytes": whole}, optional={"packets": whole}
        ),
        st.fixed_dictionaries(
            {"queue": st.just("codel"), "bytes": whole, "target_ms": whole, "interval_ms": whole}
        ),
        st.fixed_dictionaries(
            {"queue": st.just("pie"), "packets": whole, "qdelay_ref_ms": whole, "max_burst_ms": whole}
        ),
    )


def rates(low: float = 0.0002, high: float = 10_000, period_s: float = 60.0) -> Entries:
    """A rate of every kind, all within `low` and `high`."""
    rate = st.floats(low, high)
    seed = st.integers(0, 2**63 - 1)
    period = st.just(period_s)
    walk = st.fixed_dictionaries(
        {
            "every_ms": st.integers(10, 1000),
            "spread": st.floats(0, 1),
            "low_mbps": st.just(low),
            "high_mbps": st.just(high),
            "seed": seed,
        }
    )
    steps = st.lists(
        st.tuples(st.integers(1, 99), st.floats(0, high)),
        min_size=1,
        max_size=4,
        unique_by=lambda step: step[0],
    ).map(lambda some: [{"at_s": at * period_s / 100, "rate_mbps": rate} for at, rate in sorted(some)])
    arrivals = st.sampled_from(["constant", "poisson"])
    markov = st.tuples(rate, st.lists(st.floats(0, high), min_size=1, max_size=3)).map(
        lambda parts: [parts[0], *parts[1]]
    )
    return st.one_of(
        st.fixed_dictionaries({"rate_mbps": rate}, optional={"arrivals": arrivals, "seed": seed}),
        st.fixed_dictionaries(
            {"rate_mbps": rate, "arrivals": arrivals, "rate_walk": walk, "period_s": period}
        ),
        st.fixed_dictionaries(
            {"rate_mbps": rate, "arrivals": arrivals, "rate_steps": steps, "period_s": period}
        ),
        st.fixed_dictionaries(
            {
                "arrivals": st.just("markov"),
                "rates_mbps": markov,
                "mean_stay_ms": st.integers(10, 1000),
                "seed": seed,
                "period_s": period,
            }
        ),
        st.fixed_dictionaries(
            {"arrivals": st.just("cellular"), "rate_mbps": rate, "seed": seed, "period_s": period}
        ),
    )


def losses() -> Entries:
    onoff = st.fixed_dictionaries({"mean_on_s": st.floats(0.001, 10), "mean_off_s": st.floats(0.001, 10)})
    return st.fixed_dictionaries({}, optional={"loss": st.floats(0, 1), "onoff": onoff})


def links(low_mbps: float = 0.0002, high_mbps: float = 10_000) -> Entries:
    return merged(rates(low_mbps, high_mbps), queues(), losses())


def delays(most: int = 60_000) -> Entries:
    """A delay in whole ms, constant, in steps or in a walk."""
    whole = st.integers(1, most)
    seed = st.integers(0, 2**63 - 1)
    step = st.fixed_dictionaries({"at_s": st.floats(0.5, 50), "delay_ms": whole})
    walk = st.fixed_dictionaries(
        {
            "every_ms": st.integers(10, 1000),
            "spread": st.floats(0, 1),
            "low_ms": st.just(1),
            "high_ms": st.just(most),
            "seed": seed,
        }
    )
    return merged(
        st.fixed_dictionaries({"delay_ms": whole}),
        st.one_of(
            st.just({}),
            step.map(lambda one: {"delay_steps": [one]}),
            walk.map(lambda one: {"delay_walk": one}),
        ),
    )


def emulators(low_mbps: float = 0.0002, high_mbps: float = 10_000, most_delay_ms: int = 60_000) -> Entries:
    """Entries of an emulator file, each valid."""
    several = st.lists(
        st.fixed_dictionaries({"start_s": st.floats(0, 10), "extra_delay_ms": st.integers(0, 100)}),
        max_size=2,
    )
    traffic = st.lists(
        st.fixed_dictionaries(
            {"kind": st.sampled_from(["constant", "poisson"]), "rate_mbps": st.floats(1, 9)}
        ),
        max_size=2,
    )
    return merged(
        st.just({"name": "random"}),
        delays(most_delay_ms),
        st.fixed_dictionaries(
            {"uplink": links(low_mbps, high_mbps)},
            optional={
                "downlink": links(low_mbps, high_mbps),
                "timing": st.sampled_from(["mahimahi", "continuous"]),
                "nesting": st.permutations(["delay", "onoff", "loss", "link"]),
                "flows": several,
                "cross_traffic": traffic,
            },
        ),
    )
