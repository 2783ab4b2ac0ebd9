"""Trace files of mahimahi: what is read, what is refused and how it is said."""

import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from ccgym.envs.errors import InputError
from ccgym.envs.specs.schedules import trace_schedule
from ccgym.envs.specs.traces import read_trace, write_trace
from hypothesis import given
from hypothesis import strategies as st


def written(folder: Path, content: bytes) -> Path:
    path = folder / "link.trace"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("content", "times_ms"),
    [
        (b"1\n", [1]),
        (b"0\n3\n3\n10\n", [0, 3, 3, 10]),
        (b"0\n5", [0, 5]),  # the last line may lack its newline
        (b"  7\n\t9\n", [7, 9]),  # blanks in front are tolerated
        (b"4294967295\n", [4294967295]),
        (b"0" * 40 + b"7\n9\n", [7, 9]),
    ],
)
def test_reads_what_mahimahi_reads(tmp_path: Path, content: bytes, times_ms: list[int]) -> None:
    trace = read_trace(written(tmp_path, content))
    assert trace.dtype == np.uint32
    assert trace.tolist() == times_ms


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "{path}: the trace is empty; it needs one time in ms per line"),
        (b"\n", "{path}:1: the line is empty; it must be a whole number of ms from 0 to 4294967295"),
        (b"1\n\n2\n", "{path}:2: the line is empty; it must be a whole number of ms from 0 to 4294967295"),
        (b"5\n4\n", "{path}:2: 4 is before 5; times must not decrease"),
        (b"0\n0\n", "{path}:2: the trace lasts 0 ms; its last time must be at least 1"),
        (b"1\n2 \n", "{path}:2: '2 ' is not a whole number of ms from 0 to 4294967295"),
        (b"1\r\n", "{path}:1: '1\\r' is not a whole number of ms from 0 to 4294967295"),
        (b"-1\n", "{path}:1: '-1' is not a whole number of ms from 0 to 4294967295"),
        (b"1.5\n", "{path}:1: '1.5' is not a whole number of ms from 0 to 4294967295"),
        (b"4294967296\n", "{path}:1: '4294967296' is not a whole number of ms from 0 to 4294967295"),
        (b"\x00\xff\n", "{path}:1: '\\x00\\\\xff' is not a whole number of ms from 0 to 4294967295"),
    ],
)
def test_says_in_one_line_where_a_trace_is_broken(tmp_path: Path, content: bytes, message: str) -> None:
    path = written(tmp_path, content)
    with pytest.raises(InputError) as caught:
        read_trace(path)
    assert str(caught.value) == message.replace("{path}", str(path))


def test_names_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nowhere\.trace: cannot read the trace: No such file"):
        read_trace(tmp_path / "nowhere.trace")


@given(
    times_ms=st.lists(st.integers(0, 2**32 - 1), min_size=1).map(sorted).filter(lambda times: times[-1] > 0)
)
def test_what_is_written_is_read_back(tmp_path_factory: pytest.TempPathFactory, times_ms: list[int]) -> None:
    path = tmp_path_factory.mktemp("traces") / "link.trace"
    write_trace(path, np.array(times_ms, dtype=np.uint32))
    assert read_trace(path).tolist() == times_ms


def test_a_long_trace_takes_little_more_memory_than_its_times(tmp_path: Path) -> None:
    path = written(tmp_path, b"".join(b"%d\n" % ms for ms in range(1, 500_001)))
    tracemalloc.start()
    assert read_trace(path).tolist()[-1] == 500_000  # a list of 20 MB
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak_bytes < 40 << 20


def test_names_the_line_that_is_broken_far_into_a_long_trace(tmp_path: Path) -> None:
    times = [b"%d\n" % ms for ms in range(1, 500_001)]
    path = written(tmp_path, b"".join([*times[:400_000], b"x\n", *times[400_000:]]))
    with pytest.raises(InputError, match=":400001: 'x' is not a whole number"):
        read_trace(path)
    path = written(tmp_path, b"".join([*times, b"5\n"]))
    with pytest.raises(InputError, match=":500001: 5 is before 500000"):
        read_trace(path)


def test_a_rate_that_nothing_can_run_is_refused(tmp_path: Path) -> None:
    (tmp_path / "us.trace").write_text("1\n" * 1_000_000)
    with pytest.raises(InputError, match=r"us.trace: the trace has 1.2e\+07 Mbit/s in the mean, more than"):
        trace_schedule(tmp_path / "us.trace")


@pytest.mark.parametrize("times_ms", [[], [0], [3, 2], [-1, 2]])
def test_writes_no_trace_that_mahimahi_would_refuse(tmp_path: Path, times_ms: list[int]) -> None:
    path = written(tmp_path, b"1\n")
    with pytest.raises(InputError, match="never decrease, the last of them at least 1 ms"):
        write_trace(path, np.array(times_ms))
    assert path.read_bytes() == b"1\n"


def test_a_write_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    with pytest.raises(InputError, match="taken: cannot be written: is a folder"):
        write_trace(tmp_path / "taken", np.array([1], dtype=np.uint32))
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]
