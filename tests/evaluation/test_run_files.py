"""Pantheon's files of a run: names, the merged log, broken ones."""

import re
from pathlib import Path

import numpy as np
import pytest
from ccgym.envs.errors import InputError
from ccgym.envs.logs.link_log import LinkLog
from ccgym.evaluation.run_files import (
    RunFiles,
    read_merged_log,
    recorded_failures,
    recorded_runs,
    replaced_text,
    write_merged_log,
)
from ccgym.tests.full_disk import no_file_longer_than


def small_log() -> LinkLog:
    """Two packets of 1500 IP bytes; the second waits 7 ms."""
    return LinkLog(
        arrival_ms=np.array([10, 11], np.int32),
        arrival_bytes=np.array([1504, 1504], np.int32),
        departure_ms=np.array([11, 18], np.int32),
        departure_bytes=np.array([1504, 1504], np.int32),
        departure_delay_ms=np.array([1, 7], np.int32),
        opportunity_ms=np.array([11, 18], np.int32),
    )


def test_merged_log_is_pantheons(tmp_path: Path) -> None:
    path = tmp_path / "cubic_datalink_run1.log"
    write_merged_log(path, [small_log()], 30, 1795218406566.25)
    # A departure reaches the receiver 30 ms after it left the link, delayed by 30 ms more; 4 bytes go.
    assert path.read_text() == (
        "# init timestamp: 1795218406566.250\n"
        "10.000 + 1500 1\n11.000 + 1500 1\n11.000 # 1500\n18.000 # 1500\n"
        "41.000 - 1500 31.000 1\n48.000 - 1500 37.000 1\n"
    )


def test_merged_log_reads_back(tmp_path: Path) -> None:
    path = tmp_path / "log"
    write_merged_log(path, [small_log()], 30, 0)
    flows = read_merged_log(path).flows
    assert list(flows) == [1]
    assert flows[1].arrival_ms.tolist() == [10, 11]
    assert flows[1].departure_ms.tolist() == [41, 48]
    assert flows[1].departure_delay_ms.tolist() == [31, 37]
    assert flows[1].departure_bytes.tolist() == [1500, 1500]
    assert flows[1].opportunity_ms.tolist() == [11, 18]
    assert flows[1].header_bytes == 0


def test_flows_are_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text(
        "# init timestamp: 0.000\n0.125 + 1500 1\n0.250 + 700 2\n1.125 - 1500 1.000 1\n2.500 - 700 -0.250 2\n"
    )
    flows = read_merged_log(path).flows
    assert flows[1].departure_ms.tolist() == [1.125]
    assert flows[2].arrival_bytes.tolist() == [700]
    # Clocks of two hosts that differ make negative delays.
    assert flows[2].departure_delay_ms.tolist() == [-0.25]


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("1.000 + 1500", "too few or too many fields"),
        ("1.000 - 1500 1.000", "too few or too many fields"),
        ("1.00 + 1500 1", "not the number it should be"),
        ("1 + 1500 1", "not the number it should be"),
        ("1.000 d 1 1500", "has none of # + -"),
    ],
)
def test_broken_line_is_named(tmp_path: Path, line: str, wrong: str) -> None:
    path = tmp_path / "log"
    path.write_text(f"# init timestamp: 0.000\n0.000 # 1500\n{line}\n2.000 # 1500\n")
    with pytest.raises(InputError, match=re.escape(wrong)) as error:
        read_merged_log(path)
    assert str(error.value).startswith(f"{path}:3: ")


def test_no_merged_log_is_named(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("1.000 # 1500\n")
    with pytest.raises(InputError, match="log:1: expected '# init timestamp: MS'"):
        read_merged_log(path)


def test_runs_and_failures_of_a_folder(tmp_path: Path) -> None:
    for name in (
        "kernel-bbr_datalink_run2.log",
        "kernel-bbr_datalink_run10.log",
        "kernel-bbr_mm_datalink_run2.log",
        "a_b_acklink_run1.log",
        "a_b_datalink_run1.log",
        "copa_failure_run3.log",
        "copa_mm_datalink_run3.log",
        "pantheon_metadata.json",
    ):
        (tmp_path / name).touch()
    assert recorded_runs(tmp_path) == [
        RunFiles(tmp_path, "a_b", 1),
        RunFiles(tmp_path, "kernel-bbr", 2),
        RunFiles(tmp_path, "kernel-bbr", 10),
    ]
    assert recorded_failures(tmp_path) == [RunFiles(tmp_path, "copa", 3)]


def test_what_finds_no_room_names_the_file_and_leaves_the_former_one(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    with (
        no_file_longer_than(4096),
        pytest.raises(OSError, match="file") as full,
        replaced_text(path) as stream,
    ):
        stream.write("new" * 4096)
    assert full.value.filename == str(path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(ZeroDivisionError), replaced_text(path) as stream:
        print("half", 1 / 0, file=stream)
    assert path.read_text() == "old"
    with replaced_text(path) as stream:
        stream.write("new")
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]
