"""How flows end: asked to, by force, and alone."""

import json
import signal
import subprocess
from pathlib import Path

import pytest
from ccgym.tests.processes import wait_until

from .endpoint_programs import SENDER, free_port, is_gone, receiver, run_flow, running


def await_flow(listening: "subprocess.Popen[str]") -> None:
    """Until the receiver has been at work: who listens takes no time, a flow takes all it gets."""

    def ticks() -> int:
        user, system = Path(f"/proc/{listening.pid}/stat").read_text().rpartition(")")[2].split()[11:13]
        return int(user) + int(system)

    before = ticks()
    wait_until(lambda: ticks() >= before + 2, "a flow")


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_flow_and_its_receiver(tmp_path: Path, stop: signal.Signals) -> None:
    port, stats = free_port(), tmp_path / "s.json"
    flow = [SENDER, "127.0.0.1", str(port), "--scheme", "fixed:10", "--stats", str(stats)]
    with receiver(port, "--once") as listening, running(flow) as sending:
        await_flow(listening)
        assert sending.poll() is None
        sending.send_signal(stop)
        assert sending.wait(timeout=5) == 0
        assert listening.wait(timeout=5) == 0
    assert json.loads(stats.read_text())["acked_packets"] > 100
    assert [file.name for file in tmp_path.iterdir()] == ["s.json"]


def test_a_receiver_ends_at_sigterm() -> None:
    with receiver(free_port()) as listening:
        listening.send_signal(signal.SIGTERM)
        assert listening.wait(timeout=5) == 0


def test_a_sender_outlives_its_receiver(tmp_path: Path) -> None:
    port, stats = free_port(), tmp_path / "s.json"
    flow = [SENDER, "127.0.0.1", str(port), "--scheme", "reno", "--seconds", "2", "--stats", str(stats)]
    with receiver(port) as listening, running(flow) as sending:
        await_flow(listening)
        listening.send_signal(signal.SIGKILL)
        assert sending.wait(timeout=10) == 0
        assert sending.communicate(timeout=60)[1] == ""
    assert json.loads(stats.read_text())["acked_packets"] > 100


def test_a_receiver_gives_way_when_its_sender_was_killed(tmp_path: Path) -> None:
    port = free_port()
    with receiver(port) as listening:
        with running([SENDER, "127.0.0.1", str(port), "--scheme", "fixed:10"]) as sending:
            await_flow(listening)
            sending.send_signal(signal.SIGKILL)
            sending.wait(timeout=5)
        assert run_flow("127.0.0.1", port, "fixed:10", tmp_path / "s.json")["acked_packets"] > 100


def test_a_second_sender_is_not_let_into_a_flow(tmp_path: Path) -> None:
    port, stats, refused = free_port(), tmp_path / "s.json", tmp_path / "refused.json"
    flow = [SENDER, "127.0.0.1", str(port), "--scheme", "fixed:10", "--stats"]
    with receiver(port) as listening, running([*flow, str(stats), "--seconds", "3"]) as first:
        await_flow(listening)
        with running([*flow, str(refused), "--seconds", "0.1"]) as second:
            assert first.wait(timeout=10) == 0
            assert not refused.exists()
            assert second.wait(timeout=5) == 0  # let in once the first has said bye
    assert json.loads(stats.read_text())["lost_packets"] == 0
    assert json.loads(refused.read_text())["acked_packets"] > 0


def test_a_receiver_that_never_comes_is_named_and_nothing_is_left() -> None:
    port = free_port()
    with running([SENDER, "127.0.0.1", str(port), "--scheme", "copa"]) as sending:
        assert sending.wait(timeout=60) == 1
        _, complaint = sending.communicate(timeout=60)
        assert is_gone(sending.pid)
    assert complaint == (
        f"ccgym-sender: no answer from 127.0.0.1:{port} after 10 tries: "
        "start ccgym-receiver there first, and let its UDP port through\n"
    )
