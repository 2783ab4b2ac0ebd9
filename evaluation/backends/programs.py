"""The two programs of a flow: one listens at a port, the other calls it."""

import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

from ccgym.deploy import quic
from ccgym.envs.errors import InputError
from ccgym.envs.host.host_user import HostUser
from ccgym.envs.host.memory import OUTSIDE_CODE_MB
from ccgym.envs.host.process_group import running_in_group
from ccgym.evaluation.schemes import Kind, Scheme

SENDER, RECEIVER = "ccgym-sender", "ccgym-receiver"
LIBRARY_SENDER = "ccgym-sender-so"
"""Linked dynamically, because it loads libraries: it needs a C library at least as new as this
machine's, and libgcc."""
_LONGER_S = 3600.0
"""How much longer than needed a program is asked to run if it is cut off anyway."""

WRAPPER_ANSWER_S = 20.0

_LIMITED = ["sh", "-c", f'ulimit -d {OUTSIDE_CODE_MB << 10} 2>/dev/null; exec "$@"', "sh"]
"""Begins a command that runs code from outside: limits its data in memory, unless a lower limit holds."""

Stage = Callable[[Path], str]
"""Copies a file of ours to where the programs run and returns its path there."""


@dataclass(frozen=True)
class FlowPrograms:
    """How to start the flow of a scheme. Data go from caller to listener unless `sender_listens`."""

    protocol: str
    """The listener's protocol: tcp, udp or any."""
    listen: Callable[[int], list[str]]
    """Port -> command."""
    call: Callable[[str, int], list[str]]
    """Address and port of the listener -> command."""
    ends_itself: bool
    """Whether the caller ends by itself, with exit code 0, once its time is over; else it is cut off."""
    sender_listens: bool = False


def flow_programs(scheme: Scheme, seconds: float, stage: Stage) -> FlowPrograms:
    """The programs of a flow that lasts `seconds`.

    Raises:
        InputError: a program is missing.
    """
    if scheme.kind is Kind.KERNEL:
        return _kernel_tcp(scheme, seconds)
    if scheme.kind is Kind.PANTHEON:
        return _wrapper(scheme.controller)
    if scheme.kind is Kind.QUIC:
        return _quic(scheme, stage)
    return _endpoint(scheme, seconds, stage)


def sender_listens(scheme: Scheme) -> bool:
    """Whether the sender is started first and listens, so that data go from listener to caller."""
    if scheme.kind is Kind.PANTHEON:
        return run_first(scheme.controller) == "sender"
    return scheme.kind is Kind.QUIC


def _kernel_tcp(scheme: Scheme, seconds: float) -> FlowPrograms:
    """iperf3, a new server for each flow. It is cut off: its closing message would wait in a full queue."""
    options = ["--congestion", scheme.controller, "--time", f"{seconds + _LONGER_S:.0f}"]
    return FlowPrograms(
        "tcp",
        lambda port: ["iperf3", "--server", "--one-off", "--port", str(port)],
        lambda address, port: ["iperf3", "--client", address, "--port", str(port), *options],
        ends_itself=False,
    )


def _wrapper(wrapper: str) -> FlowPrograms:
    """A Pantheon scheme: one side is started first and listens; both run until they are ended."""
    first = run_first(wrapper)
    second = {"receiver": "sender", "sender": "receiver"}[first]
    return FlowPrograms(
        "any",
        lambda port: [wrapper, first, str(port)],
        lambda address, port: [wrapper, second, address, str(port)],
        ends_itself=False,
        sender_listens=first == "sender",
    )


def _quic(scheme: Scheme, stage: Stage) -> FlowPrograms:
    """A QUIC server from which the client downloads until both are ended."""
    return FlowPrograms(
        "udp",
        lambda port: quic.server_command(scheme.controller, port, stage),
        lambda address, port: quic.client_command(address, port, stage),
        ends_itself=False,
        sender_listens=True,
    )


def check_real_time(schemes: list[Scheme]) -> None:
    """Raises InputError if no program runs a scheme in real time; does not look at the machine."""
    for scheme in schemes:
        if scheme.kind is Kind.PYTHON:
            raise InputError(f"scheme {scheme.label!r} is in Python: it runs with --backend twin only")


def check_programs(schemes: list[Scheme]) -> None:
    """Raises InputError if a program that these schemes need is missing or does not answer."""
    for scheme in schemes:
        if scheme.kind is Kind.PANTHEON:
            run_first(scheme.controller)
        elif scheme.kind in (Kind.NATIVE, Kind.POLICY, Kind.LIBRARY):
            endpoint_program(_sender(scheme))


@cache
def run_first(wrapper: str) -> str:
    """Which side of a Pantheon scheme is started first: sender or receiver.

    Raises:
        InputError: the wrapper does not say.
    """
    argv = HostUser.unprivileged().command([wrapper, "run_first"])
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    try:
        with running_in_group(argv, cwd="/", errors="replace", **pipes) as asked:  # with what it starts
            output, errors = asked.communicate(timeout=WRAPPER_ANSWER_S)
    except subprocess.TimeoutExpired:
        raise InputError(f"{wrapper} run_first: no answer within {WRAPPER_ANSWER_S:.0f} s") from None
    except OSError as error:
        raise InputError(f"{wrapper} run_first: {error}") from None
    first = str(output).strip()
    if first not in ("sender", "receiver"):
        said = (str(errors).strip().splitlines() or [f"exit code {asked.returncode}"])[-1]
        raise InputError(f"{wrapper} run_first: expected 'sender' or 'receiver' on its output: {said}")
    return first


def _endpoint(scheme: Scheme, seconds: float, stage: Stage) -> FlowPrograms:
    sender, receiver = stage(endpoint_program(_sender(scheme))), stage(endpoint_program(RECEIVER))
    file = scheme.file
    controller = scheme.controller if file is None else scheme.controller_with(stage(file))
    options = ["--scheme", controller, "--seconds", f"{seconds:g}"]
    limited = _LIMITED if scheme.kind is Kind.LIBRARY else []
    return FlowPrograms(
        "udp",
        lambda port: [receiver, str(port), "--once"],
        lambda address, port: [*limited, sender, address, str(port), *options],
        ends_itself=True,
    )


def _sender(scheme: Scheme) -> str:
    return LIBRARY_SENDER if scheme.kind is Kind.LIBRARY else SENDER


def endpoint_program(name: str) -> Path:
    """The path of a built endpoint program.

    Raises:
        InputError: it has not been built.
    """
    path = Path(str(files("ccgym.deploy") / "bin" / name))
    if not path.is_file():
        raise InputError(f"{path} is not built: run `make setup`")
    return path
