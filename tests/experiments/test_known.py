"""What is known to miss is told, and makes no exit code of 1 unless it is worse."""

import pytest
from ccgym.experiments.check import Check
from ccgym.experiments.publications.reproduction import Line, Reproduction, reproduction_lines

HOST = "24 synthetic links, ideal host"
FAIRNESS = "median Jain, 5 s apart: BBR"


@pytest.mark.parametrize(
    ("name", "measured", "met", "passes"),
    [
        (HOST, "19 of 24; worst 0.969", False, True),
        (HOST, "18 of 24; worst 0.969", False, False),
        (HOST, "24 of 24", True, True),
        ("after the rate falls or rises by 4", "median -20 ms (-240 to +110)", None, True),
        ("after the rate falls or rises by 4", "median +165 ms (+20 to +2150)", False, False),
        ("beside cubic", "42.5% (41.6% to 43.4%) of 300 links in the mean", None, True),
        ("beside cubic", "95.0% (94.0% to 96.0%) of 300 links in the mean", False, False),
        ("something new", "19 of 24", False, False),
        ("something new", "not sure", None, False),
    ],
)
def test_only_what_is_worse_than_known_fails(
    name: str, measured: str, met: bool | None, passes: bool
) -> None:
    assert Check(name, "more", measured, met).passes == passes


def test_a_known_miss_shows_its_expectation() -> None:
    assert Check(HOST, "24", "19 of 24", False).line.endswith("; known to miss: expected >= 19")
    assert "expected" not in Check(HOST, "24", "24 of 24", True).line


def test_a_reproduction_is_met_when_its_misses_are_known() -> None:
    def found(ours: str) -> Reproduction:
        return Reproduction("Copa", "document 4", [Line(FAIRNESS, "0.81", ours, "+- 0.05", False)])

    assert found("0.93 (0.91 to 0.95)").met
    assert not found("0.99").met
    assert "MISSED, expected <= 0.97" in reproduction_lines(found("0.93"))[2]
