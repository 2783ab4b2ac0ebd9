"""Code from outside, and what becomes of it."""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from ccgym.evaluation import isolation
from ccgym.evaluation.isolation import CandidateError, IsolatedCall, call_isolated
from ccgym.tests.processes import MOST_SECONDS, all_processes, command_of, wait_until

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    (tmp_path / "outside.py").write_text(
        "import os, time\n"
        "def double(x): print('said'); return 2 * x\n"
        "def fail(x): raise KeyError(x)\n"
        "def refuse(x):\n    from ccgym.envs.errors import InputError\n    raise InputError(x)\n"
        "def leave(x): os._exit(x)\n"
        "def crash(x): os.kill(os.getpid(), x)\n"
        "def hang(x): time.sleep(1000)\n"
        "def end_otherwise(x): raise GeneratorExit\n"
        "def leave_work(x):\n"
        "    import atexit, threading\n"
        "    atexit.register(time.sleep, 1000)\n"
        "    threading.Thread(target=time.sleep, args=(1000,)).start()\n"
        "    if os.fork() == 0: time.sleep(1000)\n"
        "    return x\n"
        "def leave_the_pipe(x): os.closerange(3, 100); time.sleep(1000)\n"
        "def leave_a_child(x):\n"
        "    if os.fork() == 0: os.closerange(3, 100); time.sleep(100)\n    os._exit(0)\n"
        "def chatter(x):\n    while True: os.write(int(__import__('sys').argv[2]), b' ' * 65536)\n"
        "def answer_itself(x): os.write(int(__import__('sys').argv[2]), x.encode()); os._exit(0)\n"
        "def hoard(x): return len(bytearray(x))\n"
        "def hoard_bit_by_bit(x):\n    kept = []\n    while True: kept.append(bytearray(10**7))\n"
    )


def test_an_isolated_call_returns_its_result_and_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    assert call_isolated("outside:double", [1], 20) == [1, 1]
    assert capfd.readouterr() == ("", "")


def test_an_answer_waits_for_nothing_that_code_from_outside_still_does(tmp_path: Path) -> None:
    assert call_isolated("outside:leave_work", 3, 300) == 3
    await_state("outside:leave_work", tmp_path, running=False)


@pytest.mark.parametrize(
    ("function", "argument", "said"),
    [
        ("fail", "x", "^'x'$"),
        ("end_otherwise", 0, "^raised GeneratorExit$"),
        ("leave", 0, "^crashed: exit code 0$"),
        ("crash", 11, "^crashed: SIGSEGV$"),
        ("hang", 0, "no end after 2 s"),
        ("leave_the_pipe", 0, "crashed: SIGKILL"),
        ("chatter", 0, "^its answer has more than 16 MB$"),
        ("answer_itself", "[" * 100_000, "^crashed: exit code 0$"),
        ("answer_itself", "[]", "^its answer is none$"),
        ("answer_itself", "{}", "^its answer is none$"),
        ("answer_itself", '{"failed": 3}', "^3$"),
        ("hoard", 2 << 30, "memory limit is 1024 MB"),
        ("hoard_bit_by_bit", 0, "memory limit is 1024 MB"),
    ],
)
def test_every_failure_of_an_isolated_call_is_one_line(function: str, argument: object, said: str) -> None:
    with pytest.raises(CandidateError, match=said) as raised:
        call_isolated(f"outside:{function}", argument, 2 if function == "hang" else 60)
    assert len(str(raised.value).splitlines()) == 1
    assert ("in fail" in raised.value.trace) == (function == "fail")


def test_lower_limits_of_the_caller_are_kept() -> None:
    lower = 'ulimit -v 700000 -t 50; exec "$@"'
    call = (
        "from ccgym.evaluation.isolation import call_isolated as call; print(call('outside:double', 2, 100))"
    )
    done = subprocess.run(
        ["bash", "-c", lower, "bash", sys.executable, "-c", call],
        capture_output=True,
        text=True,
        check=False,
        timeout=MOST_SECONDS,
    )
    assert done.stdout == "4\n", done.stderr


def test_leaving_the_context_early_ends_the_isolated_process(tmp_path: Path) -> None:
    with IsolatedCall("outside:hang", 0, 100):
        await_state("outside:hang", tmp_path, running=True)
    assert "outside:hang" not in commands_of(tmp_path)


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGKILL])
def test_an_isolated_process_that_sleeps_ends_with_its_caller(ending: signal.Signals, tmp_path: Path) -> None:
    call = "from ccgym.evaluation.isolation import call_isolated; call_isolated('outside:hang', 0, 3600)"
    with subprocess.Popen([sys.executable, "-c", call]) as caller:
        try:
            await_state(f"{isolation.__name__} outside:hang", tmp_path, running=True)
            caller.send_signal(ending)
            caller.wait(60)
        finally:
            caller.kill()
    await_state(f"{isolation.__name__} outside:hang", tmp_path, running=False)


def test_an_isolated_process_ends_at_its_time_out_without_its_caller() -> None:
    answers, theirs = os.pipe()
    command = [
        sys.executable,
        "-P",
        "-m",
        isolation.__name__,
        "outside:hang",
        str(theirs),
        "2",
        str(os.getpid()),
    ]
    done = subprocess.run(command, input=b"0", pass_fds=[theirs], timeout=60, check=False)
    os.close(answers)
    os.close(theirs)
    assert done.returncode == -signal.SIGALRM


def test_processes_that_the_isolated_process_started_end_with_it(tmp_path: Path) -> None:
    with pytest.raises(CandidateError, match="exit code 0"):
        call_isolated("outside:leave_a_child", 0, 60)
    await_state("outside:leave_a_child", tmp_path, running=False)


def await_state(function: str, folder: Path, *, running: bool) -> None:
    """Until a process that calls the function is there, or is there no more."""
    wait_until(
        lambda: (function in commands_of(folder)) == running, "the beginning" if running else "the end"
    )


def commands_of(folder: Path) -> str:
    """Of all processes that import from this folder, and so of this test alone."""
    path = f"PYTHONPATH={folder}".encode()
    found = []
    for pid in all_processes():
        with suppress(OSError):  # it has just ended
            if path in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
                found.append(command_of(pid))
    return "\n".join(found)
