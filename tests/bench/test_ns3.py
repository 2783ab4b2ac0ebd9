"""ns-3's dumbbell, compiled here: a flow that fills its link, and a machine without ns-3."""

import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from ccgym.bench import ns3
from ccgym.envs.errors import InputError, OutsideError
from ccgym.envs.specs.emulator_spec import EmulatorSpec, LinkSpec
from ccgym.tests.processes import CCGYM, all_processes, command_of, wait_until


@pytest.mark.skipif(not ns3._HEADER.is_file(), reason="libns3-dev is not installed")
def test_a_cubic_flow_of_ns3_fills_its_link() -> None:
    with ns3.Ns3() as simulator:
        figures = simulator.run("TcpCubic", ns3.Dumbbell(5, 20, 34), 20, 5)
        with pytest.raises(OutsideError, match="TcpNone"):
            simulator.run("TcpNone", ns3.Dumbbell(5, 20, 34), 20, 5)
    assert figures.throughput_mbps == pytest.approx(5, rel=0.02)
    assert 20 < figures.mean_queueing_ms < 85  # 34 packets of 2.4 ms
    assert figures.packets_per_cpu_s > 0


@pytest.mark.slow
@pytest.mark.skipif(not ns3._HEADER.is_file(), reason="libns3-dev is not installed")
def test_a_flow_of_ns3_takes_the_opportunities_of_a_trace() -> None:
    uplink = LinkSpec(rate_mbps=1.2, queue="droptail", packets=14, loss=0.02)
    spec = EmulatorSpec(name="replay", delay_ms=28, uplink=uplink)
    opportunities_ms = np.arange(10, 15_001, 10)
    with ns3.Ns3Replay() as simulator:
        record, again = (simulator.run("TcpNewReno", spec, opportunities_ms, 15, 1) for _ in range(2))
    departed_ms = np.sort(record.received_ms[~np.isnan(record.received_ms)]) - 28
    assert np.abs(departed_ms - 10 * np.round(departed_ms / 10)).max() < 0.01, "each at an opportunity"
    assert np.diff(departed_ms).min() > 9.99, "one packet each"
    lost = np.isnan(record.received_ms)
    assert 0.005 < lost.mean() < 0.05
    known = record.departed_sent_ms < 14_000  # of what was lost later it may not have heard
    assert record.lost_packets >= np.count_nonzero(lost & known), "each that was lost has been sent again"
    assert record.cwnd_packets.max() > 10
    assert np.array_equal(record.received_ms, again.received_ms, equal_nan=True)


def test_a_machine_without_ns3_is_told_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ns3, "_HEADER", tmp_path / "none.h")
    with pytest.raises(InputError, match="apt-get install g\\+\\+ libns3-dev"):
        ns3.compile_program("ns3_dumbbell", tmp_path)


@pytest.mark.slow
@pytest.mark.skipif(not ns3._HEADER.is_file(), reason="libns3-dev is not installed")
@pytest.mark.parametrize("running", ["cc1plus", "ns3_dumbbell"])
def test_a_command_that_is_ended_leaves_neither_compiler_nor_simulator(running: str, tmp_path: Path) -> None:
    command = [*CCGYM, "reproduce", "ns3-cross-validation", "--seconds", "3600"]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment
    ) as process:
        try:
            wait_until(lambda: running in _programs_given(tmp_path), running, 120)
            process.terminate()
            assert process.wait(30) == 128 + signal.SIGTERM
        finally:
            process.kill()
    # What g++ has started is killed, but not awaited.
    wait_until(lambda: _programs_given(tmp_path) == [], f"the end of {running}", 120)
    assert list(tmp_path.iterdir()) == []


def _programs_given(folder: Path) -> list[str]:
    """The names of all that runs with a path within the folder among its arguments; a zombie has none."""
    names = []
    for pid in all_processes():
        with suppress(OSError):  # it has just ended
            if str(folder) in command_of(pid):
                names.append(Path(f"/proc/{pid}/comm").read_text().strip())
    return names
