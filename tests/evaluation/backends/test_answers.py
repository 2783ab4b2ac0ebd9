"""A flow whose receiver fell silent is a run that failed, and no figure."""

import os
import signal
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ccgym.cli.main import main
from ccgym.envs.logs.link_log import LinkLog, LinkLogHeader, QueueSettings
from ccgym.envs.specs.emulator_spec import EmulatorSpec
from ccgym.evaluation.backends.answers import broken_off
from ccgym.tests.processes import command_of, descendants

DELAY_MS = 20
EMULATORS = f"emulators: [{{name: a, delay_ms: {DELAY_MS}, uplink: {{rate_mbps: 6}}}}]"
WAIT_S = 60.0
ANSWERS = 100  # of ten packets in each round trip of 40 ms, for 3 s: an eighth of all


def spec(**uplink: Any) -> EmulatorSpec:
    return EmulatorSpec.model_validate(
        {"name": "a", "delay_ms": DELAY_MS, "uplink": {"rate_mbps": 6, **uplink}}
    )


def log(times_ms: list[float], init_ms: int = 1000) -> LinkLog:
    """Packets that come and leave at these times, over a link of 3 s."""
    times = np.array(times_ms)
    sizes, header = np.full(len(times), 1468), LinkLogHeader(QueueSettings("infinite", {}), False, init_ms, 0)
    return LinkLog(times, sizes, times, sizes, np.zeros(len(times)), np.arange(3000.0), header=header)


EVERY_20_MS = [float(ms) for ms in range(0, 2900, 20)]


def answers_until(end_ms: float, later_by_ms: float = 2 * DELAY_MS, init_ms: int = 1000) -> LinkLog:
    return log([ms + later_by_ms for ms in EVERY_20_MS if ms + later_by_ms <= end_ms], init_ms)


def test_a_flow_that_gets_acks_to_the_end_is_not_reported() -> None:
    assert broken_off(log(EVERY_20_MS), answers_until(3000), spec()) is None


def test_the_time_after_which_no_ack_came_is_reported() -> None:
    said = broken_off(log(EVERY_20_MS), answers_until(1000), spec())
    assert said == "nothing was answered from 1.0 s on, though 74 packets left the link"


def test_a_flow_that_never_got_an_ack_is_reported() -> None:
    said = broken_off(log([100, 300, 700, 1500]), log([]), spec())
    assert said == "nothing was answered from 0.0 s on, though 4 packets left the link"


def test_an_offset_of_the_two_clocks_is_no_silence() -> None:
    apart_ms = 1900  # as they stand, the answers would end at 1.0 s
    answers = answers_until(3000, 2 * DELAY_MS - apart_ms, init_ms=1000 + apart_ms)
    assert answers.arrival_ms.max() < 1100
    assert broken_off(log(EVERY_20_MS), answers, spec()) is None


def test_a_short_stall_of_the_host_is_not_reported() -> None:
    assert broken_off(log(EVERY_20_MS), answers_until(2100), spec()) is None


def test_a_silence_in_which_no_ack_was_due_is_not_reported() -> None:
    assert broken_off(log([0, 20, 40]), answers_until(80), spec()) is None


@pytest.mark.parametrize(("loss", "told"), [(0.01, True), (0.9, False)])
def test_a_silence_is_reported_unless_random_loss_explains_it(loss: float, told: bool) -> None:
    said = broken_off(log(EVERY_20_MS), answers_until(1000), spec(loss=loss))
    assert (said is not None) == told


def test_on_a_link_with_outages_no_silence_is_reported() -> None:
    spells = spec(onoff={"mean_on_s": 1.0, "mean_off_s": 1.0})
    assert broken_off(log(EVERY_20_MS), answers_until(1000), spells) is None


def running(program: str) -> list[int]:
    """The processes of that name that this one has started, or one that it has started."""
    return [
        pid for pid in descendants(os.getpid()) if Path(command_of(pid).partition(" ")[0]).name == program
    ]


def answers(sender: int) -> int:
    """The datagrams that have reached the shells that it runs in, where nothing else listens."""
    with suppress(OSError):  # it has just ended
        names, counts = (
            line.split()
            for line in Path(f"/proc/{sender}/net/snmp").read_text().splitlines()
            if "Udp:" in line
        )
        return int(counts[names.index("InDatagrams")])
    return 0


def stop_receiver(stopped: list[int]) -> None:
    """In the midst of a flow: once its sender has had answers enough, however slowly the shells came up."""
    deadline = time.monotonic() + WAIT_S
    while not any(answers(sender) >= ANSWERS for sender in running("ccgym-sender")):
        if time.monotonic() > deadline:
            return
        time.sleep(0.05)
    stopped += running("ccgym-receiver")
    for pid in stopped:
        os.kill(pid, signal.SIGSTOP)


@pytest.mark.slow
def test_a_receiver_that_stops_is_a_failed_run_that_the_same_command_runs_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.yaml").write_text(EMULATORS)
    stopped: list[int] = []
    watcher = threading.Thread(target=stop_receiver, args=(stopped,))
    watcher.start()
    what = ["--schemes", "fixed:10", "--emulators", f"file:{tmp_path / 'a.yaml'}", "--seconds", "3"]
    command = ["eval", *what, "--backend", "mahimahi", "--out", str(tmp_path / "out")]
    assert main(command) == 1
    watcher.join(2 * WAIT_S)
    assert stopped
    assert "fixed-10: nothing was answered from " in capsys.readouterr().err
    assert not any(Path(f"/proc/{pid}").exists() for pid in stopped)
    assert main(command) == 0, "it runs what has failed"
