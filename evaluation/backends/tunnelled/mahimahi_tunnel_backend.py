"""Runs in real mahimahi shells through instrumented tunnels: clients inside, servers outside."""

import os
import shutil
from dataclasses import replace

from ccgym.envs.errors import InputError
from ccgym.envs.host.host_checks import check_kernel_tcp
from ccgym.envs.host.host_user import HostUser
from ccgym.envs.host.scheduling_priority import program_first
from ccgym.envs.logs.link_log import LinkLog
from ccgym.envs.mahimahi.shells import MahimahiShell, require, require_mahimahi
from ccgym.envs.specs.emulator_spec import EmulatorSpec
from ccgym.evaluation.backends.backend import EmulatorsOrPaths, PlannedFlow
from ccgym.evaluation.backends.mahimahi_backend import not_in_shells
from ccgym.evaluation.backends.programs import check_programs, check_real_time
from ccgym.evaluation.run_files import RunFiles, write_merged_log
from ccgym.evaluation.schemes import Kind, Scheme
from ccgym.tunnel import session

from .hosts import LocalHost
from .remote_path import Network
from .tunnelled_flows import TunnelPlace, run_through_tunnels
from .two_ends import matched_flow


class MahimahiTunnelBackend:
    """Real shells in which every flow has its own tunnel: any scheme, any number of flows."""

    name = "mahimahi"
    in_real_time = True

    def check(self, _: EmulatorsOrPaths, line_ups: list[list[Scheme]]) -> None:
        """Checks for mahimahi, rights, the tunnel, and what the schemes need."""
        schemes = [scheme for line_up in line_ups for scheme in line_up]
        check_real_time(schemes)
        require_mahimahi()
        session.program()
        if any(scheme.kind is Kind.KERNEL for scheme in schemes):
            require(check_kernel_tcp())
        check_programs(schemes)
        if os.geteuid() != 0:
            raise InputError("only root may enter the shells with a tunnel: run as root")

    def refusal(self, spec: Network, _: list[Scheme]) -> str | None:
        """Refuses only emulators that mahimahi's shells cannot do."""
        return not_in_shells(spec)

    def run(self, spec: Network, flows: list[PlannedFlow], _: int, files: RunFiles) -> list[LinkLog]:
        """Runs the flows in real time and keeps mm-link's own logs."""
        assert isinstance(spec, EmulatorSpec)
        user = HostUser.unprivileged()

        def unprivileged(argv: list[str]) -> list[str]:
            return program_first(user.command(argv))

        with MahimahiShell(spec) as shell:
            shell.open()
            enter = ["nsenter", f"--net={shell.namespace}"]
            place = TunnelPlace(
                server=LocalHost(shell.folder, [], unprivileged, shell.stage),
                client=LocalHost(shell.folder, enter, unprivileged, shell.stage),
                server_address=shell.base,
                client_sends=True,
                folder=shell.folder,
            )
            records = run_through_tunnels(place, flows)
            link, acks_link = shell.uplink_log(), shell.downlink_log()
            shutil.copyfile(shell.folder / "uplink.log", files.link_data_log)
            shutil.copyfile(shell.folder / "downlink.log", files.link_ack_log)
        assert link.header is not None
        start_ms = link.header.init_timestamp_ms
        acks = [
            matched_flow(each.replies_sent, each.replies_received, start_ms, acks_link.opportunity_ms)
            for each in records
        ]
        write_merged_log(files.ack_log, acks, 0, start_ms)
        logs = [matched_flow(each.sent, each.received, start_ms, link.opportunity_ms) for each in records]
        return [replace(log.shifted(-spec.delay_ms), header=link.header) for log in logs]
