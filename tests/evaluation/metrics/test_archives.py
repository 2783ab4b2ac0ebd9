"""Pantheon's archives, whole and half: what is left is reported, what is not is named."""

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ccgym.envs.errors import InputError
from ccgym.envs.logs.link_log import LinkLog
from ccgym.evaluation.metrics.results import Scenario, load_evaluation
from ccgym.evaluation.report.publish import publish
from ccgym.evaluation.run_files import write_merged_log

METADATA = {
    "mode": "local",
    "cc_schemes": ["bbr", "cubic"],
    "flows": 1,
    "interval": 0,
    "run_times": 1,
    "start_run_id": 1,
    "runtime": 4,
    "prepend_mm_cmds": "mm-delay 10",
    "uplink_trace": "12mbps.trace",
    "downlink_trace": "12mbps.trace",
}
LINK_LOG = """# mahimahi mm-link (uplink) [12mbps.trace] > mine.log
# command line: mm-link 12mbps.trace 12mbps.trace
# queue: infinite
# init timestamp: 1000
# base timestamp: 0
"""


def flow(begin_ms: int = 0, end_ms: int = 4000, wait_ms: int = 1) -> LinkLog:
    """A packet of 1500 IP bytes every 2 ms: 6 Mbit/s."""
    times = np.arange(begin_ms, end_ms, 2, dtype=np.int32)
    sizes = np.full(len(times), 1504, np.int32)
    waits = np.full(len(times), wait_ms, np.int32)
    return LinkLog(times, sizes, times + wait_ms, sizes, waits, np.arange(4000, dtype=np.int32))


def archive(folder: Path, **changed: Any) -> Path:
    """BBR and Cubic, one run each."""
    folder.mkdir()
    (folder / "pantheon_metadata.json").write_text(json.dumps(METADATA | changed))
    for scheme in ("bbr", "cubic"):
        write_merged_log(folder / f"{scheme}_datalink_run1.log", [flow()], 10, 1000)
    return folder


def scenario(folder: Path) -> Scenario:
    (only,) = load_evaluation(folder).scenarios
    return only


def test_a_whole_archive_has_no_remarks(tmp_path: Path) -> None:
    read = scenario(archive(tmp_path / "a"))
    assert [run.scheme for run in read.runs] == ["bbr", "cubic"]
    assert (read.failures, read.remarks) == ([], [])
    assert read.runs[0].total.throughput_mbps == pytest.approx(6, rel=0.01)
    assert read.description == "mm-delay 10 mm-link 12mbps.trace 12mbps.trace"


def test_without_tunnel_logs_the_link_logs_are_measured(tmp_path: Path) -> None:
    folder = archive(tmp_path / "a", flows=0, cc_schemes=["bbr"])
    for log in folder.glob("*.log"):
        log.unlink()
    lines = [f"{ms} + 1504\n{ms} # 1504\n{ms + 1} - 1504 1\n" for ms in range(0, 4000, 2)]
    (folder / "bbr_mm_datalink_run1.log").write_text(LINK_LOG + "".join(lines))
    read = scenario(folder)
    assert [run.total.throughput_mbps for run in read.runs] == pytest.approx([6], rel=0.01)
    assert read.failures == []
    assert "measured in mm-link's logs" in read.remarks[0]
    publish(folder)


def test_a_directory_without_runs_is_told_in_one_line(tmp_path: Path) -> None:
    folder = archive(tmp_path / "a")
    for log in folder.glob("*.log"):
        log.unlink()
    with pytest.raises(InputError, match=r"can be read: bbr run 1: bbr_datalink_run1.log is missing"):
        load_evaluation(folder)
    (folder / "pantheon_metadata.json").write_text("{}")
    with pytest.raises(InputError, match=r"holds no run: SCHEME_datalink_run1.log is missing"):
        load_evaluation(folder)


def test_a_missing_log_is_a_failed_run(tmp_path: Path) -> None:
    folder = archive(tmp_path / "a", cc_schemes=["bbr", "copa", "cubic"], run_times=2)
    summary = publish(folder)
    assert [(each["scheme"], each["run"]) for each in summary["failures"]] == [
        ("bbr", 2),
        ("copa", 1),
        ("copa", 2),
        ("cubic", 2),
    ]
    assert summary["failures"][1]["reason"] == "copa_datalink_run1.log is missing"
    assert "copa_datalink_run1.log is missing" in (folder / "report.html").read_text()


def test_a_log_that_is_cut_is_read_up_to_there(tmp_path: Path) -> None:
    folder = archive(tmp_path / "a")
    log = folder / "bbr_datalink_run1.log"
    text = log.read_text()
    log.write_text(text[: text.index("\n3000.000 +") + 12])
    read = scenario(folder)
    assert read.remarks == [
        "bbr run 1: the log is cut in mid-line: read up to its last whole line",
        "bbr run 1: lasted 3.0 s of 4 s: Pantheon's own analysis leaves it out",
    ]
    assert read.runs[0].total.throughput_mbps == pytest.approx(6, rel=0.01)


def test_a_broken_log_costs_its_own_run_only(tmp_path: Path) -> None:
    folder = archive(tmp_path / "a")
    log = folder / "bbr_datalink_run1.log"
    log.write_text(log.read_text().replace("3000.000 +", "oops"))
    read = scenario(folder)
    assert [run.scheme for run in read.runs] == ["cubic"]
    assert read.failures[0].scheme == "bbr"
    assert "'oops 1500 1'" in read.failures[0].reason


def test_a_clock_that_ran_backwards_is_named(tmp_path: Path) -> None:
    folder = archive(tmp_path / "a")
    log = folder / "bbr_datalink_run1.log"
    log.write_text(log.read_text().replace("2000.000 # 1500\n", "1950.000 # 1500\n", 1))
    read = scenario(folder)
    (remark,) = read.remarks
    assert "the clock ran backwards: 1 line is earlier than the one before, by up to 50 ms" in remark
    assert read.runs[0].total.throughput_mbps == pytest.approx(6, rel=0.01)


def test_a_negative_delay_of_clocks_that_differ_fails_the_run(tmp_path: Path) -> None:
    folder = archive(tmp_path / "a")
    write_merged_log(folder / "bbr_datalink_run1.log", [flow(wait_ms=-30)], 10, 1000)
    read = scenario(folder)
    assert [run.scheme for run in read.runs] == ["cubic"]
    assert "6.00 Mbit/s came through, but their p95 one-way delay is -20.0 ms" in read.failures[0].reason


def test_a_flow_without_packets_is_named_and_the_others_are_reported(tmp_path: Path) -> None:
    folder = archive(tmp_path / "a", flows=3, interval=1)
    nothing = flow(end_ms=0)
    for scheme in ("bbr", "cubic"):
        write_merged_log(folder / f"{scheme}_datalink_run1.log", [flow(), nothing, flow(2000)], 10, 1000)
    read = scenario(folder)
    assert [each.flow for each in read.runs[0].flows] == [1, 3]
    assert read.remarks == ["bbr run 1: flow 2 has no packets", "cubic run 1: flow 2 has no packets"]
    assert publish(folder)["scenarios"][0]["schemes"][1]["flow"] == 3


def test_without_metadata_the_logs_are_reported(tmp_path: Path) -> None:
    folder = archive(tmp_path / "a")
    (folder / "pantheon_metadata.json").write_text('{"cc_sch')
    read = scenario(folder)
    assert len(read.runs) == 2
    assert "path, length and number of flows are unknown" in read.remarks[0]


def test_loss_excludes_packets_in_flight_at_the_end_and_pantheon_loss_includes_them(tmp_path: Path) -> None:
    folder = archive(tmp_path / "a")
    sent = flow(end_ms=4400)  # the last 200 packets are in flight at the end
    received = flow()
    cut = LinkLog(
        sent.arrival_ms,
        sent.arrival_bytes,
        received.departure_ms,
        received.departure_bytes,
        received.departure_delay_ms,
        received.opportunity_ms,
    )
    write_merged_log(folder / "bbr_datalink_run1.log", [cut], 10, 1000)
    entry = publish(folder)["scenarios"][0]["schemes"][0]
    assert entry["loss"] == 0
    assert entry["pantheon_loss"] == pytest.approx(1 - 2000 / 2200)


@pytest.mark.parametrize(
    "schemes", [[f"s{number}" for number in range(50_000)], ["bbr", 3], ["a" * 201], {"bbr": 1}, [""]]
)
def test_schemes_that_cannot_all_have_run_are_unknown(tmp_path: Path, schemes: Any) -> None:
    read = scenario(archive(tmp_path / "a", cc_schemes=schemes, run_times=10_000))
    assert (len(read.runs), read.failures) == (2, [])
    assert "which runs are missing is unknown" in read.remarks[0]


def test_a_reason_that_cannot_be_read_costs_its_own_run_only(tmp_path: Path) -> None:
    folder = archive(tmp_path / "a")
    os.mkfifo(folder / "copa_failure_run1.log")
    read = scenario(folder)
    assert len(read.runs) == 2
    assert read.failures[0].reason.endswith("cannot read the reason of a failure: not a regular file")
