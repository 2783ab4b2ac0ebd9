"""Starts the endpoint programs for tests: every one with a time-out, every one ended by its id."""

import json
import os
import random
import signal
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ccgym.tests.processes import wait_until

PROGRAMS = Path(__file__).resolve().parents[2] / "deploy" / "bin"
SENDER, RECEIVER = str(PROGRAMS / "ccgym-sender"), str(PROGRAMS / "ccgym-receiver")


def free_port() -> int:
    """A UDP port nobody uses now, on IPv4 and IPv6.

    The kernel gives it to nobody who binds to any port: no other test gets it before it is used.
    """
    first_of_kernel = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    while True:
        port = random.SystemRandom().randrange(2000, max(first_of_kernel, 10_000))
        with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as probe, suppress(OSError):
            probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
            probe.bind(("::", port))
            return port


def is_gone(group: int) -> bool:
    """Whether no process of the group runs any more."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return True
    return False


@contextmanager
def running(argv: Sequence[str], **options: Any) -> Iterator[subprocess.Popen[str]]:
    """A program in a process group of its own; nothing of it is left at the end."""
    process = subprocess.Popen(
        argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True, **options
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=10)


@contextmanager
def receiver(port: int, *options: str, prefix: Sequence[str] = ()) -> Iterator[subprocess.Popen[str]]:
    """A receiver that listens."""
    with running([*prefix, RECEIVER, str(port), *options]) as process:
        wait_until(lambda: listens(process.pid, port) or process.poll() is not None, "listening")
        assert process.poll() is None, process.communicate(timeout=60)[1]
        yield process


def listens(pid: int, port: int) -> bool:
    """Whether somebody in the process's network holds the UDP port."""
    try:
        tables = [Path(f"/proc/{pid}/net/{table}").read_text() for table in ("udp", "udp6")]
    except OSError:
        return False
    return any(f":{port:04X} " in table for table in tables)


def run_sender(
    *arguments: str, prefix: Sequence[str] = (), timeout_s: float = 30
) -> subprocess.CompletedProcess[str]:
    argv = [*prefix, SENDER, *arguments]
    return subprocess.run(argv, capture_output=True, text=True, timeout=timeout_s, check=False)


def run_flow(
    host: str, port: int, scheme: str, stats: Path, *, prefix: Sequence[str] = (), seconds: float = 1
) -> Any:
    """One flow that must succeed; its statistics."""
    arguments = (host, str(port), "--scheme", scheme, "--seconds", str(seconds), "--stats", str(stats))
    done = run_sender(*arguments, prefix=prefix)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return json.loads(stats.read_text())
