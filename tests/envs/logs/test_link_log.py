"""Link logs: the format of mm-link, broken files, and the metrics against numbers derived by hand."""

import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from ccgym.envs import _core
from ccgym.envs.errors import InputError
from ccgym.envs.logs.flow_metrics import FlowMetrics, measure
from ccgym.envs.logs.link_log import (
    LinkLog,
    LinkLogHeader,
    QueueSettings,
    parse_queue_arguments,
    read_link_log,
)
from ccgym.envs.specs.schedules import opportunities_through

from .real_logs import real_log

HEADER = """\
# mahimahi mm-link (Uplink) [one.tr] > u.log
# command line: 'mm-link' 'one.tr' 'one.tr' '--uplink-log=u.log' '--' 'true'
# queue: droptail [bytes=9000, packets=30]
# init timestamp: 1795218406566
# base timestamp: 36
"""


def write_log(folder: Path, events: str) -> Path:
    path = folder / "u.log"
    path.write_text(HEADER + events)
    return path


def measured(folder: Path, events: str, **settings: float) -> FlowMetrics:
    return measure(read_link_log(write_log(folder, events)).without_background(), 20, **settings)


def test_header_gives_queue_and_times(tmp_path: Path) -> None:
    header = read_link_log(write_log(tmp_path, "37 # 1504\n")).header
    assert header is not None
    assert header.queue == QueueSettings("droptail", {"packets": 30, "bytes": 9000})
    assert not header.once
    assert (header.init_timestamp_ms, header.base_ms) == (1795218406566, 36)


def test_infinite_queue_has_no_limits(tmp_path: Path) -> None:
    path = tmp_path / "u.log"
    path.write_text(HEADER.replace("droptail [bytes=9000, packets=30]", "infinite"))
    header = read_link_log(path).header
    assert header is not None
    assert header.queue == QueueSettings("infinite", {})


def header_with(
    folder: Path, *options: str, direction: str = "Uplink", queue: str = "codel [packets=5]"
) -> LinkLogHeader:
    command = " ".join(f"'{word}'" for word in ("mm-link", "a", "b", *options, "--", "x", "--once"))
    path = folder / "u.log"
    path.write_text(
        HEADER.replace("Uplink", direction)
        .replace("droptail [bytes=9000, packets=30]", queue)
        .replace("'mm-link' 'one.tr' 'one.tr' '--uplink-log=u.log' '--' 'true'", command)
    )
    header = read_link_log(path).header
    assert header is not None
    return header


def test_what_the_line_of_the_queue_leaves_out_is_on_the_command_line(tmp_path: Path) -> None:
    options = (
        "--uplink-queue-args=packets=5, target=7 interval=90",
        "--downlink-queue-args",
        "bytes=1,qdelay_ref=3,max_burst=4",
    )
    up = header_with(tmp_path, *options)
    assert up.queue.arguments == {"packets": 5, "target": 7, "interval": 90}
    assert not up.once  # what the inner command is told does not count
    down = header_with(tmp_path, *options, "--once", direction="Downlink", queue="pie [bytes=1]")
    assert down.queue.arguments == {"bytes": 1, "qdelay_ref": 3, "max_burst": 4}
    assert down.once


def test_queue_arguments_are_read_as_mm_link_does() -> None:
    assert parse_queue_arguments("packets=10, bytes=5") == {"packets": 10, "bytes": 5}
    assert parse_queue_arguments("target=5interval=100;packets=0") == {"target": 5, "interval": 100}
    assert parse_queue_arguments("nothing") == {}


def test_events_of_every_kind(tmp_path: Path) -> None:
    log = read_link_log(write_log(tmp_path, "37 # 1504\n37 + 1504\n37 d 1 1504\n38 # 1504\n38 - 1504 1"))
    assert log.opportunity_ms.tolist() == [37, 38]
    assert (log.arrival_ms.tolist(), log.arrival_bytes.tolist()) == ([37], [1504])
    assert (log.departure_ms.tolist(), log.departure_bytes.tolist()) == ([38], [1504])
    assert log.departure_delay_ms.tolist() == [1]


def test_no_events(tmp_path: Path) -> None:
    assert len(read_link_log(write_log(tmp_path, "")).arrival_ms) == 0


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("38 # ", "too few or too many fields"),
        ("", "is no event"),
        ("38", "is no event"),
        ("38 - 1504 1 7", "too few or too many fields"),
        ("38 * 1504", "has none of # + - d"),
        ("38 ## 1504", "has none of # + - d"),
        ("38 - 1504", "too few or too many fields"),
        ("38 + 1504 1", "too few or too many fields"),
        ("3x + 1504", "not the number it should be"),
        ("38 + -", "not the number it should be"),
        ("38 + 15.0.4", "not the number it should be"),
        ("38 + 150-4", "not the number it should be"),
        ("38 + 1504.", "not the number it should be"),
        ("38 + 99999999999999999999999", "not the number it should be"),
        ("36 + 1504", "is earlier than the line before"),
    ],
)
def test_broken_line_is_named(tmp_path: Path, line: str, wrong: str) -> None:
    path = write_log(tmp_path, f"37 # 1504\n{line}\n39 # 1504\n")
    with pytest.raises(InputError, match=re.escape(wrong)) as error:
        read_link_log(path)
    assert str(error.value).startswith(f"{path}:7: '{line.strip()}' ")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("missing", ["queue", "init timestamp", "base timestamp"])
def test_broken_header_is_named(tmp_path: Path, missing: str) -> None:
    path = tmp_path / "u.log"
    path.write_text("".join(line for line in HEADER.splitlines(True) if missing not in line))
    with pytest.raises(InputError, match=f"no '# {missing}"):
        read_link_log(path)


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.log: cannot read the link log"):
        read_link_log(tmp_path / "none.log")


def test_metrics_of_four_packets(tmp_path: Path) -> None:
    # Departures at 110, 120, 130, 150 ms: 4 x 1500 IP bytes in 40 ms = 1.2 Mbit/s.
    # Opportunities at 110, 120, 130, 140, 150 in it: 5 x 1500 bytes in 40 ms = 1.5 Mbit/s, 80 % used.
    # Delays 20 + (5, 5, 10, 20): mean 30, p95 nearest of 4 = the largest, 40.
    metrics = measured(
        tmp_path,
        "100 # 1504\n105 + 1504\n110 # 1504\n110 - 1504 5\n115 + 1504\n120 # 1504\n120 - 1504 5\n"
        "120 + 1504\n130 # 1504\n130 - 1504 10\n130 + 1504\n140 # 1504\n150 # 1504\n"
        "150 - 1504 20\n160 # 1504\n",
    )
    assert metrics.throughput_mbps == pytest.approx(1.2)
    assert metrics.capacity_mbps == pytest.approx(1.5)
    assert metrics.utilisation == pytest.approx(0.8)
    assert metrics.mean_delay_ms == 30
    assert (metrics.p95_delay_ms, metrics.p99_delay_ms) == (40, 40)
    assert metrics.queueing_delay_ms == 10
    assert metrics.power == pytest.approx(1.2 / 40)
    assert metrics.loss == 0
    assert metrics.duration_ms == 40
    # Pantheon takes the capacity over the whole log: 7 x 1500 bytes in 60 ms = 1.4 Mbit/s.
    assert metrics.pantheon_capacity_mbps == pytest.approx(1.4)
    assert metrics.pantheon_utilisation == pytest.approx(1.2 / 1.4)


def test_p95_is_the_nearest_rank() -> None:
    # 100 delays 1..100: index 0.95 x 99 = 94.05 -> the 95th value; p99: 98.01 -> the 99th.
    metrics = measure(evenly_sent(np.arange(1, 101)), 0)
    assert (metrics.p95_delay_ms, metrics.p99_delay_ms) == (95, 99)


def evenly_sent(delays_ms: np.ndarray) -> LinkLog:
    """Departures 1000 ms apart; everything has arrived so long before as `delays_ms` says."""
    count = len(delays_ms)
    departures_ms = 1000 * np.arange(1, count + 1)
    sizes = np.full(count, 1504)
    return LinkLog(departures_ms - delays_ms, sizes, departures_ms, sizes, delays_ms, departures_ms)


def test_packets_in_flight_at_the_end_are_not_lost(tmp_path: Path) -> None:
    # Arrivals at 1, 2, 3, 4, 5; those of 1, 2, 4 depart: the one of 3 is lost, the one of 5 still waits.
    metrics = measured(
        tmp_path,
        "1 + 1504\n2 # 1504\n2 - 1504 1\n2 + 1504\n3 + 1504\n4 + 1504\n5 + 1504\n"
        "6 # 1504\n6 - 1504 4\n7 # 1504\n7 - 1504 3\n",
    )
    assert metrics.loss == pytest.approx(1 / 4)
    assert metrics.pantheon_loss == pytest.approx(2 / 5)


def test_of_equal_arrivals_the_first_ones_depart(tmp_path: Path) -> None:
    # Three arrive in one ms and one of them departs last: nothing is known of the two behind it.
    metrics = measured(
        tmp_path, "1 + 1504\n2 # 1504\n2 - 1504 1\n2 + 1504\n2 + 1504\n2 + 1504\n3 # 1504\n3 - 1504 1\n"
    )
    assert metrics.loss == 0


def test_loss_behind_the_link_multiplies(tmp_path: Path) -> None:
    # 1 - (1 - 1/4) x (1 - 0.2) = 0.4.
    metrics = measured(
        tmp_path,
        "1 + 1504\n2 # 1504\n2 - 1504 1\n2 + 1504\n3 + 1504\n4 + 1504\n"
        "6 # 1504\n6 - 1504 4\n7 # 1504\n7 - 1504 3\n",
        loss_probability=0.2,
    )
    assert metrics.loss == pytest.approx(0.4)


def test_background_and_handshakes_open_no_window(tmp_path: Path) -> None:
    # A background packet of 80 bytes and a handshake of 64 leave before data does at 1010 and 1020 ms.
    metrics = measured(
        tmp_path,
        "1 + 80\n2 # 1504\n2 - 80 1\n10 + 64\n11 # 1504\n11 - 64 1\n1000 + 1504\n1001 + 1504\n"
        "1010 # 1504\n1010 - 1504 10\n1020 # 1504\n1020 - 1504 19\n1030 + 57\n1040 # 1504\n1040 - 57 10\n",
    )
    assert metrics.duration_ms == 10
    assert metrics.throughput_mbps == pytest.approx(2 * 1500 * 8 / 10_000)


def test_window_ends_after_the_given_seconds() -> None:
    metrics = measure(evenly_sent(np.arange(1, 101)), 0, seconds=49)
    # Departures at 1 s .. 50 s: 50 packets in 49 s.
    assert metrics.duration_ms == 49_000
    assert metrics.throughput_mbps == pytest.approx(50 * 1500 * 8 / 49e6)


@pytest.mark.parametrize("events", ["", "1 + 1504\n", "1 + 1504\n2 # 1504\n2 - 1504 1\n"])
def test_no_flow_is_an_error(tmp_path: Path, events: str) -> None:
    with pytest.raises(ValueError, match="no flow to measure"):
        measured(tmp_path, events)


def test_departure_without_arrival_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="the departure at 9 ms has no arrival"):
        measured(tmp_path, "1 + 1504\n2 # 1504\n2 - 1504 1\n9 # 1504\n9 - 1504 3\n")


def test_trace_repeats_after_its_last_time() -> None:
    # Period 10: 0 3 3 10 | 10 13 13 20 | 20 ...
    trace_ms = np.array([0, 3, 3, 10], np.uint32)
    times = opportunities_through(_core.Schedule.trace(trace_ms), 20)
    assert opportunities_through(_core.Schedule.trace(trace_ms, once=True), 20).tolist() == [0, 3, 3, 10]
    assert times.tolist() == [0, 3, 3, 10, 10, 13, 13, 20, 20]


def test_run_of_the_twin_becomes_a_log() -> None:
    record = SimpleNamespace(
        unrecorded_bytes=0,
        arrival_ms=np.array([0, 1, 2], np.int32),
        arrival_bytes=np.full(3, 1468, np.int32),
        departure_ms=np.array([1, 2, 3], np.int32),
        departure_bytes=np.full(3, 1468, np.int32),
        departure_delay_ms=np.ones(3, np.int32),
        completion_ms=np.zeros(0),
    )
    log = LinkLog.from_record(record, _core.Schedule.constant(12))
    assert log.opportunity_ms.tolist() == [1, 2, 3]
    # 3 x 1464 IP bytes within 2 ms.
    assert measure(log, 30).throughput_mbps == pytest.approx(3 * 1464 * 8 / 2000)


@pytest.mark.parametrize(
    ("name", "arrivals", "drops", "loss"),
    # 5006 arrivals, 6 of them background, which lose nothing; nothing is in flight at the end.
    [
        ("droptail", 5006, 342, 342 / 5000),
        ("drophead", 5006, 206, 206 / 5000),
        ("codel", 5006, 450, 450 / 5000),
    ],
)
def test_real_logs(name: str, arrivals: int, drops: int, loss: float, tmp_path: Path) -> None:
    log = read_link_log(real_log(name, tmp_path))
    assert len(log.arrival_ms) == arrivals
    assert len(log.arrival_ms) - len(log.departure_ms) == drops
    assert measure(log.without_background(), 0).loss == pytest.approx(loss)
