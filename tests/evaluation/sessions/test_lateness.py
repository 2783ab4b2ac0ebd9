"""The lateness of real shells, from logs made by hand."""

from pathlib import Path

import pytest
from ccgym.envs.logs.link_log import read_link_log
from ccgym.evaluation.sessions.lateness import lateness_ms, p95_lateness_ms

HEADER = "# mahimahi mm-link\n# queue: infinite\n# init timestamp: {}\n# base timestamp: 0\n"


def write(folder: Path, name: str, events: list[str], init_ms: int = 1000) -> Path:
    path = folder / name
    path.write_text(HEADER.format(init_ms) + "".join(f"{event}\n" for event in events))
    return path


def data(folder: Path) -> Path:
    # Background of 80 bytes, then data that leave at 10, 11 and 30.
    events = ["5 # 1504", "5 - 80 1", "10 # 1504", "10 - 1468 2", "11 # 1504", "11 - 1468 2", "30 - 1468 1"]
    return write(folder, "up.log", events)


def test_an_ack_is_late_by_what_exceeds_two_propagation_delays(tmp_path: Path) -> None:
    acks = write(tmp_path, "down.log", ["20 + 80", "50 + 70", "53 + 70", "77 + 70"])
    late_ms = lateness_ms(read_link_log(data(tmp_path)), read_link_log(acks), 20)
    assert late_ms is not None
    assert late_ms.tolist() == [0, 2, 7]
    assert p95_lateness_ms(data(tmp_path), acks, 20) == pytest.approx(6.5)


def test_lateness_accounts_for_the_offset_of_the_two_logs(tmp_path: Path) -> None:
    acks = write(tmp_path, "down.log", ["40 + 70", "41 + 70", "60 + 70"], init_ms=1010)
    assert p95_lateness_ms(data(tmp_path), acks, 20) == 0


@pytest.mark.parametrize("events", [[], ["50 + 70", "53 + 70"], ["20 + 70", "53 + 70", "77 + 70"]])
def test_unanswered_packets_give_no_lateness(tmp_path: Path, events: list[str]) -> None:
    assert p95_lateness_ms(data(tmp_path), write(tmp_path, "down.log", events), 20) is None


def test_a_missing_log_gives_no_lateness(tmp_path: Path) -> None:
    assert p95_lateness_ms(tmp_path / "up.log", tmp_path / "down.log", 20) is None
