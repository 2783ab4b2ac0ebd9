"""Short flows of our Cubic beside the kernel's."""

import argparse
import os

import pytest
from ccgym.experiments.cross_validation.short_flows import (
    ShortFlows,
    compare_short_flows,
    emulators,
    mean_error,
    our_completion_ms,
    run,
)


def test_twenty_links_of_names_of_their_own() -> None:
    assert len({spec.name for spec in emulators()}) == 20


def test_a_flow_of_eleven_packets_takes_two_round_trips() -> None:
    spec = emulators()[1]  # 5 Mbit/s, 20 ms
    assert 80 < our_completion_ms(spec, 15) < 100


def test_the_error_is_that_of_the_means() -> None:
    rows = [ShortFlows("a", 15, 1, 110, 100), ShortFlows("b", 15, 1, 290, 300)]
    assert rows[0].error == pytest.approx(0.1)
    assert mean_error(rows) == 0


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root settles kernel TCP")
def test_one_link_in_real_mahimahi(capsys: pytest.CaptureFixture[str]) -> None:
    rows = compare_short_flows(emulators()[0], 1)
    assert [row.size_kb for row in rows] == [15, 150, 1500]
    for row in rows:
        assert row.flows == 1
        assert row.error == pytest.approx(0, abs=0.3)
    run(argparse.Namespace(flows=1, links=1, json=True))
    assert "mean_errors" in capsys.readouterr().out
