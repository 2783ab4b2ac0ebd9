"""The packet logs of a tunnel's end, ours or pantheon-tunnel's: `TIME_MS - UID - BYTES` each."""

import re
from pathlib import Path

import numpy as np
from ccgym.envs.errors import InputError
from ccgym.envs.logs.event_log import EventLog, whole_lines
from ccgym.envs.logs.packet_capture import PacketRecords
from ccgym.envs.outside_files import read_bytes

_HEAD_CLOCK = re.compile(rb": (\d+\.\d{3})$")
_LAYOUTS = {"-": "dkisi"}


def read_tunnel_log(path: Path) -> PacketRecords:
    """Reads a log, up to its last whole line: an end that was killed may leave half of one.

    Raises:
        InputError: the file is not such a log; names file, line and what is wrong.
    """
    text = read_bytes(path, "the packet log")
    head, _, body = text.partition(b"\n")
    clock = _HEAD_CLOCK.search(head)
    if not head.startswith(b"#") or clock is None:
        raise InputError(f"{path}:1: expected '# COMMAND ingress|egress: WALL_CLOCK_MS': not a packet log")
    events = EventLog(path, whole_lines(body), 2, _LAYOUTS)
    times_ms = float(clock[1]) + events.values("-", 0)
    return PacketRecords(np.round(times_ms, 3), events.values("-", 2), events.values("-", 4))
