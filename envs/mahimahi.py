"""Real mahimahi shells around a command: an emulator spec rendered, started, watched and taken down.

Nesting as published, `mm-delay D [mm-loss uplink L] [mm-loss downlink L] mm-link UP DOWN ...`: a packet that leaves the
inner command meets the link's queue first, then loss and delay. Each direction's log is written by mm-link.
"""

import fcntl
import os
import shutil
import socket
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from .emulators import EmulatorSpec, LinkSpec
from .errors import InputError
from .host_user import HostUser
from .link_log import LinkLog, read_link_log
from .process_group import POLL_S, ProcessGroup
from .traces import write_trace

DOCTOR = "`ccgym doctor` says how to mend it"
START_S = 20.0
"""Longest time until nested shells stand, or a server listens."""

_PROGRAMS = ("mm-delay", "mm-link", "mm-loss")
_QUEUE_ARGUMENTS = {
    "packets": "packets",
    "bytes": "bytes",
    "target_ms": "target",
    "interval_ms": "interval",
    "qdelay_ref_ms": "qdelay_ref",
    "max_burst_ms": "max_burst",
}
_LISTENING = {"tcp": "0A", "udp": "07"}


class MahimahiError(RuntimeError):
    """A shell or a program in or outside of it failed; one line saying which and why."""


def check_mahimahi() -> None:
    """Raises InputError when this machine cannot run mahimahi shells."""
    for program in _PROGRAMS:
        if shutil.which(program) is None:
            raise InputError(f"mahimahi is not installed ({program} not found): {DOCTOR}")
    if Path("/proc/sys/net/ipv4/ip_forward").read_text().strip() != "1":
        raise InputError(f"mahimahi needs net.ipv4.ip_forward = 1, it is 0: {DOCTOR}")
    if not Path("/dev/net/tun").exists():
        raise InputError(f"mahimahi needs the device /dev/net/tun, which is missing: {DOCTOR}")
    HostUser.unprivileged()


def shell_command(spec: EmulatorSpec) -> list[str]:
    """The command line of the shells, without the inner command; its files are in the working directory."""
    command = ["mm-delay", str(spec.delay_ms)]
    for direction, link in (("uplink", spec.uplink), ("downlink", spec.downlink)):
        if link.loss:
            command += ["mm-loss", direction, str(link.loss)]
    command += ["mm-link", "uplink.trace", "downlink.trace"]
    for direction, link in (("uplink", spec.uplink), ("downlink", spec.downlink)):
        command += [f"--{direction}-log={direction}.log", *_queue_options(direction, link)]
    return [*command, "--"]


def _queue_options(direction: str, link: LinkSpec) -> list[str]:
    if link.queue == "infinite":
        return []
    values = {argument: getattr(link, field) for field, argument in _QUEUE_ARGUMENTS.items()}
    arguments = ",".join(f"{argument}={value}" for argument, value in values.items() if value is not None)
    return [f"--{direction}-queue={link.queue}", f"--{direction}-queue-args={arguments}"]


class MahimahiShell:
    """Shells of one emulator and the programs that talk through them; leaving the context takes everything down.

    Programs run as `HostUser.unprivileged()` in a folder of their own, which holds traces, logs and staged files.
    """

    def __init__(self, spec: EmulatorSpec) -> None:
        self._spec = spec
        self._user = HostUser.unprivileged()
        self._stack = ExitStack()

    def __enter__(self) -> "MahimahiShell":
        check_mahimahi()
        self.folder = Path(tempfile.mkdtemp(prefix="ccgym-shell-"))
        self._stack.callback(shutil.rmtree, self.folder, ignore_errors=True)
        os.chmod(self.folder, 0o755)
        self._user.give(self.folder)
        for direction in ("uplink", "downlink"):
            link: LinkSpec = getattr(self._spec, direction)
            write_trace(self.folder / f"{direction}.trace", link.schedule().opportunities_ms())
        return self

    def __exit__(self, *failure: Any) -> None:
        self._stack.close()

    def stage(self, file: Path) -> Path:
        """A copy of `file` that the unprivileged user can read and run."""
        copy = self.folder / file.name
        shutil.copyfile(file, copy)
        os.chmod(copy, 0o755)
        return copy

    def serve(self, argv: list[str], protocol: str, port: int) -> ProcessGroup:
        """Starts a server outside the shells and waits until it listens.

        Raises:
            MahimahiError: it ended, or does not listen in time.
        """
        server = self._stack.enter_context(ProcessGroup(self._user.command(argv), self.folder, "server"))
        deadline = time.monotonic() + START_S
        while not _listens(protocol, port):
            if server.returncode is not None:
                raise MahimahiError(f"{Path(argv[0]).name} on port {port} ended at once: {server.complaint()}")
            if time.monotonic() > deadline:
                raise MahimahiError(f"{Path(argv[0]).name} does not listen on port {port} after {START_S:.0f} s")
            time.sleep(POLL_S)
        return server

    def start(self, script: str, *arguments: str) -> ProcessGroup:
        """Runs a sh script inside the shells and returns once they stand; $MAHIMAHI_BASE is the outside's address.

        Raises:
            MahimahiError: the shells ended, or do not stand in time.
        """
        ready = self.folder / "ready"
        inner = ["sh", "-c", f"touch ready; {script}", *arguments]
        with _start_lock():
            command = self._user.command(shell_command(self._spec) + inner)
            shells = self._stack.enter_context(ProcessGroup(command, self.folder, "mahimahi"))
            deadline = time.monotonic() + START_S
            while not ready.exists():
                if shells.returncode is not None:
                    raise MahimahiError(f"the mahimahi shells ended at once ({DOCTOR}): {shells.complaint()}")
                if time.monotonic() > deadline:
                    raise MahimahiError(f"the mahimahi shells do not stand after {START_S:.0f} s ({DOCTOR})")
                time.sleep(POLL_S)
        return shells

    def uplink_log(self) -> LinkLog:
        """The log of the packets that left the shells, so far."""
        return read_link_log(self.folder / "uplink.log")


@contextmanager
def _start_lock() -> Iterator[None]:
    """Only one nest of shells starts at a time: each looks for free addresses before it takes them."""
    program = shutil.which("mm-delay")
    assert program is not None
    with open(program, "rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def free_port(protocol: str) -> int:
    """A port nothing is bound to."""
    kind = socket.SOCK_STREAM if protocol == "tcp" else socket.SOCK_DGRAM
    with socket.socket(socket.AF_INET, kind) as probe:
        probe.bind(("0.0.0.0", 0))
        port: int = probe.getsockname()[1]
    return port


def _listens(protocol: str, port: int) -> bool:
    for table in (f"/proc/net/{protocol}", f"/proc/net/{protocol}6"):
        for line in Path(table).read_text().splitlines()[1:]:
            _, local, _, state = line.split()[:4]
            if int(local.rsplit(":", 1)[1], 16) == port and state == _LISTENING[protocol]:
                return True
    return False
