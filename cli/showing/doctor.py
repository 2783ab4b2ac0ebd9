"""`ccgym doctor`: what this machine lacks, and the command that mends each lack."""

import argparse
import dataclasses
import json
import os
import re
import subprocess
from importlib import import_module, metadata
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ccgym.envs.host.host_checks import Check

PROGRAM_TRIAL_S = 5.0
_ROOT = Path(__file__).resolve().parents[2]
_TUNNEL_COMPLAINT = re.compile(r"(?:\w+ ended: ccgym-tunnel: )?(.*?)(?:; mend it)?: (.*)")
"""Splits the one line of the tunnel into what is wrong and how to mend it."""
_TUNNEL_SPEED = {
    "io_uring": "packets by io_uring",
    "plain": "a system call per packet, which is slower: no io_uring for TUN devices here (needs 6.4)",
}


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds the command to the command line."""
    parser = subparsers.add_parser(
        "doctor",
        help="check what this machine lacks, and say how to mend it",
        description="Checks the installation, tunnels, mahimahi, the kernel's congestion controls and the "
        "clocks. Exit code 0: all is well, 1: something is missing; the line below each lack is the "
        "command that mends it. Training needs the installation alone.",
    )
    parser.add_argument("--json", action="store_true", help="print the checks as JSON")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Prints every check."""
    from ccgym.envs.host.host_checks import check_host

    checks = [*check_installation(), *check_host()]
    well = all(check.ok for check in checks)
    if args.json:
        print(json.dumps({"ok": well, "checks": [dataclasses.asdict(check) for check in checks]}))
    else:
        for check in checks:
            print(_lines(check))
    return 0 if well else 1


def check_installation() -> "list[Check]":
    """The parts of ccgym itself: packages, C++ core, programs, tunnel."""
    from ccgym.deploy.export import PROGRAMS

    programs = [check_program(program) for program in PROGRAMS]
    return [check_packages(), check_binding(), *programs, check_tunnel()]


def check_packages() -> "Check":
    """Whether the Python packages are there, in the versions that ccgym's metadata ask for."""
    from ccgym.envs.host.host_checks import Check
    from packaging.requirements import Requirement

    wanted = [Requirement(line) for line in metadata.requires("ccgym") or []]
    wanted = [each for each in wanted if each.marker is None or each.marker.evaluate({"extra": ""})]
    unmet = []
    for requirement in wanted:
        try:
            version = metadata.version(requirement.name)
        except metadata.PackageNotFoundError:
            unmet.append(f"{requirement} is missing")
        else:
            if not requirement.specifier.contains(version, prereleases=True):
                unmet.append(f"{requirement} is {version}")
    if unmet:
        return Check("packages", False, ", ".join(unmet), "everything", "make setup")
    return Check("packages", True, f"{len(wanted)} Python packages", "everything")


def check_binding() -> "Check":
    """Whether the C++ core can be loaded."""
    from ccgym.envs.host.host_checks import Check

    try:
        import_module("ccgym.envs._core")
    except ImportError as error:
        return Check("core", False, f"the C++ core does not load: {error}", "everything", "make setup")
    return Check("core", True, "the C++ core loads", "everything")


def check_program(program: str, folder: Path = _ROOT / "deploy" / "bin") -> "Check":
    """Whether an endpoint program is built and runs here."""
    from ccgym.envs.host.host_checks import Check

    path, needed_for = folder / program, "real mahimahi, export"
    if not os.access(path, os.X_OK):
        return Check(program, False, f"{path} is not built", needed_for, "make setup")
    try:
        answer = subprocess.run(
            [path, "--version"], capture_output=True, text=True, timeout=PROGRAM_TRIAL_S, check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        return Check(program, False, f"{path} does not run: {error}", needed_for, "make setup")
    return Check(program, True, answer.stdout.strip(), needed_for)


def check_tunnel() -> "Check":
    """Whether a tunnel can be set up: its program is built, the user may make devices and namespaces."""
    from ccgym.envs.errors import InputError
    from ccgym.envs.host.host_checks import Check, check_tun
    from ccgym.tunnel.session import LocalTunnel, TunnelError, parse_device

    name, needed_for, rest = "tunnel", "tunnels, real paths", ["sleep", "10"]
    device = check_tun()
    if not device.ok:
        return Check(name, False, device.found, needed_for, device.mend)
    try:
        with (
            TemporaryDirectory(prefix="ccgym-trial-") as folder,
            LocalTunnel(Path(folder), rest, rest) as trial,
        ):
            speed = _TUNNEL_SPEED[parse_device(trial.client.await_line(0))]
            return Check(name, True, f"two ends started and found each other; {speed}", needed_for)
    except (InputError, TunnelError) as error:
        parts = _TUNNEL_COMPLAINT.fullmatch(str(error))
        found, mend = parts.groups() if parts else (str(error), "mend the other lines first")
        return Check(name, False, found, needed_for, mend)


def _lines(check: "Check") -> str:
    if check.ok:
        return f"ok       {check.name:15} {check.found}"
    mend = f"{'':9}mend it: {check.mend}"
    return f"MISSING  {check.name:15} {check.found} (needed for: {check.needed_for})\n{mend}"
