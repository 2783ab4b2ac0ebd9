"""Real QUIC senders, as references for ours: tquic's client and server, built from crates.io on demand.

~/.cache/ccgym/quic/tquic_tools-VERSION/bin/{tquic_client,tquic_server}
                                        certificate.pem, key.pem   of the server, self-signed
                                        bulk                       what is sent, over and over
"""

import fcntl
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ccgym.envs.errors import InputError, OutsideError
from ccgym.envs.host.process_group import kill_group, running_in_group
from ccgym.envs.host.program_output import program_output
from ccgym.envs.host.user_cache import user_cache

CRATE, VERSION = "tquic_tools", "1.6.0"
ALGORITHMS = {"quic-bbr": "BBR", "quic-copa": "COPA", "quic-cubic": "CUBIC"}
"""Scheme -> tquic's name of its congestion control."""
OLDEST_CARGO = (1, 70)
INSTALL_S = 1800.0
"""Two quiet cores take two minutes."""
BULK_BYTES = 20_000_000
PARALLEL_REQUESTS = 4
"""So that data are under way while one request ends and the next begins."""

_SCRATCH = ".partial-"
_HOST = "ccgym.invalid"
_COMPILING = re.compile(r"^\s*Compiling (\S+)")
_TOOLS = {
    "cargo": "apt-get install cargo-web (Debian 12) or cargo, or https://rustup.rs",
    "cmake": "apt-get install cmake",
    "openssl": "apt-get install openssl",
}
"""What the build needs -> how to get it."""


def folder() -> Path:
    """Where this version is, or would be."""
    return user_cache("quic") / f"{CRATE}-{VERSION}"


def is_installed() -> bool:
    """Whether the programs and what they need stand."""
    return folder().is_dir()


def install(report: Callable[[str], None]) -> None:
    """Builds the programs with cargo; all or nothing. `report` hears the crate that is being compiled.

    Where another process builds them already, waits until it has.

    Raises:
        InputError: a tool is not there, or is too old.
        OutsideError: one of them failed, or took longer than INSTALL_S.
    """
    if is_installed():
        return
    _check_tools()
    folder().parent.mkdir(parents=True, exist_ok=True)
    with _build_lock():
        if is_installed():
            return
        for left in folder().parent.glob(f"{_SCRATCH}*"):  # by one that was killed: the lock is ours
            shutil.rmtree(left, ignore_errors=True)
        _build(report)


def _build(report: Callable[[str], None]) -> None:
    with tempfile.TemporaryDirectory(
        prefix=_SCRATCH, dir=folder().parent, ignore_cleanup_errors=True
    ) as scratch:
        built = Path(scratch) / "built"
        build = ["cargo", "install", CRATE, "--version", VERSION, "--locked", "--root", str(built)]
        _run([*build, "--target-dir", f"{scratch}/target"], report)
        _make_certificate(built)
        with (built / "bulk").open("wb") as bulk:
            bulk.truncate(BULK_BYTES)
        built.rename(folder())


def server_command(scheme: str, port: int, stage: Callable[[Path], str]) -> list[str]:
    """The side that sends: listens at the port, and answers each request with the bulk."""
    return [
        stage(folder() / "bin" / "tquic_server"),
        *("--listen", f"0.0.0.0:{port}"),
        *("--cert", stage(folder() / "certificate.pem")),
        *("--key", stage(folder() / "key.pem")),
        *("--root", str(Path(stage(folder() / "bulk")).parent)),
        *("--congestion-control-algor", ALGORITHMS[scheme]),
        *("--log-level", "ERROR"),
    ]


def client_command(address: str, port: int, stage: Callable[[Path], str]) -> list[str]:
    """The side that receives: asks for the bulk again and again until it is ended."""
    return [
        stage(folder() / "bin" / "tquic_client"),
        *("--connect-to", f"{address}:{port}"),
        *("--total-requests-per-thread", "0"),
        *("--max-requests-per-conn", "0"),
        *("--max-concurrent-requests", str(PARALLEL_REQUESTS)),
        *("--log-level", "ERROR"),
        f"https://{_HOST}/bulk",
    ]


def _check_tools() -> None:
    for program, mend in _TOOLS.items():
        if shutil.which(program, path=_build_path()) is None:
            raise InputError(f"QUIC is built with {program}, which is not installed: {mend}")
    said = program_output(["cargo", "--version"])
    version = re.match(r"cargo (\d+)\.(\d+)", said)
    if version is None or tuple(map(int, version.groups())) < OLDEST_CARGO:
        oldest = ".".join(map(str, OLDEST_CARGO))
        raise InputError(f"QUIC is built with cargo {oldest} or later, this is {said!r}: {_TOOLS['cargo']}")


def _build_path() -> str:
    """Where tools are looked for; cmake may be this Python's own."""
    return os.pathsep.join([os.environ.get("PATH", os.defpath), str(Path(sys.executable).parent)])


@contextmanager
def _build_lock() -> Iterator[None]:
    descriptor = os.open(folder().parent, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _run(command: list[str], report: Callable[[str], None]) -> None:
    """Runs cargo, which says on stderr what it compiles, and its reason last."""
    plain = {"CARGO_TERM_PROGRESS_WHEN": "never", "CARGO_TERM_COLOR": "never"}
    environment = {**os.environ, **plain, "PATH": _build_path()}
    last_lines: deque[str] = deque(maxlen=20)
    silent, pipe = subprocess.DEVNULL, subprocess.PIPE
    # In a group: the compilers that cargo has started are killed with it.
    with running_in_group(command, stdin=silent, stderr=pipe, env=environment) as process:
        watchdog = threading.Timer(INSTALL_S, kill_group, [process.pid])
        watchdog.daemon = True
        try:
            watchdog.start()
            assert process.stderr is not None
            for line in process.stderr:
                last_lines.append(line.strip())
                if compiling := _COMPILING.match(line):
                    report(compiling[1])
            code = process.wait()
        finally:
            watchdog.cancel()
    if code != 0:
        reasons = [line for line in last_lines if line.startswith("error")]
        raise OutsideError(f"{command[0]} failed: {(reasons or list(last_lines) or ['no message'])[-1]}")


def _make_certificate(target: Path) -> None:
    key, certificate = target / "key.pem", target / "certificate.pem"
    request = ["openssl", "req", "-x509", "-nodes", "-days", "36500", "-subj", f"/CN={_HOST}"]
    curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    done = subprocess.run(
        [*request, *curve, "-keyout", str(key), "-out", str(certificate)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    if done.returncode != 0:
        raise OutsideError(f"openssl failed: {(done.stderr.strip().splitlines() or ['no message'])[-1]}")
