"""What the random emulators of a check are called, and what makes them hard."""

import pytest
from ccgym.envs.specs.emulators import EmulatorSpec, LinkSpec
from ccgym.envs.specs.variation_spec import RateStep, RateWalk
from ccgym.experiments.difficulty import describe, difficulty_tags, longest_silence_ms


def path(**uplink: object) -> EmulatorSpec:
    return EmulatorSpec(name="path", delay_ms=30, uplink=LinkSpec.model_validate(uplink))


@pytest.mark.parametrize(
    ("uplink", "kind"),
    [
        ({"rate_mbps": 12.0}, "constant"),
        ({"rate_mbps": 12.0, "arrivals": "poisson"}, "poisson"),
        ({"rate_mbps": 12.0, "arrivals": "cellular"}, "cellular"),
        ({"rate_mbps": 12.0, "rate_steps": (RateStep(at_s=1, rate_mbps=3.0),)}, "stepping"),
        (
            {
                "rate_mbps": 12.0,
                "arrivals": "poisson",
                "rate_walk": RateWalk(every_ms=100, spread=0.1, low_mbps=6, high_mbps=24),
            },
            "wandering",
        ),
    ],
)
def test_an_emulator_is_called_by_how_its_rate_behaves(uplink: dict[str, object], kind: str) -> None:
    assert describe(path(**uplink)).split()[0] == kind


def test_an_easy_link_has_no_difficulty_tags() -> None:
    assert difficulty_tags(path(rate_mbps=12.0)) == []


def test_silence_a_short_queue_and_small_windows_are_difficulty_tags() -> None:
    silent = (RateStep(at_s=3, rate_mbps=0.0), RateStep(at_s=5, rate_mbps=12.0))
    assert difficulty_tags(path(rate_mbps=12.0, rate_steps=silent, period_s=10)) == [
        "link silent 20% of the time",
        "ACKs silent 20% of the time",
    ]
    assert difficulty_tags(path(rate_mbps=12.0, queue="droptail", packets=2)) == ["room for 2 packets"]
    assert difficulty_tags(path(rate_mbps=0.5)) == ["ideal window of 4.0 packets"]


def test_the_longest_silence_may_be_of_the_way_back() -> None:
    silent = (RateStep(at_s=3, rate_mbps=0.0), RateStep(at_s=5, rate_mbps=12.0))
    quiet = LinkSpec(rate_mbps=12.0, rate_steps=silent, period_s=10)
    spec = EmulatorSpec(name="path", delay_ms=30, uplink=LinkSpec(rate_mbps=12.0), downlink=quiet)
    assert longest_silence_ms(spec) == pytest.approx(2000, abs=2)
    assert longest_silence_ms(path(rate_mbps=12.0)) <= 1
