"""The twin against logs of the real mm-link."""

from pathlib import Path

import pytest
from ccgym.cli.main import main
from ccgym.envs.errors import InputError
from ccgym.envs.logs.link_log import QueueSettings, read_link_log
from ccgym.envs.logs.replay import replay_log

from .real_logs import real_log

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
    assert (result.undelivered, result.twin_undelivered) == (1, 1)
    assert (result.opportunities, result.opportunity_mismatches) == (6, 0)
    assert result.first_mismatch is None


def test_another_queue_departs_otherwise(tmp_path: Path, trace: Path) -> None:
    # Without a limit the fourth of the burst departs too, at 16.
    result = replay_log(read_link_log(log_of(tmp_path, EVENTS)), trace, QueueSettings("infinite", {}))
    assert result.mismatches == 1
    assert result.first_mismatch == {"index": 4, "log": None, "twin": (16, 1504, 4)}


def test_first_departure_that_differs_is_told(tmp_path: Path, trace: Path) -> None:
    late = EVENTS.replace("13 - 1504 1\n14 # 1504", "14 # 1504\n14 - 1504 2")
    result = replay_log(read_link_log(log_of(tmp_path, late)), trace)
    assert result.mismatches == 1
    assert result.first_mismatch == {"index": 1, "log": (14, 1504, 2), "twin": (13, 1504, 1)}


def test_another_trace_shows_in_the_opportunities(tmp_path: Path) -> None:
    other = tmp_path / "two.tr"
    other.write_text("2\n")
    # 11, 13 and 15 of the log have no counterpart.
    assert replay_log(read_link_log(log_of(tmp_path, EVENTS)), other).opportunity_mismatches == 3


def test_the_exit_code_tells_of_another_trace_where_nothing_departs(tmp_path: Path, trace: Path) -> None:
    log, other = log_of(tmp_path, "11 # 1504\n12 # 1504\n"), tmp_path / "two.tr"
    other.write_text("2\n")
    assert main(["replay", str(log), "--trace", str(trace)]) == 0
    assert main(["replay", str(log), "--trace", str(other)]) == 1


def test_a_drophead_queue_drops_the_first_of_the_burst(tmp_path: Path, trace: Path) -> None:
    burst = EVENTS.replace("12 + 1504\n13 #", "12 + 700\n13 #")  # the last of the four, which stays
    drophead = burst.replace("15 - 1504 3", "15 - 700 3")
    header = HEADER.replace("droptail", "drophead")
    assert replay_log(read_link_log(log_of(tmp_path, drophead, header)), trace).mismatches == 0
    assert replay_log(read_link_log(log_of(tmp_path, drophead)), trace).mismatches == 1


def test_a_trace_that_ran_once_ends(tmp_path: Path) -> None:
    trace = tmp_path / "short.tr"
    trace.write_text("1\n2\n3\n")
    header = HEADER.replace("'mm-link'", "'mm-link' 'a' 'b' '--once' '--' 'x'")
    ended = "".join(line for line in EVENTS.splitlines(True) if int(line[:2]) <= 13)
    result = replay_log(read_link_log(log_of(tmp_path, ended, header)), trace)
    assert (result.mismatches, result.opportunity_mismatches) == (0, 0)


def test_later_versions_write_down_their_drops(tmp_path: Path, trace: Path) -> None:
    events = EVENTS.replace("13 # 1504", "12 d 1 1504\n13 # 1504")
    header = HEADER + "# mahimahi config: [delay 20 ms] [loss (uplink) rate=0.1] [link] \n"
    assert replay_log(read_link_log(log_of(tmp_path, events, header)), trace).mismatches == 0


@pytest.mark.parametrize(
    ("queue", "arguments", "wrong"),
    [
        ("infinite", {"packets": 3}, "an infinite queue takes no packets or bytes"),
        ("droptail", {}, "a droptail queue needs packets or bytes"),
        ("codel", {"packets": 3}, "queue codel needs target_ms"),
        ("pie", {"packets": 3, "qdelay_ref": 1}, "queue pie needs max_burst_ms"),
        ("fq", {"packets": 3}, "unknown queue 'fq': known are infinite, droptail, drophead, codel, pie"),
    ],
)
def test_arguments_must_go_with_the_queue(
    tmp_path: Path, trace: Path, queue: str, arguments: dict[str, int], wrong: str
) -> None:
    with pytest.raises(InputError, match=f"queue: {wrong}"):
        replay_log(read_link_log(log_of(tmp_path, EVENTS)), trace, QueueSettings(queue, arguments))


@pytest.mark.parametrize(
    ("name", "mismatches"),
    # The real CoDel reads the wall clock, and was late now and then: 18 of its 4556 departures differ.
    [("droptail", 0), ("drophead", 0), ("kernel_tcp", 0), ("codel", 18)],
)
def test_real_logs_replay(name: str, mismatches: int, trace: Path, tmp_path: Path) -> None:
    result = replay_log(read_link_log(real_log(name, tmp_path)), trace)
    assert result.mismatches == mismatches
    assert result.opportunity_mismatches == 0
    assert result.twin_undelivered == result.undelivered
