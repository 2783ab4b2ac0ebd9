"""A stranger between the ends: it sees every datagram, sends what it likes, and gets nothing through."""

import random
import re
import select
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ccgym.tests.processes import wait_until
from ccgym.tunnel.session import PacketLogs, parse_listening

from .tunnel_ends import needs_tunnels, output, read_log, started

pytestmark = needs_tunnels


class Middle:
    """Carries datagrams between a client and a server; a test may look at each and add others."""

    def __init__(self, server_port: int) -> None:
        self.outside = self._bound()
        self.inside = self._bound()
        self.stranger = self._bound()
        self.server = ("127.0.0.1", server_port)
        self.port = self.outside.getsockname()[1]
        self.to_server: Callable[[bytes], list[bytes]] = lambda datagram: [datagram]
        self._client: Any = None
        self._end = False
        self._thread = threading.Thread(target=self._carry)

    @staticmethod
    def _bound() -> socket.socket:
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sock.bind(("127.0.0.1", 0))
        return sock

    def __enter__(self) -> "Middle":
        self._thread.start()
        return self

    def __exit__(self, *failure: Any) -> None:
        self._end = True
        self._thread.join(60)
        for sock in (self.outside, self.inside, self.stranger):
            sock.close()

    def rebind(self) -> None:
        """The NAT gives the client another port."""
        self.inside = self._bound()

    def _carry(self) -> None:
        while not self._end:
            ready, _, _ = select.select([self.outside, self.inside], [], [], 0.05)
            if self.outside in ready:
                datagram, self._client = self.outside.recvfrom(65536)
                for each in self.to_server(datagram):
                    self.inside.sendto(each, self.server)
            if self.inside in ready:
                self.outside.sendto(self.inside.recv(65536), self._client)


def summary(line: str) -> dict[str, int]:
    """The counts of an end's last line."""
    counts = {kind: int(number) for number, kind in re.findall(r"(\d+) ([a-z']+)", line.split(": ", 2)[2])}
    return {"sent": counts.pop("packets"), **counts}


class Session:
    """A server, a stranger in the middle, a client that pings through."""

    def __init__(self, folder: Path, secret: str, pings: int) -> None:
        self.folder, self.secret, self.pings = folder, secret, pings
        self.logs = PacketLogs.in_folder(folder, "server")

    def run(self, meddle: Callable[[Middle], None]) -> tuple[int, str, dict[str, int]]:
        """Answers that came back to the client, what it printed, and what the server counted."""
        server = ("server", "--secret-file", self.secret, *self.logs.options(), "--", "sleep", "60")
        with started(self.folder, "server", *server) as serving:
            wait_until(lambda: len(output(serving)) > 0, "listening")
            with Middle(parse_listening(output(serving)[0]).port) as middle:
                # The last one by itself: ping does not wait long enough for answers that a busy machine holds
                # up, and when that one is answered, all before it have been.
                ping = (
                    f"ping -q -i 0.01 -c {self.pings - 1} $CCGYM_TUNNEL_PEER; "
                    "ping -q -c 1 -W 30 $CCGYM_TUNNEL_PEER"
                )
                where = ("127.0.0.1", str(middle.port))
                client = ("client", "--secret-file", self.secret, *where, "--", "sh", "-c", ping)
                with started(self.folder, "client", *client) as calling:
                    wait_until(lambda: len(output(serving)) > 1, "connecting")
                    meddle(middle)
                    calling.wait(30)
            serving.wait(10)
            answered = summary(output(calling, "err")[-1])["received"]
            return answered, "\n".join(output(calling)), summary(output(serving, "err")[-1])


def test_altered_replayed_truncated_and_oversized_datagrams_are_counted_and_dropped(
    tmp_path: Path, secret: str
) -> None:
    rng = random.Random(1)
    sent: dict[str, int] = {"altered": 0, "replayed": 0, "malformed": 0, "oversized": 0}

    def meddled(datagram: bytes) -> list[bytes]:
        if datagram[0] < 0x80 or len(datagram) < 60:  # handshakes, keep-alives and the bye
            return [datagram]
        flipped = bytearray(datagram)
        flipped[rng.randrange(4, len(datagram))] ^= 1 << rng.randrange(8)
        for kind in sent:
            sent[kind] += 1
        bad = [bytes(flipped), datagram[: rng.randrange(1, 20)], datagram + bytes(1500)]
        rng.shuffle(bad)
        return [*bad, datagram, datagram]

    def meddle(middle: Middle) -> None:
        middle.to_server = meddled

    answered, _, counted = Session(tmp_path, secret, pings=100).run(meddle)
    assert sent["altered"] >= 90
    assert {kind: counted[kind] for kind in sent} == sent
    assert counted["received"] == counted["sent"] == answered == 100
    uids = [line.uid for line in read_log(tmp_path / "server.ingress")[1]]
    assert len(set(uids)) == len(uids) == 100


def test_strangers_are_counted_and_change_nothing(tmp_path: Path, secret: str) -> None:
    rng = random.Random(2)
    seen: list[bytes] = []

    def look(datagram: bytes) -> list[bytes]:
        seen.append(datagram)
        return [datagram]

    def meddle(middle: Middle) -> None:
        middle.to_server = look
        wait_until(lambda: len(seen) > 20, "pinging")
        for i in range(200):
            copy = bytearray(seen[i % 20])
            copy[-1] ^= 1
            noise = b"\xc0" + rng.randbytes(rng.randrange(0, 1400))
            for datagram in (seen[i % 20], bytes(copy), noise):
                middle.stranger.sendto(datagram, middle.server)

    answered, _, counted = Session(tmp_path, secret, pings=150).run(meddle)
    assert counted["strangers'"] >= 500
    assert counted["received"] == counted["sent"] == answered == 150


def test_a_nat_that_changes_the_port_is_survived(tmp_path: Path, secret: str) -> None:
    def meddle(middle: Middle) -> None:
        for _ in range(3):
            time.sleep(0.3)
            middle.rebind()

    _, said, counted = Session(tmp_path, secret, pings=150).run(meddle)
    received = re.search(r"(\d+) received", said)
    assert received is not None
    assert int(received[1]) >= 140  # what was on the way back to the old port is lost
    assert counted["strangers'"] == 0


def test_a_wrong_secret_opens_nothing_and_a_second_client_neither(tmp_path: Path, secret: str) -> None:
    def call(port: int, with_secret: str) -> str:
        argv = [*("client", "--secret-file", with_secret), "127.0.0.1", str(port), "--", "true"]
        with started(tmp_path, "stranger", *argv) as stranger:
            assert stranger.wait(10) == 2
            return "\n".join(output(stranger, "err"))

    other = tmp_path / "other-secret"
    other.write_bytes(random.Random(3).randbytes(32))
    other.chmod(0o600)
    complaints: list[str] = []

    def meddle(middle: Middle) -> None:
        complaints.extend(call(middle.server[1], which) for which in (str(other), secret))

    answered, _, counted = Session(tmp_path, secret, pings=100).run(meddle)
    assert counted["received"] == counted["sent"] == answered == 100
    assert complaints == [
        "ccgym-tunnel: the server has another secret: give both ends the same --secret-file",
        "ccgym-tunnel: the server has a client already: start another server, or end that client first",
    ]


def test_another_version_is_named(tmp_path: Path, secret: str) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        server.settimeout(10)
        argv = ["client", "--secret-file", secret, "127.0.0.1", str(server.getsockname()[1]), "--", "true"]
        with started(tmp_path, "client", *argv) as client:
            hello, address = server.recvfrom(100)
            server.sendto(hello[:4] + bytes([hello[4] + 1]) + hello[5:], address)
            assert client.wait(10) == 2
            assert (
                "speaks version 2 of the protocol, we 1: install the same ccgym" in output(client, "err")[0]
            )
