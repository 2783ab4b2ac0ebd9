"""Learning flows in real mahimahi shells: what `_core.PathBatch` is for the twin, in real time.

Each path is a nest of shells with the native sender inside and its receiver outside. The sender reports
each decision over a Unix socket and keeps its old window until the action arrives: see gym_link.hh of the
endpoint.
"""

import select
import shlex
import socket
import time
import weakref
from collections.abc import Sequence
from contextlib import ExitStack
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from ccgym.envs import _core
from ccgym.envs.errors import InputError, OutsideError
from ccgym.envs.host.process_group import ProcessGroup
from ccgym.envs.specs.emulator_spec import EmulatorSpec
from numpy.typing import NDArray

from .shells import MahimahiError, MahimahiShell, free_port, require_mahimahi

ANSWER_S = 15.0
"""Longest wait for a sender's next decision: its hello is tried for 10 s, a silent step lasts 1 s."""
POLL_S = 0.1
"""A shell that has ended is noticed after this."""

_SOCKET_NAME = "gym.socket"
_DECIDING = _core.FLOW_STATES.index("deciding")


class LiveBatch:
    """Flows in real shells, one per emulator; they stand from each one's `reset` until `close`.

    Whatever goes wrong with one, a program that was killed, a host without mahimahi's needs, ends all of them
    with a `MahimahiError`; nothing stays behind, and a `reset` of all begins anew.
    """

    def __init__(
        self,
        specs: Sequence[EmulatorSpec],
        *,
        features: str,
        actions: str,
        companion: bool = False,
        min_cwnd_packets: float = 2.0,
    ) -> None:
        """Looks for what is needed; nothing is started yet.

        Raises:
            InputError: this machine cannot run mahimahi shells, or the sender is not built.
        """
        require_mahimahi()
        self._specs = list(specs)
        self._arguments = ["--features", features, "--actions", actions]
        self._arguments += ["--min-window", f"{min_cwnd_packets:.0f}"] + ["--companion"] * companion
        self._programs = [_program("ccgym-receiver"), _program("ccgym-sender")]
        self._flows: list[_LiveFlow | None] = [None] * len(specs)
        self.observation_size = len(_core.POLICY_FEATURES[features])
        weakref.finalize(self, _close_all, self._flows)  # also when the program ends

    def __len__(self) -> int:
        return len(self._specs)

    @property
    def states(self) -> NDArray[np.uint8]:
        """Every flow decides: (rows,) indices into `_core.FLOW_STATES`."""
        return np.full(len(self), _DECIDING, dtype=np.uint8)

    def set_path(self, index: int, spec: EmulatorSpec) -> None:
        """Another emulator from that flow's next reset on."""
        self._specs[index] = spec

    def reset(
        self, paths: NDArray[np.int32], _seeds: NDArray[np.uint64], observations: NDArray[np.float32]
    ) -> None:
        """Starts the shells and the senders of some flows anew, and waits for their first decisions.

        Chance is the real world's: seeds change nothing.

        Raises:
            MahimahiError: the shells or the programs do not stand.
        """
        telemetry = np.empty(len(_core.TELEMETRY))
        try:
            for path in paths:
                flow = self._flows[path]
                if flow is not None:
                    self._flows[path] = None
                    flow.close()
                self._flows[path] = _LiveFlow(self._specs[path], self._programs, self._arguments)
            for path in paths:
                self._flow(path).hear(observations[path], telemetry)
        except BaseException:
            self.close()
            raise

    def step(
        self, actions: NDArray[np.float32], observations: NDArray[np.float32], telemetry: NDArray[np.float64]
    ) -> None:
        """Gives all actions (rows, numbers), then waits for the next decision of each flow.

        Raises:
            MahimahiError: a shell or a program has ended, or a flow was never reset.
        """
        try:
            for path, action in enumerate(actions):
                self._flow(path).act(action)
            for path in range(len(self)):
                self._flow(path).hear(observations[path], telemetry[path])
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Takes all shells and programs down."""
        _close_all(self._flows)

    def _flow(self, path: int) -> "_LiveFlow":
        flow = self._flows[path]
        if flow is None:
            raise MahimahiError(f"{self._specs[path].name}: the flow does not stand: reset the environment")
        return flow


class _LiveFlow:
    """One nest of shells, its sender and receiver, and the socket to the sender."""

    def __init__(self, spec: EmulatorSpec, programs: list[Path], arguments: list[str]) -> None:
        self._name = spec.name
        with ExitStack() as stack:
            shell = stack.enter_context(MahimahiShell(spec))
            receiver, sender = (shell.stage(program) for program in programs)
            listener = stack.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET))
            listener.bind(str(shell.folder / _SOCKET_NAME))
            shell.give(shell.folder / _SOCKET_NAME)  # to its owner alone: who runs the sender
            listener.listen(1)
            port = free_port("udp")
            self._receiver = shell.serve([str(receiver), str(port)], "udp", port)
            script = f'exec {shlex.quote(str(sender))} $MAHIMAHI_BASE {port} --gym {_SOCKET_NAME} "$@"'
            self._shells = shell.start(script, "sender", *arguments)
            self._await(listener)
            self._gym = stack.enter_context(listener.accept()[0])
            self._stack = stack.pop_all()

    def act(self, action: NDArray[np.float32]) -> None:
        try:
            self._gym.send(action.astype(np.float64).tobytes())
        except OSError:
            self._fail()

    def hear(self, observation: NDArray[np.float32], telemetry: NDArray[np.float64]) -> None:
        """Writes what the next decision is made on, and what the step before it brought."""
        self._await(self._gym)
        try:
            record = np.frombuffer(self._gym.recv(8 * (len(telemetry) + len(observation))))
        except OSError:
            record = np.empty(0)
        if len(record) != len(telemetry) + len(observation):
            self._fail()
        telemetry[:], observation[:] = record[: len(telemetry)], record[len(telemetry) :]

    def _await(self, descriptor: socket.socket) -> None:
        deadline = time.monotonic() + ANSWER_S
        while not select.select([descriptor], [], [], POLL_S)[0]:
            if self._ended() or time.monotonic() > deadline:
                self._fail()
        if self._ended():
            self._fail()

    def _ended(self) -> bool:
        return self._shells.returncode is not None or self._receiver.returncode is not None

    def _fail(self) -> Any:
        who, group = ("the receiver", self._receiver)
        if self._receiver.returncode is None:
            who, group = "the sender or its mahimahi shells", self._shells
        raise MahimahiError(f"{self._name}: {who} ended before its flow: {_reason(group)}")

    def close(self) -> None:
        self._stack.close()


def _reason(group: ProcessGroup) -> str:
    try:
        group.wait(1.0)  # the socket closes a little before the shells do
    except OutsideError:
        return "no answer"
    return group.complaint()


def _close_all(flows: "list[_LiveFlow | None]") -> None:
    for index, flow in enumerate(flows):
        if flow is not None:
            flows[index] = None
            flow.close()


def _program(name: str) -> Path:
    path = Path(str(files("ccgym.deploy") / "bin" / name))
    if not path.is_file():
        raise InputError(f"{path} is not built: run `make setup`")
    return path
