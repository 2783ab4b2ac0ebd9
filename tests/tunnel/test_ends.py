"""How tunnels end: asked to, killed, cut off, with a full disk; what is left each time."""

import os
import signal
from pathlib import Path

import pytest
from ccgym.tests.processes import wait_until
from ccgym.tunnel.session import LocalTunnel, TunnelEnd

from .tunnel_ends import namespace_of, needs_tunnels, processes_in, read_log, small_disk

pytestmark = needs_tunnels
PINGS = ["sh", "-c", "exec ping -q -i 0.01 $CCGYM_TUNNEL_PEER"]


def logged_bytes(end: TunnelEnd) -> int:
    return end.logs.egress.stat().st_size


@pytest.mark.parametrize("stop", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_both_ends(stop: signal.Signals, tmp_path: Path) -> None:
    with LocalTunnel(tmp_path, ["sleep", "60"], ["sleep", "60"]) as tunnel:
        os.kill(tunnel.client.process.pid, stop)
        assert tunnel.client.process.wait(10) == 0
        assert tunnel.server.process.wait(10) == 0
    assert "ended by a signal" in tunnel.client.stderr_lines()[-1]
    assert "ended by the other end" in tunnel.server.stderr_lines()[-1]


def test_a_command_that_ignores_its_end_is_killed_whatever_dies_meanwhile(tmp_path: Path) -> None:
    stubborn = ["sh", "-c", "trap '' TERM; while :; do (sleep 0.3 &); sleep 0.3; done"]
    with LocalTunnel(tmp_path, ["sleep", "60"], stubborn) as tunnel:
        os.kill(tunnel.client.process.pid, signal.SIGTERM)
        assert tunnel.client.process.wait(10) == 0
    assert "ended by a signal" in tunnel.client.stderr_lines()[-1]


@pytest.mark.parametrize("authenticated", [True, False])
def test_a_killed_end_leaves_its_log_and_nothing_else(authenticated: bool, tmp_path: Path) -> None:
    with LocalTunnel(tmp_path, ["sleep", "60"], PINGS, authenticated=authenticated) as tunnel:
        namespace = namespace_of(tunnel.client.process.pid)
        wait_until(lambda: logged_bytes(tunnel.client) > 2000, "logging")
        os.kill(tunnel.client.process.pid, signal.SIGKILL)
        wait_until(lambda: processes_in(namespace) == [], "dying")
        assert tunnel.server.process.wait(15) == 1
    _, sent = read_log(tunnel.client.logs.egress)
    _, received = read_log(tunnel.server.logs.ingress)
    lost_from_the_log_s = (len(received) - len(sent)) * 0.01
    assert lost_from_the_log_s < 1
    assert "the other end fell silent" in tunnel.server.stderr_lines()[-1]


def test_a_killed_server_is_noticed(tmp_path: Path) -> None:
    with LocalTunnel(tmp_path, ["sleep", "60"], ["sleep", "60"]) as tunnel:
        os.kill(tunnel.server.process.pid, signal.SIGKILL)
        assert tunnel.client.process.wait(10) == 1
    assert "the other end fell silent" in tunnel.client.stderr_lines()[-1]


def test_a_compatible_end_whose_command_has_gone_says_so(tmp_path: Path) -> None:
    with LocalTunnel(tmp_path, ["sleep", "60"], ["sh", "-c", "exit 3"], authenticated=False) as tunnel:
        assert tunnel.client.process.wait(10) == 3
        assert tunnel.server.process.wait(10) == 0
    assert "ended by the other end" in tunnel.server.stderr_lines()[-1]


def test_an_idle_tunnel_lives(tmp_path: Path) -> None:
    with LocalTunnel(tmp_path, ["sleep", "60"], ["sleep", "6"]) as tunnel:
        assert tunnel.client.process.wait(20) == 0
    assert "the command ended with code 0" in tunnel.client.stderr_lines()[-1]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to mount a small disk")
def test_a_full_disk_ends_the_log_with_a_whole_line_and_nothing_else(tmp_path: Path) -> None:
    pings = ["sh", "-c", "ping -q -f -c 3000 $CCGYM_TUNNEL_PEER"]
    with small_disk(kilobytes=64) as disk:
        for log in ("client.ingress", "client.egress"):
            (tmp_path / log).symlink_to(disk / log)
        tunnel = LocalTunnel(tmp_path, ["sleep", "60"], pings)
        with tunnel:
            assert tunnel.client.process.wait(60) == 0
        _, packets = read_log(tunnel.client.logs.egress)
        assert 100 < len(packets) < 3000
        full = [line for line in tunnel.client.stderr_lines() if "No space left" in line]
        assert any(str(tunnel.client.logs.egress) in line for line in full)


def test_a_command_that_cannot_run_is_named(tmp_path: Path) -> None:
    with LocalTunnel(tmp_path, ["sleep", "60"], ["no-such-command"]) as tunnel:
        assert tunnel.client.process.wait(10) == 127
    assert (
        "ccgym-tunnel: cannot run no-such-command: No such file or directory" in tunnel.client.stderr_lines()
    )


def test_a_command_that_takes_the_device_away_ends_the_tunnel(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("the command has no right to do so")
    take = ["sh", "-c", "ip link delete tunnel; exec sleep 60"]
    with LocalTunnel(tmp_path, ["sleep", "60"], take) as tunnel:
        assert tunnel.client.process.wait(10) == 1
    assert "took the TUN device away" in tunnel.client.stderr_lines()[-1]
