"""A termination leaves contexts while something is to be taken down, and does as before afterwards."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor

import pytest
from ccgym.envs.host.termination import leaving_at_termination


def test_a_termination_leaves_the_contexts_within() -> None:
    with pytest.raises(SystemExit) as ended, leaving_at_termination():
        os.kill(os.getpid(), signal.SIGTERM)
    assert ended.value.code == 128 + signal.SIGTERM


def test_afterwards_a_termination_does_what_it_did_before() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with leaving_at_termination():
        assert signal.getsignal(signal.SIGTERM) != before
    assert signal.getsignal(signal.SIGTERM) == before


def test_in_another_thread_it_changes_nothing() -> None:
    def handler_within() -> object:
        with leaving_at_termination():
            return signal.getsignal(signal.SIGTERM)

    with ThreadPoolExecutor(1) as threads:
        assert threads.submit(handler_within).result() == signal.getsignal(signal.SIGTERM)
