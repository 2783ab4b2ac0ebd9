"""Building the QUIC schemes: what is there, what goes wrong, what is left behind."""

import signal
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from ccgym.cli.main import main
from ccgym.deploy import quic
from ccgym.tests.processes import CCGYM, is_running, wait_until


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def cargo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Puts a program called cargo, a shell script, before all others."""

    def write(script: str, version: str = "1.70.0") -> None:
        program = tmp_path / "bin" / "cargo"
        program.parent.mkdir()
        program.write_text(f'#!/bin/sh\n[ "$1" = --version ] && echo cargo {version} && exit\n{script}\n')
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")

    return write


def installed_files(cache: Path) -> set[str]:
    return {str(path.relative_to(cache / "ccgym/quic")) for path in cache.rglob("*") if path.is_file()}


def test_a_scheme_that_is_not_installed_is_answered_with_the_command_that_installs_it(
    cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = ["eval", "--schemes", "quic-copa", "--emulators", "synthetic", "--out", str(cache / "out")]
    assert main([*argv, "--backend", "mahimahi"]) == 2
    complaint = capsys.readouterr().err
    assert complaint.count("\n") == 1
    assert "not installed: `ccgym schemes install quic-copa`" in complaint


def test_installing_names_what_can_be_installed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schemes", "install", "cubic"]) == 2
    assert "known: quic-bbr, quic-copa, quic-cubic" in capsys.readouterr().err


def test_an_installation_has_programs_certificate_and_data(
    cache: Path, cargo: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    cargo(
        'while [ "$1" != --root ]; do shift; done; mkdir -p "$2/bin"; echo "   Compiling tquic v1" >&2\n'
        'touch "$2/bin/tquic_client" "$2/bin/tquic_server"'
    )
    (cache / "ccgym/quic/.partial-left/target").mkdir(parents=True)  # by one that was killed
    assert main(["schemes", "install", "quic-cubic"]) == 0
    assert not (cache / "ccgym/quic/.partial-left").exists()
    name = f"{quic.CRATE}-{quic.VERSION}"
    files = {"bin/tquic_client", "bin/tquic_server", "bulk", "certificate.pem", "key.pem"}
    assert installed_files(cache) == {f"{name}/{file}" for file in files}
    assert (quic.folder() / "bulk").stat().st_size == quic.BULK_BYTES
    assert (quic.folder() / "certificate.pem").read_text().startswith("-----BEGIN CERTIFICATE-----")
    assert "compiling tquic, crate 1" in capsys.readouterr().err
    assert main(["schemes", "install", "quic-bbr"]) == 0  # all three are the same programs


def test_a_build_that_fails_says_why_and_leaves_nothing(
    cache: Path, cargo: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    cargo('echo "   Compiling tquic v1" >&2; echo "error: linker not found" >&2; exit 101')
    assert main(["schemes", "install", "quic-cubic"]) == 1
    assert "cargo failed: error: linker not found" in capsys.readouterr().err
    assert installed_files(cache) == set()
    assert not quic.is_installed()


def test_an_old_cargo_is_refused_in_one_line(
    cache: Path, cargo: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    cargo("exit 1", version="1.65.0")
    assert main(["schemes", "install", "quic-cubic"]) == 2
    complaint = capsys.readouterr().err
    assert complaint.count("\n") == 1
    assert "cargo 1.70 or later, this is 'cargo 1.65.0': apt-get install cargo-web" in complaint
    assert installed_files(cache) == set()


def test_a_build_that_is_ended_leaves_nothing(
    cache: Path, cargo: Callable[..., None], tmp_path: Path
) -> None:
    compiling = tmp_path / "compiling"
    cargo(f"sleep 60 & echo $! >{compiling}.new; mv {compiling}.new {compiling}; wait")
    command = [*CCGYM, "schemes", "install", "quic-cubic"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        wait_until(compiling.exists, "compiling", 60)
        process.terminate()
        assert process.wait(30) == 128 + signal.SIGTERM
    wait_until(lambda: not is_running(int(compiling.read_text())), "ending the compiler")
    assert list((cache / "ccgym/quic").iterdir()) == []


def test_two_that_install_at_once_build_once(cache: Path, cargo: Callable[..., None], tmp_path: Path) -> None:
    cargo(
        f'echo built >>"{tmp_path}/builds"; while [ "$1" != --root ]; do shift; done; mkdir -p "$2/bin"\n'
        'sleep 0.5; touch "$2/bin/tquic_client" "$2/bin/tquic_server"'
    )
    with ThreadPoolExecutor() as executor:
        list(executor.map(quic.install, [lambda crate: None] * 2))
    assert quic.is_installed()
    assert (tmp_path / "builds").read_text() == "built\n"


def test_without_cargo_nothing_is_tried(
    cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert main(["schemes", "install", "quic-cubic"]) == 2
    assert "cargo, which is not installed: apt-get install cargo-web (Debian 12)" in capsys.readouterr().err
    assert not cache.exists()
