"""Controllers that break a promise, each told which."""

from pathlib import Path

import pytest
from ccgym.evaluation.promises import ENDS_WELL, Promise, check_scheme

from .controller_library import NO_CLONE, build_library, on_ack
from .test_python_schemes import AIMD, write

pytestmark = pytest.mark.slow


def broken(scheme: str, timeout_s: float = 60) -> dict[str, str]:
    return {promise.text: promise.breach for promise in check_scheme(scheme, timeout_s) if promise.breach}


def test_schemes_that_ship_keep_every_promise() -> None:
    assert broken("cubic") == {}
    assert broken("indigo2") == {}


PACED = """
class Paced:
    def __init__(self, packet_bytes):
        self.cwnd_packets, self.pacing_mbps = 1e9, 1.0

    def on_ack(self, now_ms, ack):
        queued = ack.rtt_ms > 1.2 * ack.min_rtt_ms
        self.pacing_mbps = min(100.0, max(0.5, (0.9 if queued else 1.1) * (ack.rate_mbps or 1.0)))
"""


def test_a_window_that_never_binds_is_sane_where_a_rate_does(tmp_path: Path) -> None:
    (tmp_path / "paced.py").write_text(PACED)
    assert broken(f"python:{tmp_path}/paced.py:Paced") == {}


@pytest.mark.parametrize(
    ("old", "new", "promise", "how"),
    [
        (
            "len(ack.acked) / self.cwnd_packets",
            "1e6",
            "windows and rates stay sane",
            "no pacing rate; 1 to 100000 make",
        ),
        (
            "self.cwnd_packets = max(2.0, self.cwnd_packets / 2)",
            "self.pacing_mbps = 1e-4",
            "it goes on after losses, reordering, silence and idle times",
            "at least 250 would be right",
        ),
        (
            "class Aimd:",
            "import random\nclass Aimd:\n    def on_restart(self, now_ms, idle_ms):\n"
            "        self.cwnd_packets += random.random()",
            "the same run is the same again",
            "it decides otherwise",
        ),
        (
            "class Aimd:",
            "acks = []\nclass Aimd:\n    def on_sent(self, now_ms, packet):\n"
            "        acks.append(self) if not acks or acks[-1] is not self else None\n"
            "        self.cwnd_packets += 0.001 * (len(set(map(id, acks[-2:]))) - 1)",
            "another flow of it in the same process changes nothing",
            "it decides otherwise",
        ),
        ("if ack.lost:", "if 1 / 0:", ENDS_WELL, "on_ack raised ZeroDivisionError"),
    ],
)
def test_the_promise_that_is_broken_is_named(
    tmp_path: Path, old: str, new: str, promise: str, how: str
) -> None:
    assert how in broken(write(tmp_path, AIMD.replace(old, new)))[promise]


def test_a_crash_and_a_hang_break_the_first_promise(tmp_path: Path) -> None:
    later = "if (ack->next_seq > 100)"
    crash = build_library(tmp_path, on_ack(f"{later} *(volatile int*)0 = 1;"), name="crash")
    assert broken(f"so:{crash}") == {ENDS_WELL: "crashed: SIGSEGV"}
    hang = build_library(tmp_path, on_ack(f"{later} for (;;) {{ }}"), name="hang")
    assert broken(f"so:{hang}", timeout_s=2) == {ENDS_WELL: "no end after 2 s: ended by its time-out"}


def test_without_a_clone_the_promise_on_copies_is_not_checked(tmp_path: Path) -> None:
    promises = check_scheme(f"so:{build_library(tmp_path, NO_CLONE)}")
    (unchecked,) = [promise for promise in promises if promise.unchecked]
    assert unchecked == Promise("a copy made midway goes on as itself", "", unchecked.unchecked)
    assert "has no clone" in unchecked.unchecked
