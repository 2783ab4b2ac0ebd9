"""Ends of tunnels for tests: started, looked at, and what they leave behind."""

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from ccgym.envs.host.process_group import ProcessGroup
from ccgym.tests.processes import all_processes
from ccgym.tunnel.session import program

needs_tunnels = pytest.mark.skipif(
    not os.access("/dev/net/tun", os.R_OK | os.W_OK), reason="no access to /dev/net/tun"
)


@dataclass(frozen=True)
class LogLine:
    time_ms: float
    uid: int
    size: int


def read_log(file: Path) -> tuple[float, list[LogLine]]:
    """The wall clock at time 0 in ms, and every line; each must be whole."""
    head, *lines = file.read_text().splitlines()
    assert head.startswith("# '")
    packets = []
    for line in lines:
        match = re.fullmatch(r"(\d+\.\d{3}) - (\d+) - (\d+)", line)
        assert match, f"{file.name}: {line!r}"
        packets.append(LogLine(float(match[1]), int(match[2]), int(match[3])))
    return float(head.rsplit(":", 1)[1]), packets


def run_tunnel(*arguments: str, prefix: Sequence[str] = (), timeout_s: float = 20) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of a program that must end by itself."""
    done = subprocess.run(
        [*prefix, str(program()), *arguments],
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    return done.returncode, done.stdout, done.stderr


@contextmanager
def started(folder: Path, name: str, *arguments: str, prefix: Sequence[str] = ()) -> Iterator[ProcessGroup]:
    """An end in a process group of its own; nothing of it is left at the end."""
    with ProcessGroup([*prefix, str(program()), *arguments], folder, name) as group:
        yield group


def output(group: ProcessGroup, kind: str = "out") -> list[str]:
    return (group.folder / f"{group.name}.{kind}").read_text().splitlines()


def namespace_of(pid: int) -> str:
    return str(Path(f"/proc/{pid}/ns/net").readlink())


def processes_in(namespace: str) -> list[int]:
    """Who is in a network namespace; with nobody in it, it is gone, and its devices with it."""
    found = []
    for pid in all_processes():
        with suppress(OSError):  # it has just ended
            if namespace_of(pid) == namespace:
                found.append(pid)
    return found


@contextmanager
def small_disk(kilobytes: int) -> Iterator[Path]:
    """A file system of its own, of that size."""
    with tempfile.TemporaryDirectory(prefix="ccgym-small-") as folder:
        subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", folder], check=True, timeout=10
        )
        try:
            yield Path(folder)
        finally:
            subprocess.run(["umount", "--lazy", folder], check=True, timeout=10)
