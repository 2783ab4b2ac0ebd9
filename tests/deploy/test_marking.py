"""ECN on real sockets: who sends with ECT, and what the receiver makes of marks."""

import select
import socket
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from . import wire_format as wire
from .endpoint_programs import SENDER, free_port, receiver, run_flow, running
from .test_hostile_datagrams import FLOW, begin_flow

ECT0, CE = 2, 3


def set_traffic_class(sock: socket.socket, value: int) -> None:
    if sock.family == socket.AF_INET6:
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_TCLASS, value)
    else:
        sock.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, value)


TRAFFIC_CLASS = {(socket.IPPROTO_IP, socket.IP_TOS), (socket.IPPROTO_IPV6, socket.IPV6_TCLASS)}


def traffic_class(notes: list[tuple[int, int, bytes]]) -> int:
    """Of a datagram, by what the kernel notes beside it: there may be other notes."""
    (value,) = (value for level, kind, value in notes if (level, kind) in TRAFFIC_CLASS)
    return int.from_bytes(value, "little")


@pytest.mark.parametrize(
    ("family", "address"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")], ids=["IPv4", "IPv6"]
)
def test_the_receiver_counts_marks(family: socket.AddressFamily, address: str) -> None:
    port = free_port()
    with receiver(port), socket.socket(family, socket.SOCK_DGRAM) as sender:
        sender.settimeout(5)
        sender.connect((address, port))
        begin_flow(sender, FLOW)
        counts = []
        for seq, traffic_class in enumerate([0, ECT0, CE, ECT0, CE, CE, 0]):
            set_traffic_class(sender, traffic_class)
            sender.send(wire.data(FLOW, seq))
            counts.append(wire.parse_ack(sender.recv(100)).ce_count)
        assert counts == [0, 0, 1, 1, 2, 3, 3]


@pytest.fixture(params=["127.0.0.1", "::1"], ids=["IPv4", "IPv6"])
def listening(request: pytest.FixtureRequest) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in request.param else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as sock:
        sock.settimeout(5)
        sock.bind((request.param, 0))
        if family == socket.AF_INET6:
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_RECVTCLASS, 1)
        else:
            sock.setsockopt(socket.IPPROTO_IP, socket.IP_RECVTOS, 1)
        yield sock


@pytest.mark.parametrize(("scheme", "codepoint"), [("cubic", ECT0), ("copa", 0)])
def test_a_sender_whose_scheme_answers_marks_asks_for_them(
    listening: socket.socket, scheme: str, codepoint: int
) -> None:
    address, port = listening.getsockname()[:2]
    with running([SENDER, address, str(port), "--scheme", scheme, "--seconds", "3"]):
        datagram, sender = listening.recvfrom(2000)
        _, flow = wire.kind_and_flow(datagram)
        listening.sendto(wire.control(wire.HELLO_REPLY, flow), sender)
        while True:
            datagram, notes, _, _ = listening.recvmsg(2000, 200)
            if wire.kind_and_flow(datagram)[0] == wire.DATA:
                break
    assert traffic_class(notes) & CE == codepoint


class MarkingLink:
    """A link in between, of a constant rate: packets with ECT that wait behind some others are marked.

    In Python, for few kernels have a queue that marks.
    """

    PACKETS_PER_S = 400
    QUEUE = 200
    """Fewer than the window of 300 that answers no mark, three times what slow start puts into it before the
    first mark has come back."""
    MARKS_FROM = 10
    """As many as leave at once in the first window (RFC 6928): only one that has grown is marked."""

    def __init__(self, receiver_port: int) -> None:
        self._front = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._front.bind(("127.0.0.1", 0))
        self._front.setsockopt(socket.IPPROTO_IP, socket.IP_RECVTOS, 1)
        self._back = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._back.connect(("127.0.0.1", receiver_port))
        self._queue: deque[tuple[bytes, int]] = deque()
        self._next_at_s = 0.0
        self.port = int(self._front.getsockname()[1])
        self.marked = self.dropped = 0

    def run(self, ended: threading.Event) -> None:
        sender = None
        while not ended.is_set():
            ready, _, _ = select.select([self._front, self._back], [], [], 0.5 / self.PACKETS_PER_S)
            if self._front in ready:
                datagram, notes, _, sender = self._front.recvmsg(2000, 100)
                self._take(datagram, traffic_class(notes) & CE)
            if self._back in ready and sender is not None:
                self._front.sendto(self._back.recv(2000), sender)
            self._let_go()
        self._front.close()
        self._back.close()

    def _take(self, datagram: bytes, codepoint: int) -> None:
        if len(self._queue) >= self.QUEUE:
            self.dropped += 1
            return
        if codepoint == ECT0 and len(self._queue) >= self.MARKS_FROM:
            codepoint = CE
            self.marked += 1
        self._queue.append((datagram, codepoint))

    def _let_go(self) -> None:
        now_s = time.monotonic()
        self._next_at_s = max(self._next_at_s, now_s - 0.1)
        while self._queue and self._next_at_s <= now_s:
            datagram, codepoint = self._queue.popleft()
            set_traffic_class(self._back, codepoint)
            self._back.send(datagram)
            self._next_at_s += 1 / self.PACKETS_PER_S


@contextmanager
def marking_link(receiver_port: int) -> Iterator[MarkingLink]:
    link, ended = MarkingLink(receiver_port), threading.Event()
    thread = threading.Thread(target=link.run, args=[ended])
    thread.start()
    try:
        yield link
    finally:
        ended.set()
        thread.join(10)


@pytest.mark.parametrize("scheme", ["cubic", "reno", "dctcp"])
def test_a_scheme_with_ecn_keeps_the_queue_short_and_loses_nothing(scheme: str, tmp_path: Path) -> None:
    port = free_port()
    with receiver(port), marking_link(port) as link:
        stats = run_flow("127.0.0.1", link.port, scheme, tmp_path / "s.json", seconds=3)
    assert link.marked > 0
    assert link.dropped == 0
    assert stats["lost_packets"] == 0
    assert stats["acked_packets"] > link.PACKETS_PER_S  # a third of what the link takes, on a busy host


def test_a_scheme_without_ecn_fills_the_queue(tmp_path: Path) -> None:
    port = free_port()
    with receiver(port), marking_link(port) as link:
        stats = run_flow("127.0.0.1", link.port, "fixed:300", tmp_path / "s.json", seconds=2)
    assert link.marked == 0
    assert link.dropped > 0
    assert stats["lost_packets"] > 0
