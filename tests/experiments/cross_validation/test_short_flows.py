"""Short flows of our Cubic beside the kernel's."""

import argparse
import json
import os

import pytest
from ccgym.cli.main import main
from ccgym.experiments.cross_validation.short_flows import (
    RATES_MBPS,
    ShortFlows,
    emulators,
    evenly_chosen,
    kernel_completion_ms,
    mean_error,
    our_completion_ms,
    run,
)


def test_the_twenty_links_have_distinct_names() -> None:
    assert len({spec.name for spec in emulators()}) == 20


def test_links_are_chosen_evenly_as_many_as_asked() -> None:
    for number in range(1, 21):
        chosen = evenly_chosen(emulators(), number)
        assert len({spec.name for spec in chosen}) == number
    assert [spec.name for spec in evenly_chosen(emulators(), 2)] == ["5mbps-5ms", "80mbps-150ms"]


def test_more_links_than_there_are_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["reproduce", "short-flows", "--links", "25"])
    assert "'25' is not a whole number from 1 to 20" in capsys.readouterr().err


def test_a_flow_of_eleven_packets_takes_two_round_trips() -> None:
    spec = emulators()[1]  # 5 Mbit/s, 20 ms
    assert 80 < our_completion_ms(spec, 15) < 100


def test_the_error_is_the_relative_difference_of_the_means() -> None:
    rows = [ShortFlows("a", 15, 1, 110, 100), ShortFlows("b", 15, 1, 290, 300)]
    assert rows[0].error == pytest.approx(0.1)
    assert mean_error(rows) == 0


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root settles kernel TCP")
def test_one_link_in_real_mahimahi(capsys: pytest.CaptureFixture[str]) -> None:
    spec = emulators()[0]
    for size_kb, times_ms in kernel_completion_ms(spec, flows=3).items():
        assert len(times_ms) == 3
        # How near ours are, the command says; no real flow is quicker than the link and its round trip.
        assert min(times_ms) > 8 * size_kb / RATES_MBPS[0] + 2 * spec.delay_ms
    run(argparse.Namespace(flows=1, links=1, json=True))
    result = json.loads(capsys.readouterr().out)
    assert [(row["size_kb"], row["flows"]) for row in result["flows"]] == [(15, 1), (150, 1), (1500, 1)]
    assert len(result["mean_errors"]) == 3
