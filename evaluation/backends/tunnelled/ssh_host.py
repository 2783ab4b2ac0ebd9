"""Another machine, reached by the system's ssh with the user's configuration and keys."""

import hashlib
import platform
import re
import secrets
import shlex
import socket
import subprocess
from pathlib import Path
from typing import Any

from ccgym.envs.errors import InputError, OutsideError

CONNECT_S = 10
COMMAND_S = 60.0
_CACHE = ".cache/ccgym"
"""The folder, below the remote home directory, where the programs stay for the next time."""
_OPTIONS = (
    "-T",
    "-o BatchMode=yes",
    f"-o ConnectTimeout={CONNECT_S}",
    "-o ServerAliveInterval=5",
    "-o ServerAliveCountMax=3",
    "-o ControlMaster=auto",
    "-o ControlPersist=60",
)
_SSH_FAILED = 255


class SshError(OutsideError):
    """The machine cannot be reached, or the connection was lost; one line."""


class SshHost:
    """A remote machine. As a context: one connection, and a temporary folder there until it ends.

    Args:
        destination: USER@HOST.
        port: the port of the SSH server; None: as ssh's configuration says.
        here: a local folder for the connection's socket.
    """

    def __init__(self, destination: str, port: int | None, here: Path) -> None:
        self.name = destination
        self._destination = destination
        options = [*shlex.split(" ".join(_OPTIONS)), "-o", f"ControlPath={here}/%C"]
        self.marker = f"ccgym-{secrets.token_hex(8)}"
        self._ssh = ["ssh", *options, *(["-p", str(port)] if port else []), destination]
        self.folder = ""
        self._staged: dict[Path, str] = {}

    def __enter__(self) -> "SshHost":
        """Connects. Raises SshError: no connection; InputError: our programs cannot run there."""
        facts = self._ask("uname -m; echo $HOME; mktemp -d ${TMPDIR:-/tmp}/ccgym-XXXXXX")
        machine, home, self.folder = facts.split("\n")
        self._cache = f"{home}/{_CACHE}"
        if machine != platform.machine():
            self.__exit__()
            raise InputError(
                f"{self.name} has a processor of another kind, {machine}: the programs here are for "
                f"{platform.machine()}"
            )
        return self

    def __exit__(self, *failure: Any) -> None:
        """Removes the folder and disconnects; a connection that is lost already is no error."""
        for command in (
            [*self._ssh, f"rm -rf {shlex.quote(self.folder)}"],
            [*self._ssh[:-1], "-O", "exit", self._destination],
        ):
            try:
                subprocess.run(command, capture_output=True, timeout=COMMAND_S, check=False)
            except subprocess.TimeoutExpired:
                continue

    @property
    def address(self) -> str:
        """The IPv4 address of the host, whose name ssh's configuration may set.

        Raises:
            SshError: the name has no IPv4 address.
        """
        configuration = subprocess.run(
            [*self._ssh[:-1], "-G", self._destination],
            capture_output=True,
            text=True,
            timeout=COMMAND_S,
            check=True,
        ).stdout
        hostname = next(
            line.split()[1] for line in configuration.splitlines() if line.startswith("hostname ")
        )
        try:
            return str(socket.getaddrinfo(hostname, None, socket.AF_INET)[0][4][0])
        except OSError as error:
            raise SshError(f"{self.name}: no IPv4 address of {hostname}: {error.strerror}") from None

    def command(self, argv: list[str]) -> list[str]:
        """As `Host` says."""
        return [*self._ssh, self._marked(f"exec {shlex.join(argv)}")]

    def unprivileged(self, argv: list[str]) -> list[str]:
        """`argv` itself: it runs as the user who logs in."""
        return argv

    def stage(self, file: Path) -> str:
        """Copies the file unless it is there from an earlier call or evaluation; returns its path there."""
        if file not in self._staged:
            content = file.read_bytes()
            folder = f"{self._cache}/{hashlib.sha256(content).hexdigest()[:16]}"
            there = f"{folder}/{file.name}"
            if self._ask(f"test -x {shlex.quote(there)} && echo yes || true") != "yes":
                self._write(content, there, f"mkdir -p {shlex.quote(folder)}", "755")
            self._staged[file] = there
        return self._staged[file]

    def keep_secret(self, file: Path) -> str:
        """Copies the secret over the encrypted connection to a file that nobody else may read."""
        there = f"{self.folder}/{file.name}"
        self._write(file.read_bytes(), there, "umask 077", "600")
        return there

    def fetch(self, path: str, target: Path) -> None:
        """As `Host` says."""
        target.write_bytes(self._run(f"cat {shlex.quote(path)}"))

    def has_program(self, name: str) -> bool:
        """Whether a program is on the search path there."""
        return self._ask(f"command -v {shlex.quote(name)} || true") != ""

    def read(self, path: str) -> str:
        """A short text file there; empty where there is none."""
        return self._ask(f"cat {shlex.quote(path)} 2>/dev/null || true")

    def python(self, source: str) -> str:
        """Runs a Python program there and returns what it prints.

        Raises:
            SshError: there is no Python, or the program failed.
        """
        return self._run("python3 -", source.encode()).decode().strip()

    def _write(self, content: bytes, there: str, before: str, mode: str) -> None:
        part = shlex.quote(f"{there}.part")
        self._run(
            f"{before} && cat > {part} && chmod {mode} {part} && mv {part} {shlex.quote(there)}", content
        )

    def _ask(self, script: str) -> str:
        return self._run(script).decode().strip()

    def _marked(self, script: str) -> str:
        """`script`, preceded by a command that prints `marker`: what the login itself prints ends there."""
        return f"printf '\\n%s\\n' {self.marker}; {script}"

    def _run(self, script: str, given: bytes = b"") -> bytes:
        try:
            done = subprocess.run(
                [*self._ssh, self._marked(script)],
                input=given,
                capture_output=True,
                timeout=COMMAND_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise SshError(f"{self.name} does not answer within {COMMAND_S:.0f} s") from None
        if done.returncode == _SSH_FAILED:
            raise SshError(_complaint(self.name, done.stderr.decode(errors="replace")))
        if done.returncode != 0:
            last = (done.stderr.decode(errors="replace").strip().splitlines() or ["no message"])[-1]
            raise SshError(f"{self.name}: `{script.split(';')[0]}` failed: {last}")
        _, marker, answer = done.stdout.partition(f"\n{self.marker}\n".encode())
        if not marker:
            raise SshError(f"{self.name} runs something else than it is told: give the login a plain shell")
        return answer


def _complaint(name: str, stderr: str) -> str:
    """What ssh said, in one line, and what would mend it."""
    host = name.rpartition("@")[2]
    mends = {
        "IDENTIFICATION HAS CHANGED": f"its host key has changed; if that is right: ssh-keygen -R {host}",
        "Host key verification failed": f"its host key is not known yet: log in once by hand, ssh {name}",
        "Permission denied": f"none of your keys opens it: ssh-copy-id {name}",
    }
    for said, mend in mends.items():
        if said in stderr:
            return f"{name}: {mend}"
    lines = [line for line in stderr.strip().splitlines() if not re.match(r"Warning|debug", line)]
    return f"{name} cannot be reached: {lines[-1].strip() if lines else 'the connection was lost'}"
