"""Who runs ahead of whom: what is refused is done without, and real shells are ahead of what runs in them."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from ccgym.envs.host import scheduling_priority as module
from ccgym.envs.host.host_checks import check_scheduling_priority
from ccgym.envs.host.scheduling_priority import (
    NICENESS,
    PROGRAM_PRIORITY,
    SHELL_PRIORITY,
    SchedulingPriority,
    program_first,
    scheduling_priority,
    shells_first,
    within_shells,
)
from ccgym.envs.mahimahi.shells import MahimahiShell, free_port
from ccgym.envs.specs.emulator_spec import EmulatorSpec
from ccgym.tests.processes import wait_until


@pytest.fixture(autouse=True)
def _ask_anew() -> Iterator[None]:
    scheduling_priority.cache_clear()
    yield
    scheduling_priority.cache_clear()


def refuse(monkeypatch: pytest.MonkeyPatch, folder: Path, *names: str) -> None:
    """Programs ahead in PATH that refuse, as the kernel does where a right is lacking."""
    for name in names:
        program = folder / name
        program.write_text("#!/bin/sh\nexit 1\n")
        program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")


def test_where_real_time_is_refused_niceness_is_next(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    refuse(monkeypatch, tmp_path, "chrt")
    assert scheduling_priority() is (
        SchedulingPriority.NICE if os.geteuid() == 0 else SchedulingPriority.NONE
    )
    monkeypatch.setattr(module, "scheduling_priority", lambda: SchedulingPriority.NICE)
    assert shells_first(["mm-link"]) == ["nice", "-n", str(NICENESS), "mm-link"]
    assert within_shells(["sh"]) == ["sh"]


def test_where_all_is_refused_programs_run_as_they_are(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    refuse(monkeypatch, tmp_path, "chrt", "nice")
    assert scheduling_priority() is SchedulingPriority.NONE
    assert shells_first(["a"]) == program_first(["a"]) == within_shells(["a"]) == ["a"]
    check = check_scheduling_priority()
    assert check.ok
    assert "tens of ms late" in check.found


def test_shells_are_ahead_of_the_programs_in_and_around_them() -> None:
    if scheduling_priority() is not SchedulingPriority.REAL_TIME:
        pytest.skip("takes the right to real-time scheduling")
    spec = EmulatorSpec.model_validate({"name": "test", "delay_ms": 1, "uplink": {"rate_mbps": 12}})
    with MahimahiShell(spec) as shell:
        shells = shell.start("chrt --pid $$; exec sleep 60")
        assert priority(shells.pid) == SHELL_PRIORITY
        printed = shell.folder / "mahimahi.out"
        wait_until(lambda: "priority" in printed.read_text(), "the answer of chrt")
        assert "SCHED_RR" in printed.read_text()
        port = free_port("tcp")
        with shell.serve(["iperf3", "--server", "--port", str(port)], "tcp", port) as server:
            assert priority(server.pid) == PROGRAM_PRIORITY
        assert f"priority: {PROGRAM_PRIORITY}\n" in printed.read_text()


def priority(process: int) -> int:
    assert os.sched_getscheduler(process) == os.SCHED_RR
    return os.sched_getparam(process).sched_priority
