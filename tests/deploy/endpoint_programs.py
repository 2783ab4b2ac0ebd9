"""Starts the endpoint programs for tests: every one with a time-out, every one ended by its id."""

import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

PROGRAMS = Path(__file__).resolve().parents[2] / "deploy" / "bin"
SENDER, RECEIVER = str(PROGRAMS / "ccgym-sender"), str(PROGRAMS / "ccgym-receiver")


def free_port() -> int:
    """A UDP port nobody uses now, on IPv4 and IPv6."""
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as probe:
        probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        probe.bind(("::", 0))
        return int(probe.getsockname()[1])


def wait_until(condition: Callable[[], bool], what: str, timeout_s: float = 10) -> None:
    deadline = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < deadline, f"{what} took more than {timeout_s} s"
        time.sleep(0.01)


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
        assert process.poll() is None, process.communicate()[1]
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


def fly(
    host: str, port: int, scheme: str, stats: Path, *, prefix: Sequence[str] = (), seconds: float = 1
) -> Any:
    """One flow that must succeed; its statistics."""
    arguments = (host, str(port), "--scheme", scheme, "--seconds", str(seconds), "--stats", str(stats))
    done = run_sender(*arguments, prefix=prefix)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return json.loads(stats.read_text())


class TwoHosts:
    """Two network namespaces joined by a veth pair; they live as long as the processes that hold them."""

    SENDER_IP, RECEIVER_IP = "10.77.0.1", "10.77.0.2"
    SENDER_IP6, RECEIVER_IP6 = "fd77::1", "fd77::2"

    def __init__(self, is_root: bool) -> None:
        self._user = [] if is_root else ["--user", "--preserve-credentials"]
        self._become_root = [] if is_root else ["--user", "--map-root-user"]
        self._stack = ExitStack()

    def __enter__(self) -> "TwoHosts":
        with ExitStack() as stack:
            first = self._hold_namespace(["unshare", *self._become_root, "--net"], stack)
            self.sender = ["nsenter", f"--target={first}", *self._user, "--net"]
            join = ["nsenter", f"--target={first}", *self._user] if self._user else []
            second = self._hold_namespace([*join, "unshare", "--net"], stack)
            self.receiver = ["nsenter", f"--target={second}", *self._user, "--net"]
            self._join(second)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *failure: Any) -> None:
        self._stack.close()

    def sent_bytes(self) -> int:
        """Ethernet bytes the sending host has put on the wire."""
        link = json.loads(self._ip(self.sender, "-json", "-stats", "link", "show", "wire"))[0]
        return int(link["stats64"]["tx"]["bytes"])

    def _join(self, second_pid: int) -> None:
        ends = ("wire", "type", "veth", "peer", "name", "wire", "netns", str(second_pid))
        self._ip(self.sender, "link", "add", *ends)
        for host, ip, ip6 in (
            (self.sender, self.SENDER_IP, self.SENDER_IP6),
            (self.receiver, self.RECEIVER_IP, self.RECEIVER_IP6),
        ):
            self._ip(host, "address", "add", f"{ip}/24", "dev", "wire")
            self._ip(host, "address", "add", f"{ip6}/64", "dev", "wire", "nodad")
            self._ip(host, "link", "set", "lo", "up")
            self._ip(host, "link", "set", "wire", "up")

    @staticmethod
    def _ip(host: list[str], *arguments: str) -> str:
        done = subprocess.run(
            [*host, "ip", *arguments], capture_output=True, text=True, timeout=20, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    @staticmethod
    def _hold_namespace(argv: list[str], stack: ExitStack) -> int:
        """Starts the process that holds a namespace; it becomes `sleep` once the namespace is ready."""
        holder = stack.enter_context(running([*argv, "sleep", "600"]))
        command = Path(f"/proc/{holder.pid}/comm")
        wait_until(lambda: command.read_text() == "sleep\n", "entering a namespace")
        return holder.pid
