"""ns-3's dumbbell, compiled here: a flow that fills its link, and a machine without ns-3."""

from pathlib import Path

import pytest
from ccgym.bench import ns3
from ccgym.envs.errors import InputError, OutsideError


@pytest.mark.skipif(not ns3._HEADER.is_file(), reason="libns3-dev is not installed")
def test_a_cubic_flow_of_ns3_fills_its_link() -> None:
    with ns3.Ns3() as simulator:
        figures = simulator.fly("TcpCubic", ns3.Dumbbell(5, 20, 34), 20, 5)
        with pytest.raises(OutsideError, match="TcpNone"):
            simulator.fly("TcpNone", ns3.Dumbbell(5, 20, 34), 20, 5)
    assert figures.throughput_mbps == pytest.approx(5, rel=0.02)
    assert 20 < figures.mean_queueing_ms < 85  # 34 packets of 2.4 ms
    assert figures.packets_per_cpu_s > 0


def test_a_machine_without_ns3_is_told_how_to_get_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ns3, "_HEADER", tmp_path / "none.h")
    with pytest.raises(InputError, match="apt-get install g\\+\\+ libns3-dev"):
        ns3.compile_dumbbell(tmp_path)
