"""Starts tunnels from Python: command lines of the two ends, and tunnels with both ends on this machine."""

import subprocess
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from ccgym.envs.errors import InputError, OutsideError
from ccgym.envs.host.process_group import POLL_S, ProcessGroup

CONNECT_S = 10.0
"""Longest time until an end listens, or both are connected."""


class TunnelError(OutsideError):
    """An end of a tunnel failed; the message, one line, says which and why."""


def program() -> Path:
    """The static program `ccgym-tunnel`.

    Raises:
        InputError: it was left out of the build, which needs libsodium and liburing.
    """
    path = Path(str(files("ccgym.deploy"))) / "bin" / "ccgym-tunnel"
    if not path.exists():
        raise InputError(
            "ccgym-tunnel is not built; mend it: sudo apt-get install libsodium-dev liburing-dev, make build"
        )
    return path


def make_secret(file: Path) -> Path:
    """Writes a new session secret, mode 0600, and returns its path.

    Raises:
        InputError: the file exists or cannot be written.
    """
    done = subprocess.run(
        [program(), "secret", file], capture_output=True, text=True, timeout=CONNECT_S, check=False
    )
    if done.returncode != 0:
        raise InputError(done.stderr.strip())
    return file


@dataclass(frozen=True)
class PacketLogs:
    """The two packet logs of one end."""

    ingress: Path
    """Packets received, one `TIME_MS - UID - BYTES` a line; the head ends with the wall clock at time 0."""
    egress: Path
    """Packets sent."""

    @classmethod
    def in_folder(cls, folder: Path, end: str) -> "PacketLogs":
        """`END.ingress` and `END.egress`."""
        return cls(folder / f"{end}.ingress", folder / f"{end}.egress")

    def options(self) -> list[str]:
        """The options of the program for these logs."""
        return ["--ingress-log", str(self.ingress), "--egress-log", str(self.egress)]


@dataclass(frozen=True)
class Listening:
    """Where a server listens, and the private addresses of both ends."""

    port: int
    server_address: str
    client_address: str


def server_argv(
    secret: Path | None, logs: PacketLogs, command: Sequence[str], *, options: Sequence[str] = ()
) -> list[str]:
    """The command line of a server; without a secret it is compatible with pantheon-tunnel."""
    return [str(program()), "server", *_authentication(secret), *logs.options(), *options, "--", *command]


def client_argv(
    secret: Path | None,
    logs: PacketLogs,
    command: Sequence[str],
    *,
    server: str,
    listening: Listening,
    options: Sequence[str] = (),
) -> list[str]:
    """The command line of a client of the server that listens at the outer address `server`."""
    addresses = [] if secret else [listening.client_address, listening.server_address]
    where = [server, str(listening.port), *addresses]
    given = [*_authentication(secret), *logs.options(), *options]
    return [str(program()), "client", *given, "--", *where, *command]


def _authentication(secret: Path | None) -> list[str]:
    return ["--secret-file", str(secret)] if secret else ["--compatible"]


def parse_listening(line: str) -> Listening:
    """Parses the first line of a server.

    Raises:
        ValueError: it is no such line.
    """
    match line.split():
        case ["port", port, "local", server, "peer", client]:
            return Listening(int(port), server, client)
        case ["mm-tunnelclient", "localhost", port, client, server]:
            return Listening(int(port), server, client)
    raise ValueError(f"'{line}' is not the first line of a tunnel server")


def parse_device(line: str) -> str:
    """How an end moves packets (io_uring, plain or offload), from the line that says it is connected.

    Raises:
        ValueError: it is no such line, or pantheon-tunnel's, which does not say.
    """
    match line.split():
        case ["connected", _, "local", _, "peer", _, "device", kind]:
            return kind
    raise ValueError(f"'{line}' is not the line of an end that is connected")


@dataclass(frozen=True)
class TunnelEnd:
    """A running end; its process group is ended by the session, or by `process.stop()`."""

    process: ProcessGroup
    logs: PacketLogs
    marker: str = ""
    """The line after which its output begins, if the login prints something by itself."""

    def stdout_lines(self) -> list[str]:
        """What the end and its command have printed so far, whole lines."""
        lines = _whole_lines(self.process.folder / f"{self.process.name}.out")
        if not self.marker:
            return lines
        return lines[lines.index(self.marker) + 1 :] if self.marker in lines else []

    def stderr_lines(self) -> list[str]:
        """The same for stderr; at the end its last line counts packets."""
        return _whole_lines(self.process.folder / f"{self.process.name}.err")

    def await_line(self, number: int) -> str:
        """Waits for the line `number`, counted from 0, and returns it.

        Raises:
            TunnelError: the end ended before, or does not print the line in time.
        """
        deadline = time.monotonic() + CONNECT_S
        while True:
            ended = self.process.returncode is not None
            lines = self.stdout_lines()
            if len(lines) > number:
                return lines[number]
            if ended:
                raise TunnelError(f"{self.process.name} ended: {self.process.complaint()}")
            if time.monotonic() > deadline:
                raise TunnelError(f"{self.process.name} is not connected after {CONNECT_S:.0f} s")
            time.sleep(POLL_S)


def _whole_lines(file: Path) -> list[str]:
    *whole, _ = file.read_text(errors="replace").split("\n")
    return whole


class LocalTunnel:
    """Both ends on this machine, each with a command in it; leaving the context ends both.

    Args:
        folder: for logs, secret and output.
        server_command: run at the server's end, e.g. ["iperf3", "-s"].
        client_command: run at the client's end.
        authenticated: False: compatible with pantheon-tunnel.
        server: outer address of the server, as the client sees it.
        server_prefix: put before the server's command line, e.g. ["ip", "netns", "exec", "a"].
        client_prefix: the same for the client.
        options: more options of the program, for both ends.
    """

    def __init__(
        self,
        folder: Path,
        server_command: Sequence[str],
        client_command: Sequence[str],
        *,
        authenticated: bool = True,
        server: str = "127.0.0.1",
        server_prefix: Sequence[str] = (),
        client_prefix: Sequence[str] = (),
        options: Sequence[str] = (),
    ) -> None:
        self.folder = folder
        self._commands = (server_command, client_command)
        self._authenticated = authenticated
        self._server_address = server
        self._prefixes = (server_prefix, client_prefix)
        self._options = options
        self._stack = ExitStack()
        self.listening: Listening
        self.server: TunnelEnd
        self.client: TunnelEnd

    def __enter__(self) -> "LocalTunnel":
        with ExitStack() as stack:
            secret = make_secret(self.folder / "secret") if self._authenticated else None
            logs = PacketLogs.in_folder(self.folder, "server")
            argv = server_argv(secret, logs, self._commands[0], options=self._options)
            self.server = self._start(stack, "server", [*self._prefixes[0], *argv], logs)
            self.listening = parse_listening(self.server.await_line(0))
            logs = PacketLogs.in_folder(self.folder, "client")
            argv = client_argv(
                secret,
                logs,
                self._commands[1],
                server=self._server_address,
                listening=self.listening,
                options=self._options,
            )
            self.client = self._start(stack, "client", [*self._prefixes[1], *argv], logs)
            self.client.await_line(0)
            self.server.await_line(1)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *failure: Any) -> None:
        self._stack.close()

    def _start(self, stack: ExitStack, name: str, argv: list[str], logs: PacketLogs) -> TunnelEnd:
        return TunnelEnd(stack.enter_context(ProcessGroup(argv, self.folder, name)), logs)
