"""The kernel's capture: every packet, at both ends, with the same number."""

import os
import socket
import time
from collections.abc import Iterator

import numpy as np
import pytest
from ccgym.envs.errors import OutsideError
from ccgym.envs.logs.packet_capture import SLOTS, PacketCapture, paired_uids

PACKETS = SLOTS + 9000
"""More than the ring holds, and than the 65536 that IP can tell apart."""


@pytest.fixture
def sockets() -> Iterator[tuple[socket.socket, int]]:
    """A connected UDP socket and the port it sends to."""
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver,
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender,
    ):
        receiver.bind(("127.0.0.1", 0))
        sender.connect(receiver.getsockname())
        yield sender, receiver.getsockname()[1]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root captures")
def test_every_packet_is_seen_once_at_each_end(sockets: tuple[socket.socket, int]) -> None:
    sender, port = sockets
    began_ms = 1000 * time.time()
    with PacketCapture([1, port], outgoing=True) as out, PacketCapture([port], outgoing=False) as into:
        for number in range(PACKETS):
            sender.send(number.to_bytes(30, "big") + bytes(70 + number % 7))
    ended_ms = 1000 * time.time()
    sent, received = out.records(port), into.records(port)
    received = paired_uids(sent, received)
    assert len(np.unique(sent.uid)) == PACKETS
    assert np.array_equal(received.uid, sent.uid)
    # 28 bytes of headers.
    assert sent.bytes[:8].tolist() == [128, 129, 130, 131, 132, 133, 134, 128]
    assert began_ms <= sent.time_ms[0] <= received.time_ms[0] <= received.time_ms[-1] <= ended_ms
    assert not len(out.records(1).uid)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root captures")
def test_a_capture_that_lost_packets_has_no_records(sockets: tuple[socket.socket, int]) -> None:
    sender, port = sockets
    late, whole = PacketCapture([port], outgoing=True), PacketCapture([1], outgoing=True)
    for _ in range(SLOTS + 1000):  # nobody empties the ring yet
        sender.send(bytes(8))
    with late, whole:
        pass
    with pytest.raises(OutsideError, match="the capture lost 1000 packets"):
        late.records(port)
    assert not len(whole.records(1).uid)


def test_others_are_told_that_it_takes_root() -> None:
    child = os.fork()
    if child == 0:
        os.setuid(65534)
        try:
            PacketCapture([9], outgoing=True)
        except OutsideError as error:
            os._exit(0 if "only root may capture packets" in str(error) else 1)
        os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
