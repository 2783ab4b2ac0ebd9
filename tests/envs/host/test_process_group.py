"""A program and all it starts end together, whenever it is that they have to."""

import os
import signal
import subprocess
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from ccgym.envs.errors import OutsideError
from ccgym.envs.host import process_group
from ccgym.envs.host.process_group import ProcessGroup, running_in_group
from ccgym.envs.host.termination import leaving_at_termination
from ccgym.tests.processes import is_running, wait_until


def test_what_it_has_started_ends_with_it() -> None:
    with running_in_group(["sh", "-c", "sleep 60 & echo $!; wait"], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        assert is_running(child)
    assert process.returncode == -signal.SIGKILL
    wait_until(lambda: not is_running(child), "the end of the child")  # killed, but not awaited by anybody


def test_what_does_not_end_is_told_in_one_line(tmp_path: Path) -> None:
    with (
        ProcessGroup(["sleep", "60"], tmp_path, "sender") as group,
        pytest.raises(OutsideError, match=r"^sender still runs after 0 s$"),
    ):
        group.wait(0.1)


def test_a_command_that_stays_though_it_is_killed_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process_group, "TERMINATION_S", 0.1)
    group = ProcessGroup(["sleep", "60"], tmp_path, "sender")
    with monkeypatch.context() as patched:
        patched.setattr(os, "killpg", lambda leader, number: None)  # as for one that hangs in the kernel
        with pytest.raises(OutsideError, match=r"^sender still runs after 0 s$"):
            group.stop()
    group.stop()
    assert group.returncode == -signal.SIGTERM


@pytest.mark.parametrize("way", ["with pipes", "with files"])
def test_a_termination_while_it_starts_leaves_nothing(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[int] = []
    begin = subprocess.Popen.__init__

    def begin_and_be_terminated(process: "subprocess.Popen[str]", *args: Any, **options: Any) -> None:
        begin(process, *args, **options)
        started.append(process.pid)
        os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(subprocess.Popen, "__init__", begin_and_be_terminated)

    def starting() -> "AbstractContextManager[object]":
        command = ["sleep", "60"]
        return running_in_group(command) if way == "with pipes" else ProcessGroup(command, tmp_path, "it")

    with pytest.raises(SystemExit), leaving_at_termination(), starting():
        pytest.fail("it went on")
    assert not is_running(started[0])
