"""The datagrams of transport/wire.hh, written down a second time: the tests do not believe the code."""

import struct
from dataclasses import dataclass

HELLO, HELLO_REPLY, DATA, ACK, BYE, BYE_REPLY, RETRY = range(1, 8)
DATA_BYTES = 1436


@dataclass(frozen=True)
class AckFields:
    flow: int
    seq: int
    received_at_ns: int
    received_packets: int
    ce_count: int


def control(kind: int, flow: int) -> bytes:
    return struct.pack(">4sBBQ", b"ccgm", 3, kind, flow)


def hello(flow: int, cookie: int = 0) -> bytes:
    return control(HELLO, flow) + struct.pack(">QQ", cookie, 0)


def cookie_of(retry: bytes) -> int:
    assert kind_and_flow(retry)[0] == RETRY
    return int(struct.unpack(">Q", retry[14:])[0])


def data(flow: int, seq: int) -> bytes:
    return (control(DATA, flow) + struct.pack(">Q", seq)).ljust(DATA_BYTES, b"\0")


def ack(flow: int, seq: int, received_at_ns: int, received_packets: int, ce_count: int = 0) -> bytes:
    numbers = struct.pack(">QQ", seq, received_at_ns)
    return control(ACK, flow) + numbers + received_packets.to_bytes(6, "big") + struct.pack(">H", ce_count)


def parse_ack(datagram: bytes) -> AckFields:
    assert len(datagram) == 38
    magic, version, kind, flow, seq, received_at_ns = struct.unpack(">4sBBQQQ", datagram[:30])
    assert (magic, version, kind) == (b"ccgm", 3, ACK)
    received_packets = int.from_bytes(datagram[30:36], "big")
    return AckFields(flow, seq, received_at_ns, received_packets, int.from_bytes(datagram[36:], "big"))


def kind_and_flow(datagram: bytes) -> tuple[int, int]:
    magic, version, kind, flow = struct.unpack(">4sBBQ", datagram[:14])
    assert (magic, version) == (b"ccgm", 3)
    return kind, flow


def seq_of(datagram: bytes) -> int:
    assert len(datagram) == DATA_BYTES
    return int(struct.unpack(">Q", datagram[14:22])[0])
