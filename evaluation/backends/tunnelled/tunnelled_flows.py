"""Flows between two hosts, each through an instrumented tunnel of its own."""

import shlex
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from ccgym.envs.errors import OutsideError
from ccgym.envs.host.process_group import POLL_S, ProcessGroup
from ccgym.envs.logs.packet_capture import PacketRecords
from ccgym.evaluation.backends.backend import PlannedFlow
from ccgym.evaluation.backends.flow_schedule import run_flows
from ccgym.evaluation.backends.programs import FlowPrograms, flow_programs
from ccgym.tunnel import session
from ccgym.tunnel.session import PacketLogs, TunnelEnd, TunnelError

from .hosts import Host
from .tunnel_log import read_tunnel_log

PORT = 5201
"""The port of every flow: each tunnel's inside is a network of its own."""
LISTEN_S = 20.0
GOOD_BYE_S = 5.0
_LISTENING = "ccgym: the port is open"
_TABLES = "/proc/net/tcp /proc/net/tcp6 /proc/net/udp /proc/net/udp6"


@dataclass(frozen=True)
class TunnelRecords:
    """The logs of both ends of a flow's tunnel, each on the clock of its own host."""

    sent: PacketRecords
    """Data packets, at the sender."""
    received: PacketRecords
    replies_sent: PacketRecords
    """Packets of the other direction, at the receiver."""
    replies_received: PacketRecords


@dataclass(frozen=True)
class TunnelPlace:
    """The two hosts between which tunnels are made."""

    server: Host
    client: Host
    server_address: str
    """The server's address as seen from the client."""
    client_sends: bool
    """Whether data flow from the client's end to the server's."""
    folder: Path
    """Local folder for the output of the ends, secrets, and fetched logs."""


def run_through_tunnels(place: TunnelPlace, flows: list[PlannedFlow]) -> list[TunnelRecords]:
    """Runs the flows of a run, in real time.

    Raises:
        OutsideError: a tunnel or a program failed; says which and why.
    """
    with ExitStack() as stack:
        tunnels = [stack.enter_context(_FlowTunnel(place, flow, n)) for n, flow in enumerate(flows, 1)]
        for tunnel in tunnels:
            tunnel.listen()
        run_flows(flows, [tunnel.programs for tunnel in tunnels], lambda index: tunnels[index].call())
    return [tunnel.records() for tunnel in tunnels]


class _FlowTunnel:
    """One tunnel, with a shell at each end that waits for the command to run."""

    def __init__(self, place: TunnelPlace, flow: PlannedFlow, number: int) -> None:
        self._place, self._number = place, number
        self._stack = ExitStack()
        sender = place.client if place.client_sends else place.server
        self.programs: FlowPrograms = flow_programs(flow.scheme, flow.seconds, sender.stage)
        receiver = place.server if place.client_sends else place.client
        self._receiving = flow_programs(flow.scheme, flow.seconds, receiver.stage)

    def __enter__(self) -> "_FlowTunnel":
        place = self._place
        with ExitStack() as stack:
            secret = session.make_secret(place.folder / f"secret-{self._number}")
            logs = self._logs(place.server, "server")
            argv = session.server_argv(Path(place.server.keep_secret(secret)), logs, ["sh"])
            self._server = self._start(stack, place.server, "server", argv, logs)
            self._listening = session.parse_listening(self._server.await_line(0))
            logs = self._logs(place.client, "client")
            argv = session.client_argv(
                Path(place.client.keep_secret(secret)),
                logs,
                ["sh"],
                server=place.server_address,
                listening=self._listening,
            )
            self._client = self._start(stack, place.client, "client", argv, logs)
            self._client.await_line(0)
            self._server.await_line(1)
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *failure: Any) -> None:
        """Ends the client first: it says good-bye, so the server ends by itself, with complete logs."""
        self._client.process.stop()
        with suppress(OutsideError):
            self._server.process.wait(GOOD_BYE_S)
        self._stack.close()

    def listen(self) -> None:
        """Starts the side that listens, and waits until it does."""
        end, host, programs = self._side(listens=True)
        command = shlex.join(host.unprivileged(programs.listen(PORT)))
        is_open = f"grep -qsE ':{PORT:04X} [0-9A-F]+:0000 (0A|07) ' {_TABLES}"
        end.process.tell(
            f"{command} & until {is_open}; do sleep 0.05; done; echo; echo '{_LISTENING}'; wait $!; exit"
        )
        deadline = time.monotonic() + LISTEN_S
        while _LISTENING not in end.stdout_lines():
            if end.process.returncode is not None:
                raise TunnelError(f"the listener ended: {end.process.complaint()}")
            if time.monotonic() > deadline:
                raise TunnelError(f"no listener after {LISTEN_S:.0f} s: {end.process.complaint()}")
            time.sleep(POLL_S)

    def call(self) -> ProcessGroup:
        """Starts the side that calls."""
        end, host, programs = self._side(listens=False)
        to_server = end is self._client
        address = self._listening.server_address if to_server else self._listening.client_address
        end.process.tell(f"exec {shlex.join(host.unprivileged(programs.call(address, PORT)))}")
        return end.process

    def records(self) -> TunnelRecords:
        """The logs of both ends, once the tunnel has ended."""
        place = self._place
        sender, receiver = (
            ((self._client, place.client), (self._server, place.server))
            if place.client_sends
            else ((self._server, place.server), (self._client, place.client))
        )
        return TunnelRecords(
            self._read(*sender, "egress"),
            self._read(*receiver, "ingress"),
            self._read(*receiver, "egress"),
            self._read(*sender, "ingress"),
        )

    def _side(self, *, listens: bool) -> tuple[TunnelEnd, Host, FlowPrograms]:
        sends = self.programs.sender_listens == listens
        at_client = sends == self._place.client_sends
        end = self._client if at_client else self._server
        host = self._place.client if at_client else self._place.server
        return end, host, self.programs if sends else self._receiving

    def _logs(self, host: Host, end: str) -> PacketLogs:
        return PacketLogs.in_folder(Path(host.folder), f"flow-{self._number}-{end}")

    def _start(self, stack: ExitStack, host: Host, end: str, argv: list[str], logs: PacketLogs) -> TunnelEnd:
        argv = [host.stage(session.program()), *argv[1:]]
        name = f"tunnel-{self._number}-{end}"
        process = ProcessGroup(host.command(argv), self._place.folder, name, told=True)
        return TunnelEnd(stack.enter_context(process), logs, host.marker)

    def _read(self, end: TunnelEnd, host: Host, direction: str) -> PacketRecords:
        there = str(PurePosixPath(getattr(end.logs, direction)))
        here = self._place.folder / f"{Path(there).name}.fetched"
        host.fetch(there, here)
        return read_tunnel_log(here)
