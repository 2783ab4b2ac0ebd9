"""Runs in real mahimahi shells: the sender inside, so that data take the uplink, the receiver outside.

The figures of a lone flow come from mm-link's log. Several flows are told apart by what the kernel records of
them at both ends; mm-link's log then gives the delivery opportunities only.
"""

import os
import shlex
import shutil
from dataclasses import replace
from pathlib import Path

from ccgym.envs.errors import InputError, OutsideError
from ccgym.envs.host.host_checks import check_kernel_tcp
from ccgym.envs.host.process_group import ProcessGroup
from ccgym.envs.logs.link_log import LinkLog
from ccgym.envs.logs.packet_capture import PacketCapture, paired_uids
from ccgym.envs.mahimahi.shells import (
    MahimahiError,
    MahimahiShell,
    free_port,
    require,
    require_mahimahi,
    shell_command,
)
from ccgym.envs.specs.emulator_spec import EmulatorSpec
from ccgym.evaluation.backends.tunnelled.remote_path import Network
from ccgym.evaluation.backends.tunnelled.two_ends import matched_flow
from ccgym.evaluation.run_files import RunFiles, write_merged_log
from ccgym.evaluation.schemes import Kind, Scheme

from .answers import broken_off
from .backend import EmulatorsOrPaths, PlannedFlow
from .flow_schedule import OVERRUN_S, SETTLING_S, run_flows
from .programs import check_programs, check_real_time, flow_programs, sender_listens

_LISTENER_ENDS_S = 1.0
"""How long to wait for a listener's own message after its caller has failed."""


class MahimahiBackend:
    """Real shells, in real time."""

    name = "mahimahi"
    in_real_time = True

    def check(self, _: EmulatorsOrPaths, line_ups: list[list[Scheme]]) -> None:
        """Checks for mahimahi, rights, the endpoint programs, iperf3 and the kernel's congestion controls."""
        schemes = [scheme for line_up in line_ups for scheme in line_up]
        check_real_time(schemes)
        require_mahimahi()
        if any(scheme.kind is Kind.KERNEL for scheme in schemes):
            require(check_kernel_tcp())
        check_programs(schemes)
        if any(len(line_up) > 1 for line_up in line_ups) and os.geteuid() != 0:
            raise InputError("several flows in real mahimahi are told apart by root only: run as root")

    def refusal(self, spec: Network, line_up: list[Scheme]) -> str | None:
        """Refuses emulators that only the twin can run, and flows that only a tunnel can tell apart."""
        if (reason := not_in_shells(spec)) is not None:
            return reason
        listening = [scheme.label for scheme in line_up if sender_listens(scheme)]
        if len(line_up) > 1 and listening:
            return f"{listening[0]} begins with its sender: with other flows it runs with --tunnel only"
        return None

    def run(self, spec: Network, flows: list[PlannedFlow], _: int, files: RunFiles) -> list[LinkLog]:
        """Runs the flows in real time and keeps mm-link's own logs."""
        assert isinstance(spec, EmulatorSpec)
        mirrored = sender_listens(flows[0].scheme)
        if mirrored:  # the listener is outside the shell, so its data take the downlink
            spec = spec.model_copy(update={"uplink": spec.downlink, "downlink": spec.uplink})
        with MahimahiShell(spec) as shell:
            if len(flows) == 1:
                _run_alone(shell, flows[0])
                log, acks_log = shell.uplink_log(), shell.downlink_log()
                if mirrored:
                    log, acks_log = acks_log, log
                log, acks_log = log.without_background(), acks_log.without_background()
                _require_answers(flows[0].scheme, log, acks_log, spec)
                logs = [log]
                _write_ack_log(acks_log, spec.delay_ms, files)
            else:
                logs = _run_together(shell, spec, flows)
            data, acks = ("downlink", "uplink") if mirrored else ("uplink", "downlink")
            shutil.copyfile(shell.folder / f"{data}.log", files.link_data_log)
            shutil.copyfile(shell.folder / f"{acks}.log", files.link_ack_log)
            return logs


def _require_answers(scheme: Scheme, data: LinkLog, answers: LinkLog, spec: EmulatorSpec) -> None:
    """Raises MahimahiError if the ACKs ended before the flow.

    Pantheon's schemes are exempt: when a receiver answers is up to the scheme.
    """
    if scheme.kind is not Kind.PANTHEON and (said := broken_off(data, answers, spec)) is not None:
        raise MahimahiError(f"{scheme.label}: {said}")


def _write_ack_log(acks: LinkLog, delay_ms: float, files: RunFiles) -> None:
    assert acks.header is not None
    write_merged_log(files.ack_log, [acks], delay_ms, acks.header.init_timestamp_ms)


def not_in_shells(spec: Network) -> str | None:
    """Which part of an emulator mahimahi's shells cannot do, in one line; None: they can do all."""
    assert isinstance(spec, EmulatorSpec)
    try:
        shell_command(spec)
    except InputError as error:
        return str(error)
    return None


def _run_alone(shell: MahimahiShell, flow: PlannedFlow) -> None:
    programs = flow_programs(flow.scheme, flow.seconds, lambda file: str(shell.stage(file)))
    port = free_port(programs.protocol)
    listener = shell.serve(programs.listen(port), programs.protocol, port)
    limit_s = flow.seconds + SETTLING_S
    base = "$MAHIMAHI_BASE"
    words = map(shlex.quote, programs.call(base, port))
    command = " ".join(word.replace(base, f"'\"{base}\"'") for word in words)  # the shell fills in the base
    if not programs.ends_itself:
        command = f"timeout --foreground --signal=KILL {limit_s} {command}; test $? = 137"
    caller = shell.start(command)
    try:
        code = caller.wait(limit_s + OVERRUN_S)
    except OutsideError as error:
        raise MahimahiError(f"{flow.scheme.label}: {error}") from None
    if code != 0:
        raise MahimahiError(f"{flow.scheme.label} failed: {caller.complaint()}{_last_words(listener)}")


def _last_words(listener: ProcessGroup) -> str:
    """The listener's own message, if it has ended; the caller only reports the broken connection."""
    try:
        code = listener.wait(_LISTENER_ENDS_S)
    except OutsideError:
        return ""
    return f"; its listener has ended with {code}: {listener.complaint()}"


def _run_together(shell: MahimahiShell, spec: EmulatorSpec, flows: list[PlannedFlow]) -> list[LinkLog]:
    """Runs each flow with programs of its own, started at its own time."""

    def stage(file: Path) -> str:
        return str(shell.stage(file))

    programs = [flow_programs(flow.scheme, flow.seconds, stage) for flow in flows]
    ports = []
    for number, each in enumerate(programs, 1):
        ports.append(free_port(each.protocol))
        shell.serve(each.listen(ports[-1]), each.protocol, ports[-1], f"listener-{number}")
    shell.open()
    with (
        PacketCapture(ports, shell.namespace, outgoing=True) as sent,
        PacketCapture(ports, outgoing=False) as received,
    ):

        def start(index: int) -> ProcessGroup:
            return shell.run_inside(programs[index].call(shell.base, ports[index]), f"flow-{index + 1}")

        run_flows(flows, programs, start)
    link = shell.uplink_log()
    assert link.header is not None
    logs = []
    for port in ports:
        own, theirs = sent.records(port), received.records(port)
        log = matched_flow(own, paired_uids(own, theirs), link.header.init_timestamp_ms, link.opportunity_ms)
        logs.append(replace(log.shifted(-spec.delay_ms), header=link.header))
    return logs
