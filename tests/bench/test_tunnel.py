import pytest
from ccgym.bench import tunnel
from ccgym.tests.tunnel.tunnel_ends import needs_tunnels


@needs_tunnels
def test_measures_throughput_processor_time_floods_and_delay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tunnel, "TCP_S", 1)
    monkeypatch.setattr(tunnel, "FLOOD_S", 1)
    monkeypatch.setattr(tunnel, "OFFERED_MBPS", (20, 50))
    monkeypatch.setattr(tunnel, "PINGS", 20)
    cases = {case.case: case for case in tunnel.cases(rounds=1)}
    for way in (*tunnel.PROTOCOLS, tunnel.OFFLOADED):
        assert cases[f"{way}, TCP"].value > 10
        for end in ("sending", "receiving"):
            assert 0.01 < cases[f"{way}, TCP, {end} end"].value < 100
    for protocol in tunnel.PROTOCOLS:
        flood = cases[f"{protocol}, UDP delivered of a flood"]
        assert flood.yardstick is not None
        assert flood.yardstick.value == pytest.approx(50, rel=0.1)  # delivered of 50 Mbit/s: all
        assert flood.ratio is not None
        assert flood.ratio > 1
        assert 0 < cases[f"{protocol}, added one way"].value < 100_000
