"""An exported scheme, called exactly as Pantheon's runner calls it, without anything of this project."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from ccgym.deploy.export import export_scheme
from ccgym.tests.processes import wait_until

from .endpoint_programs import free_port, is_gone, running

BARE = ["env", "-i", "PATH=/usr/bin:/bin"]
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"] if os.geteuid() == 0 else []


@pytest.fixture
def wrapper(open_folder: Path, steady_policy: Path) -> str:
    """The wrapper of a fresh export, alone in its folder."""
    return str(export_scheme(steady_policy, "my_indigo", out=open_folder, pantheon=None)[0])


def call(*argv: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(argv, capture_output=True, text=True, timeout=20, check=False, cwd="/")


def test_run_first_is_exactly_receiver(wrapper: str) -> None:
    done = call(*BARE, wrapper, "run_first")
    assert (done.returncode, done.stdout, done.stderr) == (0, "receiver\n", "")


@pytest.mark.parametrize("command", ["deps", "setup", "setup_after_reboot"])
def test_the_wrapper_has_no_dependencies_to_install(wrapper: str, command: str) -> None:
    done = call(*NOBODY, *BARE, wrapper, command)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_setup_fails_where_the_policy_cannot_be_run(wrapper: str) -> None:
    policy = Path(wrapper).with_name("policy.safetensors")
    policy.write_bytes(policy.read_bytes()[:-1])
    done = call(*BARE, wrapper, "setup")
    assert done.returncode == 2
    assert str(policy) in done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["launch"],
        ["receiver"],
        ["sender", "127.0.0.1"],
        ["deps", "x"],
        ["sender", "::1", "1", "0.5", "x"],
    ],
)
def test_a_wrong_call_is_answered_with_the_usage(wrapper: str, arguments: list[str]) -> None:
    done = call(*BARE, wrapper, *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("usage: ")


def pantheon_schemes_test(as_executed: Callable[[str], list[str]]) -> None:
    """Start the first side, wait, start the second on 127.0.0.1: both live 3 s later and die by group."""
    port = str(free_port())
    with running([*as_executed("receiver"), port]) as first:
        time.sleep(3)
        with running([*as_executed("sender"), "127.0.0.1", port]) as second:
            time.sleep(3)
            assert (first.poll(), second.poll()) == (None, None)
            for process in (first, second):
                os.killpg(process.pid, signal.SIGTERM)
            for process in (first, second):
                process.wait(timeout=5)
                assert is_gone(process.pid)
                assert process.communicate(timeout=60) == ("", "")


def test_pantheons_scheme_test_passes(wrapper: str) -> None:
    pantheon_schemes_test(lambda side: [wrapper, side])


def test_another_user_runs_it_in_an_empty_environment(wrapper: str) -> None:
    pantheon_schemes_test(lambda side: [*NOBODY, *BARE, wrapper, side])


def test_the_runners_python_runs_it(wrapper: str) -> None:
    pantheon_schemes_test(lambda side: [sys.executable, wrapper, side])


def test_a_tunnels_shell_runs_it_from_its_standard_input(wrapper: str) -> None:
    """As tunnel_manager.py does: a line is written to a shell, and later the shell's group is killed."""
    port = str(free_port())
    with running(["/bin/sh"], stdin=subprocess.PIPE) as shell:
        assert shell.stdin is not None
        shell.stdin.write(f"{sys.executable} {wrapper} receiver {port}\n")
        shell.stdin.flush()
        with running([sys.executable, wrapper, "sender", "127.0.0.1", port]) as sending:
            time.sleep(2)
            assert (shell.poll(), sending.poll()) == (None, None)
            os.killpg(shell.pid, signal.SIGTERM)
            shell.wait(timeout=5)
            wait_until(lambda: is_gone(shell.pid), "the group's end")


def test_it_needs_no_python_packages_and_no_project(wrapper: str) -> None:
    folder = Path(wrapper).parent
    assert sorted(str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file()) == [
        "bin/ccgym-receiver",
        "bin/ccgym-sender",
        "my_indigo.py",
        "policy.safetensors",
    ]
    for program in ("ccgym-sender", "ccgym-receiver"):
        linked = call("ldd", str(folder / "bin" / program))
        assert "not a dynamic executable" in linked.stderr + linked.stdout or "statically" in linked.stdout


def test_it_may_be_moved_and_called_through_a_link(wrapper: str, open_folder: Path) -> None:
    moved = open_folder / "else where"
    shutil.move(Path(wrapper).parent, moved)
    link = open_folder / "link"
    link.symlink_to(moved / "my_indigo.py")
    for path in (moved / "my_indigo.py", link):
        assert call(*BARE, str(path), "setup").returncode == 0
