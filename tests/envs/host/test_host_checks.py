import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from concurrent import futures
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from ccgym.envs.errors import OutsideError
from ccgym.envs.host import host_checks
from ccgym.envs.mahimahi.start_lock import start_lock


@pytest.fixture
def programs(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder ahead of all others in PATH, which the unprivileged user may read too."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
        yield folder


def write_program(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def test_mahimahi_that_is_not_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    check = host_checks.check_shells()
    assert (check.ok, check.found) == (False, "mm-delay not found")
    assert "install-system-packages.sh" in check.mend


def test_mahimahi_without_its_rights(programs: Path) -> None:
    for name in host_checks.SHELLS:
        write_program(programs, name, "exit 0")
    check = host_checks.check_shells()
    assert (check.ok, check.found) == (False, f"{programs}/mm-delay is not a setuid program of root")
    assert check.mend == f"sudo chown root {programs}/mm-delay && sudo chmod u+s {programs}/mm-delay"


@pytest.mark.parametrize(
    ("version", "shell_starts", "ok"),
    [
        ("v1.8.7 (nf_tables)", False, True),
        ("v1.8.8 (nf_tables)", False, False),
        ("v1.8.10 (legacy)", False, False),
        ("v1.8.10 (legacy)", True, True),
    ],
)
def test_iptables_of_1_8_8_and_later_need_a_mahimahi_that_gets_along(
    version: str, shell_starts: bool, ok: bool, programs: Path
) -> None:
    write_program(programs, "iptables", f"echo 'iptables {version}'")
    assert host_checks.check_iptables(shell_starts).ok is ok


def test_a_shell_that_starts(programs: Path) -> None:
    write_program(programs, "mm-delay", 'test "$(id -u)" != 0 && test "$*" = "1 true"')
    assert host_checks.check_shell_starts().ok


def test_a_shell_that_does_not_start_says_why(programs: Path) -> None:
    write_program(programs, "mm-delay", "echo 'Died on std::runtime_error: no device' >&2; exit 1")
    check = host_checks.check_shell_starts()
    assert (check.ok, check.found) == (False, "Died on std::runtime_error: no device")


def test_a_shell_that_hangs_is_taken_down(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_checks, "TRIAL_S", 0.2)
    write_program(programs, "mm-delay", "exec sleep 600")
    assert not host_checks.check_shell_starts().ok


def test_a_shell_that_hangs_once_is_tried_again(programs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_checks, "TRIAL_S", 5.0)
    programs.chmod(0o777)  # shells are another user's
    write_program(programs, "mm-delay", f"mkdir {programs}/tried || exit 0; exec sleep 600")
    assert host_checks.check_shell_starts().ok


def test_a_shell_whose_name_server_is_late_is_started_again(programs: Path) -> None:
    programs.chmod(0o777)  # shells are another user's
    late = "echo 'Died on std::runtime_error: dnsmasq: did not start after 20 attempts' >&2; exit 1"
    write_program(programs, "mm-delay", f"mkdir {programs}/1 || mkdir {programs}/2 || exit 0; {late}")
    assert host_checks.check_shell_starts().ok


def test_the_tun_device() -> None:
    assert host_checks.check_tun(Path("/dev/null")).ok
    check = host_checks.check_tun(Path("/nowhere/tun"))
    assert (check.ok, check.found) == (False, "/nowhere/tun is missing")


@pytest.mark.parametrize(("value", "ok"), [("1\n", True), ("0\n", False)])
def test_forwarding(value: str, ok: bool, tmp_path: Path) -> None:
    (tmp_path / "ip_forward").write_text(value)
    assert host_checks.check_forwarding(tmp_path).ok is ok


def write_controls(ipv4: Path, available: str, allowed: str) -> None:
    (ipv4 / "tcp_available_congestion_control").write_text(available + "\n")
    (ipv4 / "tcp_allowed_congestion_control").write_text(allowed + "\n")


def test_every_congestion_control_is_there_and_allowed(tmp_path: Path) -> None:
    write_controls(tmp_path, "reno bbr cubic vegas", "cubic reno bbr")
    assert [check.ok for check in host_checks.check_kernel_tcp(tmp_path)[1:]] == [True, True]


def test_a_congestion_control_that_is_missing_or_not_allowed(tmp_path: Path) -> None:
    write_controls(tmp_path, "reno cubic", "reno")
    available, allowed = host_checks.check_kernel_tcp(tmp_path)[1:]
    assert (available.ok, available.mend) == (False, "sudo modprobe --all tcp_bbr")
    assert (allowed.ok, allowed.mend) == (
        False,
        'sudo sysctl -w net.ipv4.tcp_allowed_congestion_control="reno bbr cubic"',
    )


def test_a_container_that_does_not_know_its_controls_has_none(tmp_path: Path) -> None:
    assert [check.ok for check in host_checks.check_kernel_tcp(tmp_path)[1:]] == [False, False]


def test_kernel_tcp_without_iperf3(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_controls(tmp_path, "reno cubic bbr", "reno cubic bbr")
    monkeypatch.setenv("PATH", str(tmp_path))
    iperf3 = host_checks.check_kernel_tcp(tmp_path)[0]
    assert (iperf3.ok, iperf3.found) == (False, "not found")


def test_a_wall_clock_that_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    readings = iter([100.0, 105.0])
    monkeypatch.setattr(time, "time", lambda: next(readings))
    monkeypatch.setattr(time, "monotonic", lambda: 7.0)
    check = host_checks.check_clocks()
    assert not check.ok
    assert "stepped by 5000.0 ms" in check.found


def test_a_wall_clock_that_keeps_pace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(host_checks, "_clock_step_s", lambda duration_s: -0.0009)
    assert host_checks.check_clocks().ok


def test_a_trial_waits_while_other_shells_start() -> None:
    program = shutil.which("mm-delay")
    assert program is not None
    with ThreadPoolExecutor(1) as executor:
        with start_lock(Path(program)):
            trial = executor.submit(host_checks.check_shell_starts)
            with pytest.raises(futures.TimeoutError):
                trial.result(timeout=1.5)
        assert trial.result(timeout=20).ok


def test_who_waits_in_vain_for_other_shells_says_so(tmp_path: Path) -> None:
    program = tmp_path / "mm-delay"
    program.touch()
    said = f"{program}: another program that starts it has not ended yet"
    with start_lock(program), pytest.raises(OutsideError, match=said), start_lock(program, most_s=0.1):
        pass
