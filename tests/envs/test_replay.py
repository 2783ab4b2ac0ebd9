"""The twin against logs of the real mm-link."""

from pathlib import Path

import pytest
from ccgym.envs.errors import InputError
from ccgym.envs.link_log import read_link_log
from ccgym.envs.replay import replay_log

REAL_LOGS = Path(__file__).parents[3] / "shared" / "mahimahi_logs"
# A link of one opportunity per ms from base 10; each departs 1 ms after it came, the 4th of a burst is lost.
HEADER = (
    "# mahimahi mm-link (Uplink) [one.tr] > u.log\n# command line: 'mm-link'\n# queue: droptail [packets=3]\n"
    "# init timestamp: 1000\n# base timestamp: 10\n"
)
EVENTS = (
    "11 # 1504\n11 + 1504\n12 # 1504\n12 - 1504 1\n12 + 1504\n12 + 1504\n12 + 1504\n12 + 1504\n"
    "13 # 1504\n13 - 1504 1\n14 # 1504\n14 - 1504 2\n15 # 1504\n15 - 1504 3\n16 # 1504\n"
)


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "one.tr"
    path.write_text("1\n")
    return path


def log_of(folder: Path, events: str, header: str = HEADER) -> Path:
    path = folder / "u.log"
    path.write_text(header + events)
    return path


def test_queue_of_the_header(tmp_path: Path, trace: Path) -> None:
    result = replay_log(read_link_log(log_of(tmp_path, EVENTS)), trace)
    assert (result.arrivals, result.departures, result.mismatches) == (5, 4, 0)
    assert result.first_mismatch is None


def test_another_queue_departs_otherwise(tmp_path: Path, trace: Path) -> None:
    # Without a limit the fourth of the burst departs too, at 16.
    result = replay_log(read_link_log(log_of(tmp_path, EVENTS)), trace, "infinite")
    assert result.mismatches == 1
    assert result.first_mismatch == {"index": 4, "log": None, "twin": (16, 1504, 4)}


def test_first_departure_that_differs_is_told(tmp_path: Path, trace: Path) -> None:
    late = EVENTS.replace("13 - 1504 1\n14 # 1504", "14 # 1504\n14 - 1504 2")
    result = replay_log(read_link_log(log_of(tmp_path, late)), trace)
    assert result.mismatches == 1
    assert result.first_mismatch == {"index": 1, "log": (14, 1504, 2), "twin": (13, 1504, 1)}


def test_unknown_queue_is_told(tmp_path: Path, trace: Path) -> None:
    log = read_link_log(log_of(tmp_path, EVENTS, HEADER.replace("droptail", "codel")))
    with pytest.raises(InputError, match="the twin has no codel queue; it has infinite, droptail"):
        replay_log(log, trace)


@pytest.mark.parametrize(("queue", "limits"), [("infinite", {"packets": 3}), ("droptail", {})])
def test_limits_must_go_with_the_queue(
    tmp_path: Path, trace: Path, queue: str, limits: dict[str, int]
) -> None:
    with pytest.raises(InputError, match=f"a {queue} queue takes"):
        replay_log(read_link_log(log_of(tmp_path, EVENTS)), trace, queue, limits)


def test_real_logs_replay_without_a_mismatch() -> None:
    # They lie beside the project where it is developed, not in it.
    for name in ("m_dt1.log", "tcp9_u.log"):
        if (REAL_LOGS / name).exists():
            assert replay_log(read_link_log(REAL_LOGS / name), REAL_LOGS / "one.tr").mismatches == 0, name
