"""What comes from outside and what goes there: no pipe hangs, no device is replaced."""

import multiprocessing
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from ccgym.envs.errors import InputError, did_you_mean, excerpt, is_disk_full
from ccgym.envs.host.folder_lock import folder_lock
from ccgym.envs.outside_files import (
    absolute,
    make_folder,
    parse_yaml,
    read_bytes,
    read_json,
    read_yaml,
    replace_file,
    replaced,
)
from ccgym.tests.processes import MOST_SECONDS

BOMB = "a0: &a0 [1,1,1,1,1,1,1,1,1,1]\n" + "".join(
    f"a{i}: &a{i} [{','.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 9)
)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (BOMB, "t:6: not valid YAML: more than 200000 values"),
        ("[" * 5000, "t:1: not valid YAML: nested deeper than 32"),
        ("a: &a [*a]", "t:1: not valid YAML: an alias within what it stands for"),
        ("a: 1\nb: 2\na: 3", "t:3: not valid YAML: the key a stands twice"),
        ("a: !!int abc", "t: not valid YAML: invalid literal for int"),
        ("a: " + "9" * 5000, "t:1: not valid YAML: a number of more than 100 characters"),
        ("a: 1" + ":59" * 100_000, "t:1: not valid YAML: a number of more than 100 characters"),
        ("a: 0x" + "f" * 4000, "t:1: not valid YAML: a number of more than 100 characters"),
        ("a: !!int ''", "t: not valid YAML: "),
        ("a: !!float ''", "t: not valid YAML: "),
        ("a: !!timestamp x", "t: not valid YAML: "),
        ("a: !!bool maybe", "t: not valid YAML: "),
        ("? [a]\n: 1", "t: not valid YAML: unhashable"),
        ("!!python/object:os.system x", "t:1: not valid YAML: could not determine a constructor"),
        ("a: \x00", "t: not valid YAML: unacceptable character"),
    ],
)
def test_yaml_that_is_more_than_it_looks_is_refused(text: str, what: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_yaml(text, "t")
    assert str(caught.value).startswith(what)
    assert len(str(caught.value)) < 200
    assert str(caught.value).isprintable()


def test_yaml_is_read_as_people_write_it() -> None:
    text = "{a: 1e-9, b: 2020-01-01, c: &c {x: 1}, d: *c, e: {<<: *c, y: 2}, f: 1_000, g: 2E3}"
    assert parse_yaml(text, "t") == {
        "a": 1e-9, "b": "2020-01-01", "c": {"x": 1}, "d": {"x": 1}, "e": {"x": 1, "y": 2}, "f": 1000, "g": 2e3
    }  # fmt: skip


@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "missing", "NUL", "long", "loop"])
def test_what_is_no_regular_file_is_refused_at_once(tmp_path: Path, kind: str) -> None:
    path = tmp_path / kind
    match kind:
        case "pipe":
            os.mkfifo(path)
        case "device":
            path = Path("/dev/zero")
        case "folder":
            path.mkdir()
        case "NUL":
            path = tmp_path / "a\0b"
        case "long":
            path = tmp_path / ("x" * 5000)
        case "loop":
            path.symlink_to(path)
    for read in (read_yaml, read_json, read_bytes):
        with pytest.raises(InputError, match="cannot read the thing: ") as caught:
            read(path, "the thing")
        assert len(str(caught.value)) < 200
        assert str(caught.value).isprintable()


def test_a_file_beyond_its_bound_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "large"
    with path.open("wb") as stream:
        stream.truncate(5 << 20)
    with pytest.raises(InputError, match="the config has more than 4 MB"):
        read_yaml(path, "the config")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[" * 100_000, ""),
        ("{", ""),
        ("\udc80", ""),
        ("9" * 5000, ""),
        ("[" * 33 + "]" * 33, "nested deeper than 32"),
        ('{"a": [{"b": 1, "c": 2, "b": 3}]}', "the key b stands twice"),
        ("[" + "0," * 10_000_000 + "0]", "more than 10000000 values"),
    ],
)
def test_json_that_is_none_is_refused(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(InputError, match=f"the session: not a readable JSON file: {why}"):
        read_json(path, "the session")


def test_a_file_is_read_as_large_as_it_was_when_it_was_opened() -> None:
    # It has no size, whatever it tells; who reads on in /proc/self/pagemap, its neighbour, gets 2^38 bytes.
    assert read_bytes(Path("/proc/self/environ"), "the thing") == b""


@pytest.mark.parametrize("kind", ["pipe", "link", "folder", "under a file", "loop", "missing folder"])
def test_only_regular_files_are_replaced(tmp_path: Path, kind: str) -> None:
    path, other = tmp_path / "out", tmp_path / "other"
    other.write_text("kept")
    match kind:
        case "pipe":
            os.mkfifo(path)
        case "link":
            path.symlink_to(other)
        case "folder":
            path.mkdir()
        case "under a file":
            path = other / "out"
        case "loop":
            path.symlink_to(path)
        case "missing folder":
            path = tmp_path / "none" / "out"
    with pytest.raises(InputError, match="cannot be written"):
        replace_file(path, lambda fresh: fresh.write_text("new"))
    assert other.read_text() == "kept"
    assert not [left for left in tmp_path.iterdir() if left.name.startswith(".")]


def test_a_full_disk_is_no_mistake_in_the_input(tmp_path: Path) -> None:
    def fill(fresh: Path) -> None:
        fresh.symlink_to("/dev/full")
        fresh.write_text("more than there is room for")

    path = tmp_path / "out"
    with pytest.raises(OSError, match="No space left on device") as caught:
        replace_file(path, fill)
    assert is_disk_full(caught.value)
    assert caught.value.filename == str(path)
    assert list(tmp_path.iterdir()) == []


@contextmanager
def no_file_more() -> Iterator[None]:
    """As under `ulimit -n`."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_that_the_system_gives_no_more_files_is_no_mistake_in_the_input(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("a: 1")
    works: tuple[Callable[[], object], ...] = (
        lambda: read_yaml(file, "the file"),
        lambda: replace_file(file, lambda fresh: fresh.write_text("other")),
        lambda: folder_lock(tmp_path).__enter__(),
    )
    for work in works:
        with no_file_more(), pytest.raises(OSError, match="Too many open files") as caught:
            work()
        assert not isinstance(caught.value, InputError)
    assert file.read_text() == "a: 1"


def test_two_may_write_the_same_file_at_once(tmp_path: Path) -> None:
    file = tmp_path / "file"
    with replaced(file) as first:
        first.write_text("first")
        with replaced(file) as second:
            second.write_text("second")
        assert file.read_text() == "second"
    assert file.read_text() == "first"
    assert list(tmp_path.iterdir()) == [file]


def test_what_a_killed_process_has_left_of_a_file_goes(tmp_path: Path) -> None:
    killing = (
        "import os; from pathlib import Path; from ccgym.envs.outside_files import replaced\n"
        f"with replaced(Path({str(tmp_path)!r}, 'file')) as fresh: fresh.touch(); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", killing], check=False, timeout=MOST_SECONDS)
    assert len(list(tmp_path.iterdir())) == 1
    with replaced(tmp_path / "file") as fresh:
        fresh.write_text("whole")
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]


def test_what_cannot_be_written_is_named_as_its_user_knows_it(tmp_path: Path) -> None:
    path = tmp_path / "page"
    with pytest.raises(FileNotFoundError) as unwritten, replaced(path) as fresh:
        fresh.read_text()
    path.mkdir()
    with pytest.raises(IsADirectoryError) as in_the_way, replaced(path) as fresh:
        fresh.touch()
    assert [error.value.filename for error in (unwritten, in_the_way)] == 2 * [str(path)]


def test_a_regular_file_is_replaced_at_once_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "out"
    replace_file(path, lambda fresh: fresh.write_text("first"))
    replace_file(path, lambda fresh: fresh.write_text("second"))
    assert path.read_text() == "second"

    def fail(fresh: Path) -> None:
        fresh.write_text("half")
        raise RuntimeError

    with pytest.raises(RuntimeError):
        replace_file(path, fail)
    assert path.read_text() == "second"
    assert [left.name for left in tmp_path.iterdir()] == ["out"]


def test_messages_quote_a_little_of_what_was_given() -> None:
    assert excerpt("x" * 1000) == "x" * 77 + "..."
    assert excerpt("a\nb\x1b[31m") == "a\\nb\\x1b[31m"
    assert did_you_mean("calibrated/idnia", ["calibrated/india", "all"]) == ", did you mean calibrated/india?"
    assert not did_you_mean("zzz", ["calibrated/india"])


def test_links_in_a_circle_are_a_place_like_any_other(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    assert absolute(loop).name == "loop"
    assert absolute(tmp_path / "there" / ".." / "here") == tmp_path.resolve() / "here"


@pytest.mark.parametrize("where", ["/proc/nope", "/dev/null/under", "\0"])
def test_a_folder_that_cannot_be_made_is_one_line(where: str) -> None:
    with pytest.raises(InputError, match="cannot be made"):
        make_folder(Path(where))


def test_what_a_killed_process_has_left_goes_with_the_next_file_written(tmp_path: Path) -> None:
    def hang(fresh: Path) -> None:
        fresh.write_text("half")
        os.kill(os.getpid(), signal.SIGKILL)

    writer = multiprocessing.get_context("fork").Process(target=replace_file, args=(tmp_path / "out", hang))
    writer.start()
    writer.join(MOST_SECONDS)
    assert len(list(tmp_path.iterdir())) == 1  # nobody could have removed it
    replace_file(tmp_path / "other", lambda fresh: fresh.write_text("whole"))
    assert [left.name for left in tmp_path.iterdir()] == ["other"]


def test_a_file_that_another_process_writes_stays(tmp_path: Path) -> None:
    def write(fresh: Path) -> None:
        other = multiprocessing.get_context("fork").Process(
            target=replace_file, args=(tmp_path / "other", lambda theirs: theirs.write_text("theirs"))
        )
        other.start()
        other.join(MOST_SECONDS)
        fresh.write_text("ours")

    replace_file(tmp_path / "out", write)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"out": "ours", "other": "theirs"}
