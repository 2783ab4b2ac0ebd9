"""Reads files from outside, and writes files at places that users name: the only way in and out.

A pipe may never end, nor a device, and a few bytes of YAML can stand for gigabytes: what is read is a
regular file of a bounded size, as it is when it is opened, its structure of a bounded depth and weight, and
each key stands in it once.
What is written replaces a regular file or none, at once or not at all.
"""

import errno
import hashlib
import json
import os
import re
import secrets
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from io import BufferedReader
from pathlib import Path
from typing import Any, cast

import yaml

from .errors import InputError, excerpt, is_of_system

MOST_BYTES = 4 << 30
MOST_TEXT_BYTES = 4 << 20
"""Of YAML: a configuration, a group of emulators. A megabyte of comments alone takes a second to read."""
MOST_JSON_BYTES = 256 << 20
"""Of JSON: the description of an evaluation of many links."""
MOST_DEPTH = 32
MOST_NODES = 200_000
MOST_NUMBER_CHARACTERS = 100
"""Limits of YAML: depth, number of values (each alias counted as what it stands for), length of a number."""
MOST_JSON_NODES = 10_000_000
"""Largest number of values in JSON; each takes 100 bytes of memory at most."""
_FRESH = re.compile(r"\.ccgym-([1-9][0-9]{0,8})-.*")
"""A file that a process is writing, of which nobody knows yet."""


@contextmanager
def opened(path: Path, what: str, most_bytes: int = MOST_BYTES) -> Iterator[BufferedReader]:
    """A regular file, to be read in pieces; `what` is its name in messages, as "the trace".

    Raises:
        InputError: it cannot be read, is too large, or is no regular file.
        OSError: the system gives no more.
    """
    try:
        # A pipe without a writer would wait.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as stream:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise InputError(f"{excerpt(path)}: cannot read {what}: not a regular file")
            if status.st_size > most_bytes:
                raise InputError(f"{excerpt(path)}: {what} has more than {most_bytes >> 20} MB")
            yield stream
    except OSError as error:
        if is_of_system(error):
            raise
        raise InputError(f"{excerpt(path)}: cannot read {what}: {error.strerror}") from None
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{excerpt(path)}: cannot read {what}: {error}") from None  # a NUL in the path


def read_bytes(path: Path, what: str, most_bytes: int = MOST_BYTES) -> bytes:
    """The content of a regular file; see `opened`."""
    with opened(path, what, most_bytes) as stream:
        # No more than it had: another process may write faster than this one reads, and what the kernel
        # makes up under /proc has no size and no end.
        return stream.read(os.fstat(stream.fileno()).st_size)


def sha256_of(path: Path, what: str, most_bytes: int = MOST_BYTES) -> str:
    """The digest of a regular file, read in pieces; see `opened`."""
    with opened(path, what, most_bytes) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def read_yaml(path: Path, what: str) -> object:
    """The content of a YAML file.

    Raises:
        InputError: it cannot be read or is not YAML in UTF-8; names file, line, what is wrong.
    """
    try:
        text = read_bytes(path, what, MOST_TEXT_BYTES).decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{path}: not a text file; expected YAML in UTF-8") from None
    return parse_yaml(text, str(path))


def parse_yaml(text: str, where: str) -> object:
    """Parses YAML. Dates stay text, `1e-9` is a number.

    Raises:
        InputError: as `read_yaml`.
    """
    try:
        content: object = yaml.load(text, _Loader)  # a SafeLoader
    except yaml.MarkedYAMLError as error:
        line = f":{error.problem_mark.line + 1}" if error.problem_mark else ""
        raise InputError(f"{where}{line}: not valid YAML: {excerpt(error.problem)}") from None
    except (
        yaml.YAMLError,
        ValueError,
        AttributeError,
        TypeError,
        KeyError,
        IndexError,
        OverflowError,
    ) as error:  # of scalars with a forced tag
        raise InputError(f"{where}: not valid YAML: {excerpt(str(error).partition(chr(10))[0])}") from None
    return content


def read_json(path: Path, what: str, most_bytes: int = MOST_JSON_BYTES) -> object:
    """The content of a JSON file.

    Raises:
        InputError: it cannot be read or is not JSON.
    """
    try:
        return parse_json(read_bytes(path, what, most_bytes))
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{excerpt(path)}: {what}: not a readable JSON file: {excerpt(error)}") from None


def parse_json(text: bytes) -> object:
    """Parses JSON.

    Raises:
        ValueError: it is not JSON in UTF-8, too deep or too much.
    """
    if sum(map(text.count, (b",", b"[", b"{"))) > MOST_JSON_NODES:  # before they take memory
        raise ValueError(f"more than {MOST_JSON_NODES} values")
    try:
        content: object = json.loads(text, object_pairs_hook=_object_of)
    except RecursionError:
        raise ValueError(f"nested deeper than {MOST_DEPTH}") from None
    level = [content]
    for _ in range(MOST_DEPTH):
        level = [value for each in level for value in _values_in(each)]
        if not level:
            return content
    raise ValueError(f"nested deeper than {MOST_DEPTH}")


def _object_of(pairs: list[tuple[str, object]]) -> dict[str, object]:
    content: dict[str, object] = {}
    for key, value in pairs:
        if key in content:
            raise ValueError(f"the key {excerpt(key)} stands twice")
        content[key] = value
    return content


def _values_in(value: object) -> Iterable[object]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


class _Loader(yaml.SafeLoader):
    """Safe in what it makes of a text, and in how much."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._depth = self._nodes = 0
        self._weights: dict[str, int] = {}

    def compose_node(self, parent: yaml.Node | None, index: Any) -> yaml.Node | None:
        event: Any = self.peek_event()  # type: ignore[no-untyped-call]
        before, self._nodes = self._nodes, self._nodes + 1
        if isinstance(event, yaml.AliasEvent):
            if event.anchor in self.anchors and event.anchor not in self._weights:
                self._refuse(event, "an alias within what it stands for")
            self._nodes += self._weights.get(str(event.anchor), 0)
        if self._depth >= MOST_DEPTH:
            self._refuse(event, f"nested deeper than {MOST_DEPTH}")
        if self._nodes > MOST_NODES:
            self._refuse(event, f"more than {MOST_NODES} values")
        self._depth += 1
        node = super().compose_node(parent, index)
        self._depth -= 1
        if not isinstance(event, yaml.AliasEvent) and event.anchor is not None:
            self._weights[event.anchor] = self._nodes - before
        return node

    def construct_scalar(self, node: yaml.ScalarNode | yaml.MappingNode) -> Any:
        if node.tag in (_INT, _FLOAT) and len(node.value) > MOST_NUMBER_CHARACTERS:
            raise yaml.constructor.ConstructorError(
                None, None, f"a number of more than {MOST_NUMBER_CHARACTERS} characters", node.start_mark
            )
        return super().construct_scalar(node)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and (key.tag, key.value) in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {excerpt(key.value)} stands twice", key.start_mark
                )
            seen.add((key.tag, key.value))
        return super().construct_mapping(node, deep)

    def _refuse(self, event: yaml.Event, problem: str) -> None:
        raise yaml.composer.ComposerError(None, None, problem, cast("yaml.Mark", event.start_mark))


_TIMESTAMP = "tag:yaml.org,2002:timestamp"
_FLOAT = "tag:yaml.org,2002:float"
_INT = "tag:yaml.org,2002:int"
_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != _TIMESTAMP]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver(
    _FLOAT, re.compile(r"[-+]?[0-9]+(\.[0-9]*)?[eE][-+]?[0-9]+"), list("-+0123456789")
)


def check_replaceable(path: Path) -> None:
    """Raises InputError when what stands there is no regular file, or it is in no folder that can be written.

    A device, a pipe, a link and a folder are none.
    """
    folder = path.absolute().parent
    try:
        if not folder.is_dir():
            raise InputError(f"{excerpt(path)}: cannot be written: there is no folder {excerpt(folder)}")
        if not os.access(folder, os.W_OK | os.X_OK):
            raise InputError(f"{excerpt(path)}: cannot be written: {os.strerror(errno.EACCES)}")
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return
    except InputError:
        raise
    except (OSError, ValueError) as error:
        raise InputError(f"{excerpt(path)}: cannot be written: {_reason(error)}") from None
    if not stat.S_ISREG(mode):
        kind = "a folder" if stat.S_ISDIR(mode) else "no regular file"
        raise InputError(f"{excerpt(path)}: cannot be written: is {kind}")


def replace_file(path: Path, write: Callable[[Path], object]) -> None:
    """Lets `write` make a new file, which then takes the place of `path`, at once or not at all.

    Raises:
        InputError: it cannot be written there.
        OSError: the disk is full, or another lack of the system; names `path`.
    """
    check_replaceable(path)
    try:
        _remove_abandoned(path.parent)
        with _fresh_file(path.parent) as fresh:
            write(fresh)
            fresh.chmod(0o644)
            fresh.replace(path)
    except OSError as error:
        if is_of_system(error):
            raise OSError(error.errno, error.strerror, str(path)) from None
        raise InputError(f"{excerpt(path)}: cannot be written: {_reason(error)}") from None


@contextmanager
def _fresh_file(folder: Path) -> Iterator[Path]:
    """Its name says which process writes it; several may write the same file at once."""
    fresh = folder / f".ccgym-{os.getpid()}-{secrets.token_hex(4)}"
    try:
        yield fresh
    finally:
        with suppress(OSError):  # not there, or not to be removed: why is told already
            fresh.unlink()


def _remove_abandoned(folder: Path) -> None:
    """Unfinished files that killed processes have left here."""
    for file in folder.iterdir():
        writer = _FRESH.fullmatch(file.name)
        if writer and not _is_alive(int(writer[1])):
            with suppress(OSError):
                file.unlink()


@cache
def _remove_abandoned_once(folder: Path) -> None:
    """At the first file that this process writes there: a folder may hold a hundred thousand."""
    _remove_abandoned(folder)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # another user's
        return True
    return True


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Errors of what is written into `path` name it: the system names a file when it opens it, no longer."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = str(path)
        raise


@contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """A file of ours to be written anew, which then takes the place of `path`; half of one does not stay.

    Raises:
        OSError: it cannot be written, as on a full disk or where a folder stands; names `path`.
    """
    with naming(path):
        _remove_abandoned_once(path.absolute().parent)
        with _fresh_file(path.parent) as fresh:
            try:
                yield fresh
                fresh.replace(path)
            except OSError as error:
                if str(error.filename) == str(fresh):  # a name that its user does not know
                    raise OSError(error.errno, error.strerror, str(path)) from None
                raise


def make_folder(folder: Path) -> None:
    """Makes a folder and those above it, if they are not there.

    Raises:
        InputError: it cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        if is_of_system(error):
            raise
        raise InputError(f"{excerpt(folder)}: cannot be made: {_reason(error)}") from None


def absolute(path: Path) -> Path:
    """The same place from anywhere, links followed. Unlike `Path.resolve`, also of links in a circle."""
    return Path(os.path.realpath(path))


def _reason(error: OSError | ValueError) -> str:
    return str((error.strerror if isinstance(error, OSError) else None) or error)
