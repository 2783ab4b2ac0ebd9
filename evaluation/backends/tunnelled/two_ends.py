"""Flows recorded at both ends: pairs packets sent with packets received."""

import numpy as np
from ccgym.envs.logs.event_log import Array
from ccgym.envs.logs.link_log import LinkLog
from ccgym.envs.logs.packet_capture import PacketRecords


def matched_flow(
    sent: PacketRecords, received: PacketRecords, start_ms: float, opportunity_ms: Array | None = None
) -> LinkLog:
    """The log of one flow: times in ms since `start_ms`, delays from end to end.

    Received packets that were never sent, and second copies of one, are left out.
    """
    order = np.argsort(sent.uid, kind="stable")
    uids = sent.uid[order]
    place = np.searchsorted(uids, received.uid)
    known = place < len(uids)
    known[known] = uids[place[known]] == received.uid[known]
    first = np.zeros(len(known), bool)
    first[np.unique(received.uid, return_index=True)[1]] = True
    kept = np.flatnonzero(known & first)
    sent_ms = sent.time_ms[order][place[kept]]
    return LinkLog(
        arrival_ms=np.round(sent.time_ms - start_ms, 3),
        arrival_bytes=sent.bytes,
        departure_ms=np.round(received.time_ms[kept] - start_ms, 3),
        departure_bytes=received.bytes[kept],
        departure_delay_ms=np.round(received.time_ms[kept] - sent_ms, 3),
        opportunity_ms=np.zeros(0) if opportunity_ms is None else opportunity_ms,
        header_bytes=0,
    )
