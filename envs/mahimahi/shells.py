"""Real mahimahi shells around a command: rendered from an emulator spec, started, watched and taken down.

The nesting is that of the spec, by default `mm-delay D [mm-onoff ...] [mm-loss ...] mm-link UP DOWN ...`: a
packet that leaves the inner command passes the link's queue first, then loss and delay. mm-link logs each
direction.
"""

import os
import shutil
import socket
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ccgym.envs.errors import InputError, OutsideError
from ccgym.envs.host.host_checks import Check, check_mahimahi_needs
from ccgym.envs.host.host_user import HostUser
from ccgym.envs.host.process_group import POLL_S, ProcessGroup
from ccgym.envs.host.scheduling_priority import program_first, shells_first, within_shells
from ccgym.envs.host.staged_files import StagedFiles
from ccgym.envs.logs.link_log import LinkLog, read_link_log
from ccgym.envs.specs.emulator_spec import EmulatorSpec, LinkSpec
from ccgym.envs.specs.traces import write_trace

from .kernel_tcp import settle_kernel_tcp
from .nat_rules import remove_nat_rules
from .shell_starts import STILL, until_shells_stand
from .start_lock import start_lock

START_S = 20.0
"""Longest time until nested shells are ready, or a server listens."""

_QUEUES = ("infinite", "droptail", "drophead", "codel", "pie")
_QUEUE_ARGUMENTS = {
    "packets": "packets",
    "bytes": "bytes",
    "target_ms": "target",
    "interval_ms": "interval",
    "qdelay_ref_ms": "qdelay_ref",
    "max_burst_ms": "max_burst",
}
_LISTENING = {"tcp": "0A", "udp": "07"}
ANY_PROTOCOL = "any"
"""Protocol of a listener that may use TCP or UDP."""


class MahimahiError(OutsideError):
    """A shell, or a program in or outside it, failed; the message, one line, says which and why."""


def require_mahimahi() -> None:
    """Raises InputError, with the command that mends it, if this machine cannot run mahimahi shells."""
    require(check_mahimahi_needs())


def require(checks: list[Check]) -> None:
    """Raises InputError for the first need that is not met."""
    for check in checks:
        if not check.ok:
            raise InputError(
                f"{check.needed_for}: {check.found}; mend it: {check.mend} (`ccgym doctor` checks everything)"
            )


def shell_command(spec: EmulatorSpec) -> list[str]:
    """The command line of the shells, without the inner command; its files are in the working directory.

    Raises:
        InputError: mahimahi has no shell for a part of the spec.
    """
    _require_expressible(spec)
    command: list[str] = []
    for element in spec.nesting:
        command += _SHELLS[element](spec)
    return [*command, "--"]


def _require_expressible(spec: EmulatorSpec) -> None:
    beyond = {
        "timing: continuous": spec.timing != "mahimahi",
        "begin_s": any(link.begin_s for _, link in _links(spec)),
        "delay_steps": spec.delay_steps is not None,
        "delay_walk": spec.delay_walk is not None,
        "flows": bool(spec.flows),
        "cross_traffic": bool(spec.cross_traffic),
        "ecn": any(link.queue_parameters.get("ecn") for _, link in _links(spec)),
        **{f"queue: {link.queue}": link.queue not in _QUEUES for _, link in _links(spec)},
    }
    for key, given in beyond.items():
        if given:
            raise InputError(f"{spec.name}: mahimahi's shells have no {key}; run it in the twin")


def _links(spec: EmulatorSpec) -> list[tuple[str, LinkSpec]]:
    return [("uplink", spec.uplink), ("downlink", spec.downlink)]


def _delay_shell(spec: EmulatorSpec) -> list[str]:
    return ["mm-delay", str(spec.delay_ms)]


def _onoff_shells(spec: EmulatorSpec) -> list[str]:
    command = []
    for direction, link in _links(spec):
        if link.onoff:
            command += ["mm-onoff", direction, str(link.onoff.mean_on_s), str(link.onoff.mean_off_s)]
    return command


def _loss_shells(spec: EmulatorSpec) -> list[str]:
    command = []
    for direction, link in _links(spec):
        if link.loss:
            command += ["mm-loss", direction, str(link.loss)]
    return command


def _link_shell(spec: EmulatorSpec) -> list[str]:
    command = ["mm-link", "uplink.trace", "downlink.trace", *(["--once"] if spec.once else [])]
    for direction, link in _links(spec):
        command += [f"--{direction}-log={direction}.log", *_queue_options(direction, link)]
    return command


_SHELLS = {"delay": _delay_shell, "onoff": _onoff_shells, "loss": _loss_shells, "link": _link_shell}


def _queue_options(direction: str, link: LinkSpec) -> list[str]:
    if link.queue == "infinite":
        return []
    values = {argument: getattr(link, field) for field, argument in _QUEUE_ARGUMENTS.items()}
    arguments = ",".join(f"{argument}={value}" for argument, value in values.items() if value is not None)
    return [f"--{direction}-queue={link.queue}", f"--{direction}-queue-args={arguments}"]


class MahimahiShell:
    """Shells of one emulator and the programs that talk through them; leaving the context takes all down.

    Programs run as `HostUser.unprivileged()` in a folder of their own, with traces, logs and staged files.
    """

    def __init__(self, spec: EmulatorSpec) -> None:
        self._spec = spec
        self._user = HostUser.unprivileged()
        self._stack = ExitStack()

    def __enter__(self) -> "MahimahiShell":
        with ExitStack() as stack:
            self.folder = Path(stack.enter_context(TemporaryDirectory(prefix="ccgym-shell-")))
            # Not in the user's own folder: the user could put a link in the place of a file that root writes.
            staged = Path(stack.enter_context(TemporaryDirectory(prefix="ccgym-staged-")))
            staged.chmod(0o755)
            self._staged = StagedFiles(staged)
            for direction, link in _links(self._spec):
                write_trace(self.folder / f"{direction}.trace", link.schedule().opportunities_ms())
            self.folder.chmod(0o755)
            self._user.give(self.folder)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *failure: Any) -> None:
        self._stack.close()

    def give(self, path: Path) -> None:
        """Makes the unprivileged user the owner of `path`."""
        self._user.give(path)

    def stage(self, file: Path) -> Path:
        """Copies `file` to where the unprivileged user can read and run it; returns the path of the copy."""
        return self._staged.stage(file)

    def serve(self, argv: list[str], protocol: str, port: int, name: str = "server") -> ProcessGroup:
        """Starts a server outside the shells and waits until it listens.

        Raises:
            MahimahiError: the port is in use, or the server ended, or does not listen in time.
        """
        if _listens(protocol, port):
            raise MahimahiError(f"{protocol} port {port} is in use: end what listens there (`ss -lnp`)")
        command = program_first(self._user.command(argv))
        server = self._stack.enter_context(ProcessGroup(command, self.folder, name))
        who = f"{Path(argv[0]).name} on port {port}"
        _await(lambda: _listens(protocol, port), server, f"{who} ended at once", f"{who} does not listen")
        return server

    def start(self, script: str, *arguments: str) -> ProcessGroup:
        """Runs a sh script inside the shells; returns once they are ready. $MAHIMAHI_BASE is the outside.

        Raises:
            MahimahiError: the shells ended, or are not ready in time.
        """
        return self._start(f"exec </dev/null; {script}", *arguments)

    def _start(self, script: str, *arguments: str) -> ProcessGroup:
        """See `start`. The input of the script ends when this process does, even if it is killed."""
        ready = self.folder / "ready"
        standing = 'echo $$ "$MAHIMAHI_BASE" >starting; mv starting ready'
        inner = ["sh", "-c", f"{standing}; read -r settled || exit 1; {script}", *arguments]
        with start_lock(_program()):
            shells = until_shells_stand(lambda: self._standing(inner, ready))
        if os.geteuid() == 0:
            settle_kernel_tcp(self._namespace())
        shells.tell("settled")
        return shells

    def _standing(self, inner: list[str], ready: Path) -> ProcessGroup:
        command = shells_first(self._user.command([*shell_command(self._spec), *within_shells(inner)]))
        with ExitStack() as started:  # ends shells that are not ready before others start
            shells = ProcessGroup(command, self.folder, "mahimahi", told=True)
            started.callback(remove_nat_rules, shells.pid)
            started.enter_context(shells)
            _await(ready.exists, shells, "the mahimahi shells ended at once", f"the mahimahi shells {STILL}")
            self._stack.enter_context(started.pop_all())
        return shells

    def _namespace(self) -> Path:
        process = (self.folder / "ready").read_text().split()[0]
        return Path(f"/proc/{process}/ns/net")

    def open(self) -> None:
        """Starts the shells with nothing in them, for `run_inside`.

        Raises:
            MahimahiError: the shells ended, or are not ready in time.
        """
        self._start("read -r end")  # none comes
        self.base = (self.folder / "ready").read_text().split()[1]
        self.namespace = self._namespace()

    def run_inside(self, argv: list[str], name: str) -> ProcessGroup:
        """Starts a program in shells that are `open`; its output is kept under `name`. Needs root."""
        entered = ["nsenter", f"--net={self.namespace}", *self._user.command(argv)]
        return self._stack.enter_context(ProcessGroup(program_first(entered), self.folder, name))

    def uplink_log(self) -> LinkLog:
        """The log of the packets that left the shells, so far."""
        return read_link_log(self.folder / "uplink.log")

    def downlink_log(self) -> LinkLog:
        """The log of the packets that entered the shells, so far."""
        return read_link_log(self.folder / "downlink.log")


def _await(condition: Callable[[], bool], group: ProcessGroup, ended: str, late: str) -> None:
    deadline = time.monotonic() + START_S
    while not condition():
        if group.returncode is not None:
            raise MahimahiError(f"{ended}: {group.complaint()} (`ccgym doctor` may know why)")
        if time.monotonic() > deadline:
            raise MahimahiError(f"{late} after {START_S:.0f} s (`ccgym doctor` may know why)")
        time.sleep(POLL_S)


def _program() -> Path:
    program = shutil.which("mm-delay")
    if program is None:
        require_mahimahi()
        raise MahimahiError("mm-delay has just vanished")
    return Path(program)


def free_port(protocol: str) -> int:
    """A port to which nothing is bound."""
    kind = socket.SOCK_DGRAM if protocol == "udp" else socket.SOCK_STREAM
    while True:
        with socket.socket(socket.AF_INET, kind) as probe:
            probe.bind(("0.0.0.0", 0))
            port: int = probe.getsockname()[1]
        if not _listens(protocol, port):
            return port


def _listens(protocol: str, port: int) -> bool:
    if protocol == ANY_PROTOCOL:
        return any(_listens(each, port) for each in _LISTENING)
    for table in (f"/proc/net/{protocol}", f"/proc/net/{protocol}6"):
        for line in Path(table).read_text().splitlines()[1:]:
            _, local, _, state = line.split()[:4]
            if int(local.rsplit(":", 1)[1], 16) == port and state == _LISTENING[protocol]:
                return True
    return False
