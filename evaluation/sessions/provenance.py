"""Describes the system on which an evaluation ran: machine, kernel, versions."""

import importlib.metadata
import os
import platform
from pathlib import Path

from ccgym.envs.host.program_output import program_output
from ccgym.envs.host.scheduling_priority import scheduling_priority

_SETTINGS = (
    "net.core.default_qdisc",
    "net.core.rmem_max",
    "net.core.wmem_max",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_wmem",
)


def provenance() -> dict[str, str]:
    """Facts that a reader needs to repeat or to doubt the figures, by name."""
    facts = {
        "ccgym": importlib.metadata.version("ccgym") if _is_installed("ccgym") else "",
        "git": _git_summary(Path(__file__).parent),
        "machine": f"{_processor()}, {os.cpu_count()} cores",
        "kernel": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "mahimahi": _first_line(["dpkg-query", "--show", "--showformat=${Version}", "mahimahi"]),
        "scheduling priority": scheduling_priority().value,
        "iperf3": _first_line(["iperf3", "--version"]),
        **{name: _setting(name) for name in _SETTINGS},
    }
    return {name: fact for name, fact in facts.items() if fact}


def _is_installed(package: str) -> bool:
    try:
        importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def _git_summary(folder: Path) -> str:
    """Branch, commit and number of changed files; empty if this file is not tracked by the repository.

    An installed package may be in the folder of another project, whose repository does not track it.
    """
    known = ["git", "-C", str(folder), "ls-files", "--error-unmatch", Path(__file__).name]
    if not program_output(known):
        return ""
    commit = _first_line(["git", "-C", str(folder), "log", "-1", "--format=%h %cs"])
    if not commit:
        return ""
    branch = _first_line(["git", "-C", str(folder), "rev-parse", "--abbrev-ref", "HEAD"])
    changed = len(
        program_output(
            ["git", "-C", str(folder), "status", "--porcelain", "--untracked-files=no"]
        ).splitlines()
    )
    return f"branch: {branch} @ {commit}" + (f", {changed} files changed" if changed else "")


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _setting(name: str) -> str:
    path = Path("/proc/sys", *name.split("."))
    return " ".join(path.read_text().split()) if path.is_file() else ""


def _first_line(argv: list[str]) -> str:
    return next(iter(program_output(argv).splitlines()), "")
