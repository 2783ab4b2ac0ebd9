import os
import signal
import subprocess
import sys
import time
from pathlib import Path

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
    ccgym = [sys.executable, "-c", "import sys; from ccgym.cli.main import main; sys.exit(main())"]
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen([*ccgym, "bench", "tunnel"], stdout=subprocess.DEVNULL, env=environment) as process:
        try:
            deadline = time.monotonic() + 60
            while not {"ccgym-tunnel", "sleep", "iperf3"} <= set(programs_in(tmp_path)):
                assert time.monotonic() < deadline, programs_in(tmp_path)
                time.sleep(0.02)
            process.terminate()
            assert process.wait(60) == 128 + signal.SIGTERM
        finally:
            process.kill()
    assert programs_in(tmp_path) == []
    assert list(tmp_path.iterdir()) == []


def programs_in(folder: Path) -> list[str]:
    """The names of all processes whose working directory is below `folder`, even if that is gone."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if str((process / "cwd").readlink()).startswith(str(folder)):
                found.append((process / "comm").read_text().strip())
        except OSError:
            continue  # it has just ended
    return found
