"""How tunnels start: what the faster end sends while the slower one still sets its device up."""

import os
import signal
from pathlib import Path

from ccgym.tests.processes import descendants, wait_until
from ccgym.tunnel.session import PacketLogs, parse_listening

from .tunnel_ends import needs_tunnels, output, started

pytestmark = needs_tunnels


def test_what_comes_before_the_device_is_up_waits_for_it(tmp_path: Path, secret: str) -> None:
    pings = ("sh", "-c", "exec ping -q -c 3 -i 0.1 -W 20 $CCGYM_TUNNEL_PEER")
    logs = PacketLogs.in_folder(tmp_path, "client")
    with started(tmp_path, "server", "server", "--secret-file", secret, "--", "sleep", "60") as server:
        wait_until(lambda: len(output(server)) > 0, "listening")
        [inside] = descendants(server.pid)
        os.kill(inside, signal.SIGSTOP)  # as a busy machine may leave it
        port = str(parse_listening(output(server)[0]).port)
        options = ("--secret-file", secret, *logs.options(), "127.0.0.1", port, "--", *pings)
        with started(tmp_path, "client", "client", *options) as client:
            wait_until(lambda: logs.egress.exists() and logs.egress.read_text().count("\n") == 4, "sending")
            os.kill(inside, signal.SIGCONT)
            assert client.wait(30) == 0
    assert "3 packets sent, 3 received" in output(client, "err")[-1]
