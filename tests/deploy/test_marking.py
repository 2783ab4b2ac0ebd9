"""ECN on real sockets: who sends with ECT, and what the receiver makes of marks."""

import socket
from collections.abc import Iterator

import pytest

from . import wire_format as wire
from .endpoint_programs import SENDER, free_port, receiver, running
from .test_hostile_datagrams import FLOW, begin_flow

ECT0, CE = 2, 3


def set_traffic_class(sock: socket.socket, value: int) -> None:
    if sock.family == socket.AF_INET6:
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_TCLASS, value)
    else:
        sock.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, value)


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
    classes = [int.from_bytes(value, "little") for _, _, value in notes]
    assert [value & 0b11 for value in classes] == [codepoint]
