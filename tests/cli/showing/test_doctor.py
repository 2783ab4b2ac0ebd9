import json
from importlib import metadata
from pathlib import Path

import pytest
from ccgym.cli.main import main
from ccgym.cli.showing import doctor
from ccgym.envs.host.host_checks import Check
from ccgym.tests.tunnel.tunnel_ends import needs_tunnels

WELL = Check("tun", True, "/dev/net/tun", "real mahimahi")
ILL = Check(
    "ip_forward", False, "net.ipv4.ip_forward = 0", "real mahimahi", "sudo sysctl -w net.ipv4.ip_forward=1"
)


def find(monkeypatch: pytest.MonkeyPatch, *checks: Check) -> None:
    monkeypatch.setattr("ccgym.envs.host.host_checks.check_host", lambda: list(checks))
    monkeypatch.setattr(doctor, "check_installation", list)


def test_a_machine_that_lacks_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    find(monkeypatch, WELL)
    assert main(["doctor"]) == 0
    assert capsys.readouterr().out.split() == ["ok", "tun", "/dev/net/tun"]


def test_each_lack_comes_with_the_command_that_mends_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    find(monkeypatch, WELL, ILL)
    assert main(["doctor"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].startswith("MISSING  ip_forward")
    assert lines[2].endswith("mend it: sudo sysctl -w net.ipv4.ip_forward=1")


def test_json_holds_every_check(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    find(monkeypatch, ILL)
    assert main(["doctor", "--json"]) == 1
    assert json.loads(capsys.readouterr().out) == {
        "ok": False,
        "checks": [
            {
                "name": "ip_forward",
                "ok": False,
                "found": "net.ipv4.ip_forward = 0",
                "needed_for": "real mahimahi",
                "mend": "sudo sysctl -w net.ipv4.ip_forward=1",
            }
        ],
    }


def test_this_installation_is_complete() -> None:
    assert [check for check in doctor.check_installation() if not check.ok] == []


def test_packages_that_are_missing_or_too_old_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    old = f"numpy>={int(metadata.version('numpy').split('.')[0]) + 1}"
    wanted = ["packaging", "ccgym-nowhere>=2", old, "nothing-of-the-developers; extra == 'dev'"]
    monkeypatch.setattr(metadata, "requires", lambda name: wanted)
    check = doctor.check_packages()
    assert not check.ok
    assert check.found == f"ccgym-nowhere>=2 is missing, {old} is {metadata.version('numpy')}"


def program(folder: Path, script: str) -> Path:
    path = folder / "ccgym-sender"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return folder


def test_a_program_that_runs_passes_with_its_version(tmp_path: Path) -> None:
    check = doctor.check_program("ccgym-sender", program(tmp_path, "echo ccgym-sender 7.7"))
    assert check.ok
    assert check.found == "ccgym-sender 7.7"


@pytest.mark.parametrize("script", ["exit 1", "exec sleep 30"])
def test_a_program_that_does_not_run_fails(
    script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "PROGRAM_TRIAL_S", 0.2)
    check = doctor.check_program("ccgym-sender", program(tmp_path, script))
    assert not check.ok
    assert "does not run" in check.found


def test_a_program_that_is_not_built_fails(tmp_path: Path) -> None:
    check = doctor.check_program("ccgym-sender", tmp_path)
    assert not check.ok
    assert check.mend == "make setup"


@needs_tunnels
def test_a_tunnel_that_can_be_set_up_passes() -> None:
    check = doctor.check_tunnel()
    assert check.ok
    assert check.found.endswith(("packets by io_uring", "no io_uring for TUN devices here (needs 6.4)"))


@needs_tunnels
@pytest.mark.parametrize(
    ("complaint", "found", "mend"),
    [
        (
            "may not use the device: run as root, or: chmod it",
            "may not use the device",
            "run as root, or: chmod it",
        ),
        ("may not make a namespace: run as root", "may not make a namespace", "run as root"),
    ],
)
def test_a_tunnel_that_cannot_be_set_up_fails_with_its_reason(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, complaint: str, found: str, mend: str
) -> None:
    tunnel = tmp_path / "ccgym-tunnel"
    tunnel.write_text(f"#!/bin/sh\n[ $1 = secret ] && exit\necho 'ccgym-tunnel: {complaint}' >&2\nexit 2\n")
    tunnel.chmod(0o755)
    monkeypatch.setattr("ccgym.tunnel.session.program", lambda: tunnel)
    check = doctor.check_tunnel()
    assert (check.ok, check.found, check.mend) == (False, found, mend)


def test_a_tunnel_that_is_not_built_names_the_packages(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("ccgym.tunnel.session.files", lambda package: tmp_path)
    check = doctor.check_tunnel()
    assert check.found == "ccgym-tunnel is not built"
    assert check.mend == "sudo apt-get install libsodium-dev liburing-dev, make build"


def test_without_a_tun_device_there_is_no_tunnel(monkeypatch: pytest.MonkeyPatch) -> None:
    missing = Check("tun", False, "/dev/net/tun is missing", "real mahimahi", "sudo modprobe tun")
    monkeypatch.setattr("ccgym.envs.host.host_checks.check_tun", lambda: missing)
    check = doctor.check_tunnel()
    assert (check.ok, check.found, check.mend) == (False, missing.found, missing.mend)
