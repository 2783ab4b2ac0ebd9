"""What crosses a network namespace, packet by packet: a capture of the kernel's, read without a loop.

The kernel writes heads of packets into a ring shared with this process (packet(7), TPACKET_V2); a thread
empties it a few times a second, so that a capture costs next to nothing while it runs.
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
_SOL_PACKET, _PACKET_RX_RING, _PACKET_VERSION, _TPACKET_V2 = 263, 5, 10, 1
_SO_ATTACH_FILTER = 26
_CLONE_NEWNET = 0x40000000
_SNAP_BYTES = 52
"""IPv4 header without options, and 32 bytes of what follows."""
_SLOT_BYTES, _BLOCK_BYTES, _BLOCKS = 256, 1 << 20, 16
_SLOTS = _BLOCK_BYTES * _BLOCKS // _SLOT_BYTES
_EMPTY_S = 0.1
_INCOMING, _OUTGOING = 0, 4

_TCP = 6
_UDP_HEADERS_BYTES, _WORD_BYTES = 28, 8
_MARK_BITS = 32
_HASH = np.uint64(0x9E3779B97F4A7C15)

_FIELDS = {
    # struct tpacket2_hdr at 0, struct sockaddr_ll at 32
    "status": ("<u4", 0),
    "second": ("<u4", 16),
    "nanosecond": ("<u4", 20),
    "direction": ("u1", 42),
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
        self._direction = _OUTGOING if outgoing else _INCOMING
        self._heads: list[Array] = []
        try:
            with _inside(namespace):
                self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(_ETH_P_ALL))
                self._ring = _open_ring(self._socket, ports)
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
        self._socket.close()
        del self._slots
        self._ring.close()

    def records(self, port: int) -> PacketRecords:
        """The packets to `port` of the source that sent it most bytes, once the capture has ended."""
        heads = np.concatenate([np.zeros(0, _SLOT), *self._heads])
        heads = heads[(heads["destination"] == port) & (heads["direction"] == self._direction)]
        if len(heads):
            sent_by = np.bincount(heads["source"], weights=heads["length"])
            heads = heads[heads["source"] == np.argmax(sent_by)]
        seconds = heads["second"].astype(np.float64)
        return PacketRecords(
            np.round(1000 * seconds + heads["nanosecond"] / 1e6, 3),
            (_unwrapped(heads["id"].astype(np.int64)) << _MARK_BITS) + _marks(heads),
            heads["length"].astype(np.int64),
        )

    def _empty_until_ended(self) -> None:
        while not self._ended.wait(_EMPTY_S):
            self._empty()

    def _empty(self) -> None:
        """Copies all filled slots from the next one on, and gives them back to the kernel."""
        order = (self._next + np.arange(_SLOTS)) % _SLOTS
        filled = self._slots["status"][order] & 1 == 1
        count = _SLOTS if filled.all() else int(np.argmin(filled))
        taken = order[:count]
        self._heads.append(self._slots[taken])
        self._slots["status"][taken] = 0
        self._next = (self._next + count) % _SLOTS


def paired_uids(sent: PacketRecords, received: PacketRecords) -> PacketRecords:
    """`received` with the uids of `sent`: both count on from their own first packet, modulo 2^16."""
    if not len(sent.uid) or not len(received.uid):
        return received
    first_sent, first_received = int(sent.uid[0]) >> _MARK_BITS, int(received.uid[0]) >> _MARK_BITS
    wraps = (first_sent + (first_received - first_sent) % 65536 - first_received) << _MARK_BITS
    return PacketRecords(received.time_ms, received.uid + wraps, received.bytes)


def _marks(heads: Array) -> Array:
    """What tells packets of one IP identifier apart, 32 bits: segments that the kernel cut share some.

    Of TCP its two sequence numbers, of UDP the beginning of the payload; checksums do not survive a NAT.
    """
    ends = _UDP_HEADERS_BYTES + _WORD_BYTES * np.arange(1, 4)
    payload = np.where(heads["length"][:, None] >= ends, heads["udp_payload"], 0)  # else of an earlier packet
    words = np.where((heads["protocol"] == _TCP)[:, None], heads["tcp_numbers"][:, None], payload)
    mixed = np.zeros(len(heads), np.uint64)
    for column in range(words.shape[1]):
        mixed = (mixed ^ words[:, column]) * _HASH
        mixed ^= mixed >> np.uint64(_MARK_BITS)
    marks: Array = (mixed & np.uint64(2**_MARK_BITS - 1)).astype(np.int64)
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


def _open_ring(capture: socket.socket, ports: list[int]) -> mmap.mmap:
    program = _port_filter(ports)
    instructions = ctypes.create_string_buffer(program, len(program))
    count = len(program) // 8
    capture.setsockopt(
        socket.SOL_SOCKET, _SO_ATTACH_FILTER, struct.pack("HP", count, ctypes.addressof(instructions))
    )
    capture.setsockopt(_SOL_PACKET, _PACKET_VERSION, _TPACKET_V2)
    request = struct.pack("IIII", _BLOCK_BYTES, _BLOCKS, _SLOT_BYTES, _SLOTS)
    capture.setsockopt(_SOL_PACKET, _PACKET_RX_RING, request)
    return mmap.mmap(capture.fileno(), _BLOCK_BYTES * _BLOCKS)


def _port_filter(ports: list[int]) -> bytes:
    """A classic BPF program: the head of every IPv4 packet whose destination port is one of `ports`."""
    reject = len(ports)
    compare = [(0x15, reject - index, 0, port) for index, port in enumerate(ports)]
    program = [
        (0x28, 0, 0, 0xFFFFF000),  # the protocol of the frame
        (0x15, 0, len(ports) + 2, _ETH_P_IP),
        (0xB1, 0, 0, 0),  # X = length of the IPv4 header
        (0x48, 0, 0, 2),  # the destination port
        *compare,
        (0x06, 0, 0, 0),
        (0x06, 0, 0, _SNAP_BYTES),
    ]
    return b"".join(struct.pack("HBBI", *instruction) for instruction in program)
