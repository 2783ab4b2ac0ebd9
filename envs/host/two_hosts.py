"""Two hosts and a wire: network namespaces joined by a veth pair, for programs that need no emulated path."""

import json
import os
import subprocess
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from ccgym.envs.errors import OutsideError

from .process_group import ProcessGroup

LIFETIME_S = 3600
START_S = 10.0
COMMAND_S = 20.0
POLL_S = 0.01


class TwoHosts:
    """Both hosts, as a context: each namespace lives exactly as long as the process that holds it.

    A command line that begins with `sender` or `receiver` runs on that host. Without root the namespaces
    belong to a user namespace of their own.
    """

    SENDER_IP, RECEIVER_IP = "10.77.0.1", "10.77.0.2"
    SENDER_IP6, RECEIVER_IP6 = "fd77::1", "fd77::2"

    def __init__(self) -> None:
        is_root = os.geteuid() == 0
        self._user = [] if is_root else ["--user", "--preserve-credentials"]
        self._become_root = [] if is_root else ["--user", "--map-root-user"]
        self._stack = ExitStack()

    def __enter__(self) -> "TwoHosts":
        """Makes the hosts. Raises OutsideError if the kernel or this user's rights do not allow it."""
        with ExitStack() as stack:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ccgym-hosts-")))
            first = _hold_namespace(["unshare", *self._become_root, "--net"], folder, "sender", stack)
            self.sender = ["nsenter", f"--target={first}", *self._user, "--net"]
            join = ["nsenter", f"--target={first}", *self._user] if self._user else []
            second = _hold_namespace([*join, "unshare", "--net"], folder, "receiver", stack)
            self.receiver = ["nsenter", f"--target={second}", *self._user, "--net"]
            self._join(second)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *failure: Any) -> None:
        self._stack.close()

    def sent_bytes(self) -> int:
        """Ethernet bytes that the sending host has sent; a train of packets counts its headers once."""
        link = json.loads(_ip(self.sender, "-json", "-stats", "link", "show", "wire"))[0]
        return int(link["stats64"]["tx"]["bytes"])

    def _join(self, second_pid: int) -> None:
        ends = ("wire", "type", "veth", "peer", "name", "wire", "netns", str(second_pid))
        _ip(self.sender, "link", "add", *ends)
        for host, ip, ip6 in (
            (self.sender, self.SENDER_IP, self.SENDER_IP6),
            (self.receiver, self.RECEIVER_IP, self.RECEIVER_IP6),
        ):
            _ip(host, "address", "add", f"{ip}/24", "dev", "wire")
            _ip(host, "address", "add", f"{ip6}/64", "dev", "wire", "nodad")
            _ip(host, "link", "set", "lo", "up")
            _ip(host, "link", "set", "wire", "up")


def _ip(host: list[str], *arguments: str) -> str:
    done = subprocess.run(
        [*host, "ip", *arguments], capture_output=True, text=True, timeout=COMMAND_S, check=False
    )
    if done.returncode != 0:
        raise OutsideError(f"ip {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout


def _hold_namespace(argv: list[str], folder: Path, name: str, stack: ExitStack) -> int:
    """Starts the process that holds a namespace; it becomes `sleep` once the namespace is ready."""
    holder = stack.enter_context(ProcessGroup([*argv, "sleep", str(LIFETIME_S)], folder, name))
    command = Path(f"/proc/{holder.pid}/comm")
    deadline = time.monotonic() + START_S
    while holder.returncode is None and time.monotonic() < deadline:
        if command.read_text() == "sleep\n":
            return holder.pid
        time.sleep(POLL_S)
    raise OutsideError(f"cannot make a network namespace: {holder.complaint()}")
