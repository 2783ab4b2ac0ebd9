"""The packet logs of a tunnel's end, whole, cut off and broken."""

import re
from pathlib import Path

import pytest
from ccgym.envs.errors import InputError
from ccgym.evaluation.backends.tunnelled.tunnel_log import read_tunnel_log

HEAD = "# 'mm-tunnelserver' '--ingress-log=in' ingress: 1795218406566.250\n"


def test_packets_are_on_the_wall_clock(tmp_path: Path) -> None:
    log = tmp_path / "in"
    log.write_text(f"{HEAD}0.125 - 0 - 68\n1000.500 - 18446744 - 1500\n")
    records = read_tunnel_log(log)
    assert records.time_ms.tolist() == [1795218406566.375, 1795218407566.75]
    assert records.uid.tolist() == [0, 18446744]
    assert records.bytes.tolist() == [68, 1500]


@pytest.mark.parametrize("cut", ["", "7", "7.000 - 3", "7.000 - 3 - 15"])
def test_a_killed_ends_log_is_read_up_to_its_last_line(tmp_path: Path, cut: str) -> None:
    log = tmp_path / "in"
    log.write_text(f"{HEAD}0.125 - 0 - 68\n{cut}")
    assert read_tunnel_log(log).uid.tolist() == [0]


def test_a_log_without_packets_is_empty(tmp_path: Path) -> None:
    log = tmp_path / "in"
    log.write_text(HEAD)
    assert read_tunnel_log(log).time_ms.tolist() == []


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("0.125 - 0 - 68\n", ":1: expected '# COMMAND ingress|egress: WALL_CLOCK_MS'"),
        (f"{HEAD}0.125 - 0 68\n", ":2: '0.125 - 0 68' has too few or too many fields"),
        (f"{HEAD}0.125 - 0 + 68\n", ":2: '0.125 - 0 + 68' has no ' - ' between its numbers"),
        (f"{HEAD}0.125 - 0 - 68\n1 - 1 - 68\n", ":3: '1 - 1 - 68' has a field that is not the number"),
    ],
)
def test_broken_logs_are_named(tmp_path: Path, text: str, wrong: str) -> None:
    log = tmp_path / "in"
    log.write_text(text)
    with pytest.raises(InputError, match=re.escape(wrong)):
        read_tunnel_log(log)
