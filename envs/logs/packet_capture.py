"""A packet capture of a network namespace by the kernel, read without a loop.

The kernel writes heads of packets into a ring shared with this process (packet(7), TPACKET_V2); a thread
empties it some tens of times a second, so that a capture costs next to nothing while it runs. The ring holds
a second and a half of 1 Gbit/s; a capture that has lost a packet all the same has no records.
"""

import ctypes
import mmap
import os
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from ccgym.envs.errors import OutsideError

from .event_log import Array

OWN_NAMESPACE = Path("/proc/self/ns/net")

_ETH_P_ALL, _ETH_P_IP = 0x0003, 0x0800
_SOL_PACKET, _PACKET_RX_RING, _PACKET_STATISTICS, _PACKET_VERSION, _TPACKET_V2 = 263, 5, 6, 10, 1
_SO_ATTACH_FILTER = 26
_CLONE_NEWNET = 0x40000000
_SNAP_BYTES = 52
"""IPv4 header without options, and 32 bytes of what follows."""
_SLOT_BYTES, _BLOCK_BYTES, _BLOCKS = 256, 1 << 20, 32
SLOTS = _BLOCK_BYTES * _BLOCKS // _SLOT_BYTES
"""Packets that the ring holds."""
_PIECE_SLOTS = 4096
_EMPTY_S = 0.02
_OUTGOING = 4

_TCP = 6
_UDP_HEADERS_BYTES, _WORD_BYTES = 28, 8
_MARK_BITS = 32
_HASH = np.uint64(0x9E3779B97F4A7C15)

_FIELDS = {
    # struct tpacket2_hdr at 0, struct sockaddr_ll at 32
    "status": ("<u4", 0),
    "second": ("<u4", 16),
    "nanosecond": ("<u4", 20),
    # the IPv4 header at 80
    "length": (">u2", 82),
    "id": (">u2", 84),
    "protocol": ("u1", 89),
    # TCP or UDP at 100
    "source": (">u2", 100),
    "destination": (">u2", 102),
    "tcp_numbers": ("<u8", 104),
    "udp_payload": (("<u8", 3), 108),
}
_SLOT = np.dtype(
    {
        "names": list(_FIELDS),
        "formats": [form for form, _ in _FIELDS.values()],
        "offsets": [offset for _, offset in _FIELDS.values()],
        "itemsize": _SLOT_BYTES,
    }
)
_HEAD = np.dtype(
    [
        ("time_ms", "f8"),
        ("mark", "u4"),
        ("id", "u2"),
        ("length", "u2"),
        ("source", "u2"),
        ("destination", "u2"),
    ]
)
"""What is kept of a packet: a run of a minute at 1 Gbit/s has five million."""


@dataclass(frozen=True)
class PacketRecords:
    """Packets at one end of a flow, in the order they passed; arrays of shape (packets,)."""

    time_ms: Array
    """Since the epoch."""
    uid: Array
    """The same number at both ends for the same packet."""
    bytes: Array
    """IP packet."""


class PacketCapture:
    """IPv4 packets to some ports that pass a network namespace; as a context, it captures until it ends.

    Args:
        ports: destination ports, UDP or TCP.
        namespace: the file of the network namespace.
        outgoing: whether to see what leaves the host, or what arrives at it.

    Raises:
        OutsideError: no right to capture there.
    """

    def __init__(self, ports: list[int], namespace: Path = OWN_NAMESPACE, *, outgoing: bool) -> None:
        self._heads = [np.zeros(0, _HEAD)]
        self._lost = 0
        try:
            with _inside(namespace):
                self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(_ETH_P_ALL))
                self._ring = _open_ring(self._socket, ports, outgoing)
        except PermissionError:
            raise OutsideError("only root may capture packets: run as root") from None
        self._slots = np.frombuffer(self._ring, _SLOT)
        self._next = 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._empty_until_ended, daemon=True)

    def __enter__(self) -> "PacketCapture":
        self._thread.start()
        return self

    def __exit__(self, *failure: Any) -> None:
        self._ended.set()
        self._thread.join()
        self._empty()
        _, self._lost = struct.unpack("II", self._socket.getsockopt(_SOL_PACKET, _PACKET_STATISTICS, 8))
        self._socket.close()
        del self._slots
        self._ring.close()

    def records(self, port: int) -> PacketRecords:
        """The packets to `port` of the source that sent it most bytes, once the capture has ended.

        Raises:
            OutsideError: the capture is not whole.
        """
        if self._lost:
            raise OutsideError(f"the capture lost {self._lost} packets: this machine is too busy")
        heads = np.concatenate(self._heads)
        heads = heads[heads["destination"] == port]
        if len(heads):
            sent_by = np.bincount(heads["source"], weights=heads["length"])
            heads = heads[heads["source"] == np.argmax(sent_by)]
        return PacketRecords(
            heads["time_ms"].copy(),
            (_unwrapped(heads["id"].astype(np.int64)) << _MARK_BITS) + heads["mark"],
            heads["length"].astype(np.int64),
        )

    def _empty_until_ended(self) -> None:
        while not self._ended.wait(_EMPTY_S):
            self._empty()

    def _empty(self) -> None:
        """Keeps the heads of all filled slots from the next one on, and gives the kernel the slots back."""
        while True:
            piece = self._slots[self._next : self._next + _PIECE_SLOTS]
            free = np.flatnonzero(piece["status"] & 1 == 0)
            count = int(free[0]) if len(free) else len(piece)
            self._heads.append(_heads(piece[:count]))
            piece["status"][:count] = 0
            self._next = (self._next + count) % SLOTS
            if len(free):
                return


def paired_uids(sent: PacketRecords, received: PacketRecords) -> PacketRecords:
    """`received` with the uids of `sent`: both count on from their own first packet, modulo 2^16."""
    if not len(sent.uid) or not len(received.uid):
        return received
    first_sent, first_received = int(sent.uid[0]) >> _MARK_BITS, int(received.uid[0]) >> _MARK_BITS
    wraps = (first_sent + (first_received - first_sent) % 65536 - first_received) << _MARK_BITS
    return PacketRecords(received.time_ms, received.uid + wraps, received.bytes)


def _heads(slots: Array) -> Array:
    heads = np.zeros(len(slots), _HEAD)
    for name in ("id", "length", "source", "destination"):
        heads[name] = slots[name]
    heads["time_ms"] = np.round(1000 * slots["second"].astype(np.float64) + slots["nanosecond"] / 1e6, 3)
    heads["mark"] = _marks(slots)
    return heads


def _marks(slots: Array) -> Array:
    """What tells packets of one IP identifier apart, 32 bits: segments that the kernel cut share some.

    Of TCP its two sequence numbers, of UDP the beginning of the payload; checksums do not survive a NAT.
    """
    ends = _UDP_HEADERS_BYTES + _WORD_BYTES * np.arange(1, 4)
    payload = np.where(slots["length"][:, None] >= ends, slots["udp_payload"], 0)  # else of an earlier packet
    words = np.where((slots["protocol"] == _TCP)[:, None], slots["tcp_numbers"][:, None], payload)
    mixed = np.zeros(len(slots), np.uint64)
    for column in range(words.shape[1]):
        mixed = (mixed ^ words[:, column]) * _HASH
        mixed ^= mixed >> np.uint64(_MARK_BITS)
    marks: Array = mixed & np.uint64(2**_MARK_BITS - 1)
    return marks


def _unwrapped(identifiers: Array) -> Array:
    """IP identifiers, which a connected socket counts up, without their wrap at 2^16."""
    steps = (np.diff(identifiers, prepend=identifiers[:1]) + 32768) % 65536 - 32768
    unwrapped: Array = identifiers[:1] + np.cumsum(steps)
    return unwrapped


@contextmanager
def _inside(namespace: Path) -> Iterator[None]:
    """This thread in another network namespace; sockets stay in the one they were made in."""
    if namespace == OWN_NAMESPACE:
        yield
        return
    with OWN_NAMESPACE.open("rb") as own, namespace.open("rb") as other:
        _enter(other.fileno())
        try:
            yield
        finally:
            _enter(own.fileno())


def _enter(namespace: int) -> None:
    if ctypes.CDLL(None, use_errno=True).setns(namespace, _CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _open_ring(capture: socket.socket, ports: list[int], outgoing: bool) -> mmap.mmap:
    program = _packet_filter(ports, outgoing)
    instructions = ctypes.create_string_buffer(program, len(program))
    count = len(program) // 8
    capture.setsockopt(
        socket.SOL_SOCKET, _SO_ATTACH_FILTER, struct.pack("HP", count, ctypes.addressof(instructions))
    )
    capture.setsockopt(_SOL_PACKET, _PACKET_VERSION, _TPACKET_V2)
    request = struct.pack("IIII", _BLOCK_BYTES, _BLOCKS, _SLOT_BYTES, SLOTS)
    capture.setsockopt(_SOL_PACKET, _PACKET_RX_RING, request)
    return mmap.mmap(capture.fileno(), _BLOCK_BYTES * _BLOCKS)


def _packet_filter(ports: list[int], outgoing: bool) -> bytes:
    """A classic BPF program: the heads of IPv4 packets that way whose destination is one of `ports`."""
    reject = len(ports)
    compare = [(0x15, reject - index, 0, port) for index, port in enumerate(ports)]
    wrong_way = (0, reject + 4) if outgoing else (reject + 4, 0)
    program = [
        (0x28, 0, 0, 0xFFFFF004),  # the way of the frame: a loopback device shows each packet both ways
        (0x15, *wrong_way, _OUTGOING),
        (0x28, 0, 0, 0xFFFFF000),  # the protocol of the frame
        (0x15, 0, reject + 2, _ETH_P_IP),
        (0xB1, 0, 0, 0),  # X = length of the IPv4 header
        (0x48, 0, 0, 2),  # the destination port
        *compare,
        (0x06, 0, 0, 0),
        (0x06, 0, 0, _SNAP_BYTES),
    ]
    return b"".join(struct.pack("HBBI", *instruction) for instruction in program)
