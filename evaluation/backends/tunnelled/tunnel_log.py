"""The packet logs of one end of a tunnel, ours or pantheon-tunnel's; each line is `TIME_MS - UID - BYTES`."""

import re
from pathlib import Path

import numpy as np
from ccgym.envs.errors import InputError
from ccgym.envs.logs.event_log import EventLog
from ccgym.envs.logs.packet_capture import PacketRecords
from ccgym.envs.outside_files import opened

_HEAD_CLOCK = re.compile(rb": (\d+\.\d{3})$")
_LAYOUTS = {"-": "dkisi"}
_LONGEST_HEADER_LINE = 1 << 16


def read_tunnel_log(path: Path) -> PacketRecords:
    """Reads a log up to its last whole line; an end that was killed may leave half of a line.

    Raises:
        InputError: the file is not such a log; names file, line and what is wrong.
    """
    with opened(path, "the packet log") as stream:
        head = stream.readline(_LONGEST_HEADER_LINE).rstrip(b"\n")
        clock = _HEAD_CLOCK.search(head)
        if not head.startswith(b"#") or clock is None:
            raise InputError(
                f"{path}:1: expected '# COMMAND ingress|egress: WALL_CLOCK_MS': not a packet log"
            )
        packets = EventLog(path, stream, 2, _LAYOUTS).take("-")
    return PacketRecords(np.round(float(clock[1]) + packets[0], 3), packets[2], packets[4])
