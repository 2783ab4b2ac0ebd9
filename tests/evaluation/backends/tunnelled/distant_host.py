"""Another machine for the tests, behind a path with propagation, a rate and two NATs.

    here -- mm-delay and its NAT -- 10.55.1.2 -- 10.55.1.1, a NAT, 10.55.2.1 -- there (10.55.2.2), an sshd

Three network namespaces, and that of the shell, whose packets take DELAY_MS each way. Both directions of the
wire behind the second NAT are shaped to RATE_MBPS. The sshd has a host key, a configuration and an authorized
key of its own, and a home directory that nobody else uses.
"""

import os
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from ccgym.envs.errors import OutsideError
from ccgym.envs.host.host_user import HostUser
from ccgym.envs.host.process_group import POLL_S, ProcessGroup
from ccgym.envs.mahimahi.shell_starts import until_shells_stand
from ccgym.tests.processes import all_processes, command_of

RATE_MBPS = 12
DELAY_MS = 20
NAME = "far-away"
NTP_SERVER = "10.55.2.2"
START_S = 10.0
COMMAND_S = 20.0
_THERE, _PORT = "10.55.2.2", 2222
_SHAPED = f"tbf rate {RATE_MBPS}mbit burst 3000 latency 50ms"

# RFC 5905: a server's answer has its own times and the one that it was sent, as the origin.
_NTP_SERVER = """
import socket, struct, time

def now():
    seconds = time.time() + 2208988800
    return struct.pack("!II", int(seconds), int(seconds % 1 * 2**32))

server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(("0.0.0.0", 123))
while True:
    question, address = server.recvfrom(48)
    received = now()
    head = struct.pack("!BBbbII4s", 0x1C, 1, 0, -20, 0, 0, b"LOCL")
    server.sendto(head + received + question[40:48] + received + now(), address)
"""


class DistantHost:
    """As a context; `here` is what a command line begins with to run at the near end of the path."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.home, self.scratch = folder / "home", folder / "scratch"
        self._stack = ExitStack()
        self._namespaces = {role: f"ccgym-{os.getpid()}-{role}" for role in ("gate", "nat", "there")}
        self.here: list[str]

    @property
    def environment(self) -> dict[str, str]:
        """With an `ssh` first in the path that reads this host's configuration."""
        return {**os.environ, "PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}"}

    def __enter__(self) -> "DistantHost":
        with ExitStack() as stack:
            for namespace in self._namespaces.values():
                _run("ip", "netns", "add", namespace)
                stack.callback(_run, "ip", "netns", "delete", namespace)
            self._wire()
            stack.enter_context(until_shells_stand(self._start_delay))
            self._write_keys()
            stack.enter_context(self._start_daemon())
            stack.enter_context(self._start_ntp_server())
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *failure: Any) -> None:
        self._stack.close()

    def _start_delay(self) -> ProcessGroup:
        """Starts the shell that is `here`, and waits until it stands."""
        user, folder = HostUser.unprivileged(), self.folder / "delay"
        folder.mkdir(exist_ok=True)
        user.give(folder)
        inside = [
            "sh",
            "-c",
            f"echo $$ >{folder}/starting; mv {folder}/starting {folder}/pid; exec sleep infinity",
        ]
        argv = [
            "ip",
            "netns",
            "exec",
            self._namespaces["gate"],
            *user.command(["mm-delay", str(DELAY_MS), *inside]),
        ]
        shell = ProcessGroup(argv, folder, "mm-delay")
        deadline = time.monotonic() + START_S
        while not (folder / "pid").exists():
            if shell.returncode is not None:
                raise OutsideError(shell.complaint())
            assert time.monotonic() < deadline, "mm-delay does not stand"
            time.sleep(POLL_S)
        self.here = ["nsenter", f"--net=/proc/{(folder / 'pid').read_text().strip()}/ns/net"]
        return shell

    def _start_daemon(self) -> ProcessGroup:
        """Starts the sshd, and waits until it answers."""
        Path("/run/sshd").mkdir(
            exist_ok=True
        )  # where it parts with its rights; the system's own makes it, too
        argv = ["ip", "netns", "exec", self._namespaces["there"], "/usr/sbin/sshd", "-D", "-e"]
        daemon = ProcessGroup([*argv, "-f", str(self.folder / "sshd_config")], self.folder, "sshd")
        deadline = time.monotonic() + START_S
        while subprocess.run(
            [*self.ssh(), "true"], capture_output=True, timeout=COMMAND_S, check=False
        ).returncode:
            assert daemon.returncode is None, daemon.complaint()
            assert time.monotonic() < deadline, "no answer from sshd"
            time.sleep(0.1)
        return daemon

    def _start_ntp_server(self) -> ProcessGroup:
        """It tells this machine's time, as both hosts' clocks do."""
        program = self.folder / "ntp_server.py"
        program.write_text(_NTP_SERVER)
        argv = ["ip", "netns", "exec", self._namespaces["there"], sys.executable, str(program)]
        return ProcessGroup(argv, self.folder, "ntp-server")

    def ssh(self) -> list[str]:
        """Logs in, from here."""
        return [*self.here, str(self.folder / "bin" / "ssh"), f"root@{NAME}"]

    def says(self, command: str) -> str:
        """What a command prints over there, and whatever the login prints by itself."""
        return _run(*self.ssh(), command)

    def processes_there(self) -> list[str]:
        """The commands of ours that run on the distant host, also inside of tunnels."""
        commands = map(command_of, all_processes())
        return [command for command in commands if str(self.home) in command and "ssh" not in command]

    def cut_connections(self) -> None:
        """Kills what serves those who are logged in; who logs in next is served."""
        for pid in map(int, _run("ip", "netns", "pids", self._namespaces["there"]).split()):
            if command_of(pid).startswith("sshd: root"):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    def other_host_key(self) -> str:
        """A line for the known hosts, with a key that is not this host's."""
        return f"[{_THERE}]:{_PORT} {self._make_key('other_key')}"

    def _wire(self) -> None:
        gate, nat, there = self._namespaces.values()
        _run("ip", "-n", gate, "link", "add", "inner", "type", "veth", "peer", "name", "inside", "netns", nat)
        _run(
            "ip", "-n", there, "link", "add", "outer", "type", "veth", "peer", "name", "outside", "netns", nat
        )
        for namespace, interface, address in (
            (gate, "inner", "10.55.1.2"),
            (nat, "inside", "10.55.1.1"),
            (nat, "outside", "10.55.2.1"),
            (there, "outer", _THERE),
        ):
            _run("ip", "-n", namespace, "address", "add", f"{address}/24", "dev", interface)
            for each in (interface, "lo"):
                _run("ip", "-n", namespace, "link", "set", each, "up")
        _run("ip", "-n", gate, "route", "add", "default", "via", "10.55.1.1")
        for router in (gate, nat):
            _run("ip", "netns", "exec", router, "sysctl", "-q", "-w", "net.ipv4.ip_forward=1")
        inside_nat = ["ip", "netns", "exec", nat]
        _run(
            *inside_nat, *["iptables", "-t", "nat", "-A", "POSTROUTING", "-o", "outside", "-j", "MASQUERADE"]
        )
        for namespace, interface in ((nat, "outside"), (there, "outer")):
            _run("tc", "-n", namespace, "qdisc", "add", "dev", interface, "root", *_SHAPED.split())

    def _make_key(self, name: str) -> str:
        key = self.folder / name
        key.unlink(missing_ok=True)
        _run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(key))
        return key.with_suffix(".pub").read_text()

    def _write_keys(self) -> None:
        self.home.mkdir()
        self.scratch.mkdir()
        (self.folder / "authorized_keys").write_text(self._make_key("key"))
        (self.folder / "known_hosts").write_text(f"[{_THERE}]:{_PORT} {self._make_key('host_key')}")
        (self.folder / "sshd_config").write_text(
            f"ListenAddress {_THERE}:{_PORT}\nHostKey {self.folder}/host_key\nUsePAM no\nStrictModes no\n"
            f"AuthorizedKeysFile {self.folder}/authorized_keys\nPermitRootLogin prohibit-password\n"
            f"PidFile {self.folder}/sshd.pid\nSetEnv HOME={self.home} TMPDIR={self.scratch}\n"
        )
        (self.folder / "ssh_config").write_text(
            f"Host {NAME}\n  HostName {_THERE}\n  Port {_PORT}\n  IdentityFile {self.folder}/key\n"
            f"  IdentitiesOnly yes\n  UserKnownHostsFile {self.folder}/known_hosts\n"
            "  GlobalKnownHostsFile /dev/null\n  StrictHostKeyChecking yes\n"
        )
        (self.folder / "bin").mkdir()
        ssh = self.folder / "bin" / "ssh"
        ssh.write_text(f'#!/bin/sh\nexec /usr/bin/ssh -F {self.folder}/ssh_config "$@"\n')
        ssh.chmod(0o755)


def _run(*argv: str) -> str:
    done = subprocess.run(argv, capture_output=True, text=True, timeout=COMMAND_S, check=False)
    assert done.returncode == 0, f"{' '.join(argv)}: {done.stderr}"
    return done.stdout
