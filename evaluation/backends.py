"""Where a flow is flown: in the twin, in virtual time, or in real mahimahi shells."""

import shutil
from importlib.resources import files
from pathlib import Path
from typing import Protocol

from ccgym.envs import _core
from ccgym.envs.emulator_spec import EmulatorSpec
from ccgym.envs.emulators import NamedEmulator
from ccgym.envs.errors import InputError
from ccgym.envs.host_checks import check_kernel_tcp
from ccgym.envs.link_log import LinkLog
from ccgym.envs.mahimahi import (
    MahimahiError,
    MahimahiShell,
    free_port,
    require,
    require_mahimahi,
    shell_command,
)

from .run_files import RunFiles
from .schemes import Kind, Scheme

SETTLING_S = 2.0
"""A kernel flow runs so much longer than asked: its handshakes do not shorten the flow that is measured."""
_OVERRUN_S = 15.0


class Backend(Protocol):
    """Flies one flow of a scheme over an emulator."""

    name: str

    def check(self, emulators: list[NamedEmulator], schemes: list[Scheme]) -> None:
        """Raises InputError when this backend cannot fly one of them here."""

    def fly(self, spec: EmulatorSpec, scheme: Scheme, seconds: float, seed: int, files: RunFiles) -> LinkLog:
        """The log of the link that carried the data; what else the backend records goes into `files`."""


class TwinBackend:
    """mahimahi in virtual time, inside this process."""

    name = "twin"

    def check(self, emulators: list[NamedEmulator], schemes: list[Scheme]) -> None:
        """Kernel TCP lives in real time only."""
        for scheme in schemes:
            if scheme.kind is Kind.KERNEL:
                raise InputError(
                    f"scheme {scheme.label!r} is not in the twin: leave it out or say --backend mahimahi"
                )
        for emulator in emulators:
            emulator.spec.to_path()

    def fly(self, spec: EmulatorSpec, scheme: Scheme, seconds: float, seed: int, _: RunFiles) -> LinkLog:
        """The flow begins at time 0."""
        flight = _core.fly(spec.to_path(), scheme.controller, seconds=seconds, seed=seed)
        return LinkLog.from_flight(flight, spec.uplink.schedule())


class MahimahiBackend:
    """Real shells: the sender inside, so that data takes the uplink, the receiver outside."""

    name = "mahimahi"

    def check(self, emulators: list[NamedEmulator], schemes: list[Scheme]) -> None:
        """Looks for mahimahi, rights, the endpoint programs, iperf3 and the kernel's congestion controls."""
        for emulator in emulators:
            shell_command(emulator.spec)
        require_mahimahi()
        if any(scheme.kind is Kind.KERNEL for scheme in schemes):
            require(check_kernel_tcp())
        if any(scheme.kind is not Kind.KERNEL for scheme in schemes):
            _program("ccgym-sender")

    def fly(self, spec: EmulatorSpec, scheme: Scheme, seconds: float, _: int, files: RunFiles) -> LinkLog:
        """Takes `seconds` of real time and the shells' start; keeps mm-link's own logs."""
        with MahimahiShell(spec) as shell:
            if scheme.kind is Kind.KERNEL:
                _fly_kernel(shell, scheme, seconds)
            else:
                _fly_endpoint(shell, scheme, seconds)
            shutil.copyfile(shell.folder / "uplink.log", files.link_data_log)
            shutil.copyfile(shell.folder / "downlink.log", files.link_ack_log)
            return shell.uplink_log().without_background()


def make_backend(name: str) -> Backend:
    """The backend of this name."""
    backends: list[Backend] = [TwinBackend(), MahimahiBackend()]
    return {backend.name: backend for backend in backends}[name]


def _fly_kernel(shell: MahimahiShell, scheme: Scheme, seconds: float) -> None:
    """iperf3, a fresh server for this flow; the client is cut off: its good-bye waits behind a full queue."""
    port = free_port("tcp")
    shell.serve(["iperf3", "--server", "--one-off", "--port", str(port)], "tcp", port)
    limit_s = seconds + SETTLING_S
    client = shell.start(
        f"timeout --foreground --signal=KILL {limit_s} iperf3 --client $MAHIMAHI_BASE --port {port}"
        f" --congestion {scheme.controller} --time {limit_s + _OVERRUN_S:.0f}; test $? = 137"
    )
    if client.wait(limit_s + _OVERRUN_S) != 0:
        raise MahimahiError(f"iperf3 ended early: {client.complaint()}")


def _fly_endpoint(shell: MahimahiShell, scheme: Scheme, seconds: float) -> None:
    port = free_port("udp")
    shell.serve([str(shell.stage(_program("ccgym-receiver"))), str(port), "--once"], "udp", port)
    controller = scheme.controller
    if scheme.policy_file is not None:
        controller = f"policy:{shell.stage(scheme.policy_file)}"
    sender = shell.stage(_program("ccgym-sender"))
    client = shell.start(f'exec {sender} $MAHIMAHI_BASE {port} --scheme "$0" --seconds {seconds}', controller)
    if client.wait(seconds + _OVERRUN_S) != 0:
        raise MahimahiError(f"ccgym-sender failed: {client.complaint()}")


def _program(name: str) -> Path:
    path = Path(str(files("ccgym.deploy") / "bin" / name))
    if not path.is_file():
        raise InputError(f"{path} is not built: run `make setup`")
    return path
