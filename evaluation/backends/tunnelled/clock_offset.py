"""The clocks of two hosts: how far apart they are, and delays made right by it."""

import inspect
import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import ntplib
import numpy as np
from ccgym.envs.errors import InputError
from ccgym.envs.logs.packet_capture import PacketRecords
from ccgym.envs.outside_files import read_json
from ccgym.evaluation.run_files import replaced_text

from .tunnelled_flows import TunnelRecords
from .two_ends import matched_flow


@dataclass(frozen=True)
class ClockOffset:
    """The receiver's clock minus the sender's, in ms."""

    two_way_ms: float
    """From the quickest packets of both directions, taken to be equally quick."""
    ntp_ms: float | None
    """From both hosts' offsets to one NTP server; None: not asked, or no answer."""
    applied_ms: float
    """What delays were corrected by."""
    note: str
    """Why not by the NTP offset, where there is one."""


def clock_offset(flows: list[TunnelRecords], ntp_ms: float | None) -> ClockOffset:
    """Of a run's flows, from their own packets; NTP's is preferred unless it makes delays negative."""
    forward_ms = _least_delay_ms((flow.sent, flow.received) for flow in flows)
    backward_ms = _least_delay_ms((flow.replies_sent, flow.replies_received) for flow in flows)
    two_way_ms = round((forward_ms - backward_ms) / 2, 3)
    if ntp_ms is None:
        return ClockOffset(two_way_ms, None, two_way_ms, "")
    if min(forward_ms - ntp_ms, backward_ms + ntp_ms) < 0:
        return ClockOffset(two_way_ms, ntp_ms, two_way_ms, "the NTP offset makes delays negative")
    return ClockOffset(two_way_ms, ntp_ms, ntp_ms, "")


def on_the_senders_clock(received: PacketRecords, offset: ClockOffset) -> PacketRecords:
    """What was received, with the times that the sender's clock showed."""
    return replace(received, time_ms=np.round(received.time_ms - offset.applied_ms, 3))


def write_clock_offset(offset: ClockOffset, path: Path) -> None:
    """Keeps it beside the run's other files."""
    with replaced_text(path) as stream:
        json.dump(asdict(offset), stream)
        stream.write("\n")


def remote_offset_ms(path: Path, *, receives_here: bool) -> float | None:
    """The other host's clock minus this one's, as delays were corrected by it; None: both ends had one clock.

    Args:
        path: of the run's file.
        receives_here: whether the other host sends: what was applied is the receiver's minus the sender's.

    Raises:
        InputError: the file does not say.
    """
    if not path.exists():
        return None
    told: Any = read_json(path, "the clocks' offset")
    try:
        applied_ms = float(told["applied_ms"])
    except (KeyError, TypeError, ValueError):
        raise InputError(f"{path}: not the offset of two clocks: applied_ms, a number, is missing") from None
    return 0.0 - applied_ms if receives_here else applied_ms


def ntp_offset_ms(server: str) -> float | None:
    """The server's clock minus this host's; None: no answer."""
    return quickest_ntp_answer_ms(ntplib.NTPClient(), ntplib.NTPException, server)


def remote_ntp_offset_ms(server: str, python: Callable[[str], str]) -> float | None:
    """The same of the host whose Python `python` runs; it gets all it needs with the question."""
    sources = inspect.getsource(ntplib) + "\n\n" + inspect.getsource(quickest_ntp_answer_ms)
    try:
        answer = python(f"{sources}\n\nprint(quickest_ntp_answer_ms(NTPClient(), NTPException, {server!r}))")
        return float(answer)
    except (OSError, RuntimeError, ValueError):
        return None


def quickest_ntp_answer_ms(
    client: "ntplib.NTPClient", refusal: "type[Exception]", server: str, asked: int = 8, tries: int = 3
) -> "float | None":
    """The server's clock minus this host's, by the answer of the shortest round trip (RFC 5905, section 10).

    None: `tries` times there was no answer. Uses nothing of this module: it is sent to other hosts.
    """
    answers: list[ntplib.NTPStats] = []
    while len(answers) < asked and tries > 0:
        try:
            answers.append(client.request(server, version=3, timeout=5))
        except (refusal, OSError):
            tries -= 1
    return 1000 * min(answers, key=lambda each: each.delay).offset if answers else None


def _least_delay_ms(directions: Iterable[tuple[PacketRecords, PacketRecords]]) -> float:
    """Raises ValueError: nothing came through."""
    delays_ms = [matched_flow(sent, received, 0).departure_delay_ms for sent, received in directions]
    if not sum(map(len, delays_ms)):
        raise ValueError("no packet came through the tunnel")
    return float(np.concatenate(delays_ms).min())
