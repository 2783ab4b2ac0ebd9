"""Runs over real paths, through tunnels between this machine and a remote one, where the servers run.

This machine always calls, whichever of the two sends the data, because it may be behind a NAT.
"""

from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

from ccgym.envs.errors import InputError
from ccgym.envs.host.host_user import HostUser
from ccgym.envs.host.staged_files import StagedFiles
from ccgym.envs.logs.link_log import LinkLog
from ccgym.evaluation.backends.backend import EmulatorsOrPaths, PlannedFlow
from ccgym.evaluation.backends.programs import check_programs, check_real_time
from ccgym.evaluation.run_files import RunFiles, write_merged_log
from ccgym.evaluation.schemes import Kind, Scheme
from ccgym.tunnel import session

from .clock_offset import (
    clock_offset,
    ntp_offset_ms,
    on_the_senders_clock,
    remote_ntp_offset_ms,
    write_clock_offset,
)
from .hosts import LocalHost
from .remote_path import Network, RemotePathSpec
from .ssh_host import SshHost
from .tunnelled_flows import TunnelPlace, run_through_tunnels
from .two_ends import matched_flow

_CONTROLS = "/proc/sys/net/ipv4/tcp_available_congestion_control"


class RemoteBackend:
    """A real path, in real time."""

    name = "remote"
    in_real_time = True

    def check(self, emulators: EmulatorsOrPaths, line_ups: list[list[Scheme]]) -> None:
        """Checks for the programs here, connects to the other machine, and checks for them there."""
        schemes = [scheme for line_up in line_ups for scheme in line_up]
        check_real_time(schemes)
        session.program()
        check_programs(schemes)
        kernel = {scheme.controller for scheme in schemes if scheme.kind is Kind.KERNEL}
        wrappers = [scheme.controller for scheme in schemes if scheme.kind is Kind.PANTHEON]
        # Both directions are to the same machine.
        for spec in {each.spec.name.rpartition("-")[0]: each.spec for each in emulators}.values():
            assert isinstance(spec, RemotePathSpec)
            with ExitStack() as stack:
                remote = _reach(stack, spec)
                if kernel and not remote.has_program("iperf3"):
                    raise InputError(f"{remote.name} has no iperf3, which runs kernel TCP: install it there")
                missing = kernel - set(remote.read(_CONTROLS).split())
                if missing:
                    names = ", ".join(sorted(missing))
                    raise InputError(f"{remote.name}: its kernel has no {names}: modprobe tcp_NAME there")
                for wrapper in wrappers:
                    if not remote.has_program(wrapper):
                        raise InputError(
                            f"{remote.name} has no {wrapper}: the checkout must be at the same place there"
                        )

    def refusal(self, _: Network, __: list[Scheme]) -> str | None:
        """Refuses nothing: every scheme runs on a real path."""
        return None

    def run(self, spec: Network, flows: list[PlannedFlow], _: int, files: RunFiles) -> list[LinkLog]:
        """Runs the flows in real time over a new SSH connection; keeps the offset of the two clocks."""
        assert isinstance(spec, RemotePathSpec)
        with ExitStack() as stack:
            remote = _reach(stack, spec)
            folder = _folder(stack)
            user = HostUser.unprivileged()
            user.give(folder)
            place = TunnelPlace(
                server=remote,
                client=LocalHost(folder, [], user.command, StagedFiles(folder).stage),
                server_address=remote.address,
                client_sends=spec.direction == "up",
                folder=folder,
            )
            records = run_through_tunnels(place, flows)
            offset = clock_offset(records, _ntp_ms(spec, remote))
        write_clock_offset(offset, files.clock)
        start_ms = min(float(each.sent.time_ms[0]) for each in records)
        acks = [
            matched_flow(on_the_senders_clock(each.replies_sent, offset), each.replies_received, start_ms)
            for each in records
        ]
        write_merged_log(files.ack_log, acks, 0, start_ms)
        return [
            matched_flow(each.sent, on_the_senders_clock(each.received, offset), start_ms) for each in records
        ]


def _reach(stack: ExitStack, spec: RemotePathSpec) -> SshHost:
    # In /tmp: the path of ssh's socket may hold no space and not many characters.
    folder = stack.enter_context(TemporaryDirectory(prefix="ccgym-", dir="/tmp"))
    return stack.enter_context(SshHost(spec.destination, spec.port, Path(folder)))


def _folder(stack: ExitStack) -> Path:
    folder = Path(stack.enter_context(TemporaryDirectory(prefix="ccgym-")))
    folder.chmod(0o755)
    return folder


def _ntp_ms(spec: RemotePathSpec, remote: SshHost) -> float | None:
    """The receiver's clock minus the sender's, in ms, both measured against one NTP server."""
    if spec.ntp is None:
        return None
    here, there = ntp_offset_ms(spec.ntp), remote_ntp_offset_ms(spec.ntp, remote.python)
    if here is None or there is None:
        return None
    remote_ahead_ms = here - there
    return round(remote_ahead_ms if spec.direction == "up" else -remote_ahead_ms, 3)
