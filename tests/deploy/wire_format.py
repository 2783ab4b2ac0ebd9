"""The datagrams of transport/wire.hh, written down a second time: the tests do not believe the code."""

import struct
from dataclasses import dataclass

HELLO, HELLO_REPLY, DATA, ACK, BYE, BYE_REPLY = range(1, 7)
DATA_BYTES = 1436


@dataclass(frozen=True)
class AckFields:
    flow: int
    seq: int
    received_at_ns: int
    received_packets: int


def control(kind: int, flow: int) -> bytes:
    return struct.pack(">4sBBQ", b"ccgm", 1, kind, flow)


def data(flow: int, seq: int) -> bytes:
    return (control(DATA, flow) + struct.pack(">Q", seq)).ljust(DATA_BYTES, b"\0")


def ack(flow: int, seq: int, received_at_ns: int, received_packets: int) -> bytes:
    return control(ACK, flow) + struct.pack(">QQQ", seq, received_at_ns, received_packets)


def parse_ack(datagram: bytes) -> AckFields:
    assert len(datagram) == 38
    magic, version, kind, *fields = struct.unpack(">4sBBQQQQ", datagram)
    assert (magic, version, kind) == (b"ccgm", 1, ACK)
    return AckFields(*fields)


def kind_and_flow(datagram: bytes) -> tuple[int, int]:
    magic, version, kind, flow = struct.unpack(">4sBBQ", datagram[:14])
    assert (magic, version) == (b"ccgm", 1)
    return kind, flow


def seq_of(datagram: bytes) -> int:
    assert len(datagram) == DATA_BYTES
    return int(struct.unpack(">Q", datagram[14:22])[0])
