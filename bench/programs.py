"""Runs other projects' programs for a measurement."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ccgym.envs.errors import OutsideError
from ccgym.envs.host.process_group import POLL_S, ProcessGroup

OVERRUN_S = 20.0
"""Time that a program may take beyond its own."""


def run_to_end(argv: list[str], folder: Path, seconds: float) -> None:
    """Runs a program that takes `seconds`; its output is in `client.out`.

    Raises:
        OutsideError: the program fails, or does not end in time.
    """
    with ProcessGroup(argv, folder, "client") as client:
        if client.wait(seconds + OVERRUN_S) != 0:
            raise OutsideError(f"{argv} failed: {client.complaint()}")


def await_output(file: Path) -> None:
    """Waits until a program has printed something, which shows that it is ready."""
    deadline = time.monotonic() + OVERRUN_S
    while not file.stat().st_size:
        if time.monotonic() > deadline:
            raise OutsideError(f"nothing in {file.name} after {OVERRUN_S:.0f} s")
        time.sleep(POLL_S)


@contextmanager
def iperf3_server(host: list[str], folder: Path) -> Iterator[None]:
    """Runs an iperf3 server for one client; `host`: what command lines on its host begin with."""
    argv = [*host, "iperf3", "--server", "--one-off", "--forceflush"]
    with ProcessGroup(argv, folder, "server"):
        await_output(folder / "server.out")  # it prints only once it listens
        yield
