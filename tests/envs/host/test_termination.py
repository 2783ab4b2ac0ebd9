"""A termination leaves contexts while something is to be taken down; an interrupt is for one process only."""

import os
import signal
import subprocess
import sys
import time
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest
from ccgym.envs.host.termination import (
    holding_signals,
    leaving_at_termination,
    starting_deaf_to_interrupts,
)
from ccgym.tests.signals import blocks_interrupts


def test_a_termination_leaves_the_contexts_within() -> None:
    with pytest.raises(SystemExit) as ended, leaving_at_termination():
        os.kill(os.getpid(), signal.SIGTERM)
    assert ended.value.code == 128 + signal.SIGTERM


def test_the_former_handler_of_a_termination_is_restored() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with leaving_at_termination():
        assert signal.getsignal(signal.SIGTERM) != before
    assert signal.getsignal(signal.SIGTERM) == before


def signal_in_callback(number: int) -> None:
    """The exception of its handler is lost there."""

    def callback(_: object) -> None:
        os.kill(os.getpid(), number)
        for _ in range(1000):
            pass

    referent = type("Referent", (), {})()
    reference = weakref.ref(referent, callback)
    del referent
    assert reference() is None


@pytest.mark.parametrize(
    ("number", "raised"), [(signal.SIGTERM, SystemExit), (signal.SIGINT, KeyboardInterrupt)]
)
def test_a_signal_whose_exception_is_lost_is_raised_again(
    number: int, raised: type[BaseException], capfd: pytest.CaptureFixture[str]
) -> None:
    def asked_to_end() -> None:
        signal_in_callback(number)
        time.sleep(60)

    with pytest.raises(raised), leaving_at_termination():
        asked_to_end()
    assert capfd.readouterr().err == ""


def test_cleaning_up_after_a_termination_is_not_disturbed() -> None:
    steps = []

    def terminated() -> None:
        try:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(60)
        finally:
            time.sleep(1.2)
            steps.append("cleaned up")

    with pytest.raises(SystemExit), leaving_at_termination():
        terminated()
    assert steps == ["cleaned up"]
    time.sleep(0.6)  # the alarm is off: its signal would end this process


def test_in_another_thread_signal_handlers_stay_as_they_are() -> None:
    def handler_within() -> object:
        with leaving_at_termination():
            return signal.getsignal(signal.SIGTERM)

    with ThreadPoolExecutor(1) as threads:
        assert threads.submit(handler_within).result() == signal.getsignal(signal.SIGTERM)


def test_a_signal_that_was_held_is_delivered_afterwards() -> None:
    steps = []

    def interrupted() -> None:
        with holding_signals():
            os.kill(os.getpid(), signal.SIGINT)
            steps.append("held")
        steps.append("gone on")

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert steps == ["held"]
    assert signal.getsignal(signal.SIGINT) == signal.default_int_handler


SPAWNED = """import multiprocessing, time
from ccgym.envs.host.termination import starting_deaf_to_interrupts
first = multiprocessing.get_context("spawn").Process(target=time.sleep, args=(60,), daemon=True)
with starting_deaf_to_interrupts():
    first.start()
print(first.pid, flush=True)
input()
first.kill()
"""


def test_the_helper_process_of_multiprocessing_blocks_interrupts_too() -> None:
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", SPAWNED], stdin=pipe, stdout=pipe, text=True) as command:
        assert command.stdout is not None
        first = int(command.stdout.readline())
        blocks = blocks_interrupts(first)
        command.communicate("\n", timeout=60)
    assert blocks


def test_an_interrupt_of_all_processes_reaches_only_the_parent() -> None:
    with starting_deaf_to_interrupts():
        second = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    second.send_signal(signal.SIGINT)  # while it begins
    with pytest.raises(KeyboardInterrupt):
        os.kill(os.getpid(), signal.SIGINT)
    second.communicate(b"\n", timeout=60)
    assert second.returncode == 0
