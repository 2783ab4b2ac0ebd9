import os
import signal
import subprocess
from pathlib import Path

import pytest
from ccgym.bench import tunnel
from ccgym.tests.processes import CCGYM, programs_in, wait_until
from ccgym.tests.tunnel.tunnel_ends import needs_tunnels


@needs_tunnels
def test_measures_throughput_processor_time_floods_and_delay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tunnel, "TCP_S", 1)
    monkeypatch.setattr(tunnel, "FLOOD_S", 1)
    monkeypatch.setattr(tunnel, "OFFERED_MBPS", (20, 50))
    monkeypatch.setattr(tunnel, "PINGS", 20)
    cases = {case.case: case for case in tunnel.cases(rounds=1)}
    for way in (*tunnel.PROTOCOLS, tunnel.OFFLOADED):
        assert cases[f"{way}, TCP"].value > 0
        for end in ("sending", "receiving"):
            assert cases[f"{way}, TCP, {end} end"].value > 0
    for protocol in tunnel.PROTOCOLS:
        flood = cases[f"{protocol}, UDP delivered of a flood"]
        assert flood.yardstick is not None
        assert flood.yardstick.value
        assert flood.value > 0
        assert f"{protocol}, added one way" in cases


@needs_tunnels
def test_a_command_that_is_ended_leaves_neither_tunnel_nor_hosts(tmp_path: Path) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen([*CCGYM, "bench", "tunnel"], stdout=subprocess.DEVNULL, env=environment) as process:
        try:
            programs = {"ccgym-tunnel", "sleep", "iperf3"}
            wait_until(lambda: programs <= set(programs_in(tmp_path)), "all programs")
            process.terminate()
            assert process.wait(60) == 128 + signal.SIGTERM
        finally:
            process.kill()
    assert programs_in(tmp_path) == []
    assert list(tmp_path.iterdir()) == []
