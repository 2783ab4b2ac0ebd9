"""The offset between the clocks of two hosts, and the correction of delays by it."""

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
    """Estimated from the least delays of both directions, which are assumed to be equal."""
    ntp_ms: float | None
    """Difference of both hosts' offsets to one NTP server; None: not asked, or no answer."""
    applied_ms: float
    """The offset by which delays were corrected."""
    note: str
    """Why the NTP offset was not applied; empty if it was, or if there is none."""


def clock_offset(flows: list[TunnelRecords], ntp_ms: float | None) -> ClockOffset:
    """The offset for a run, from NTP if no delay gets negative by it, otherwise from the run's own packets.

    Raises:
        ValueError: no packet came through in one of the directions.
    """
    forward_ms = _least_delay_ms((flow.sent, flow.received) for flow in flows)
    backward_ms = _least_delay_ms((flow.replies_sent, flow.replies_received) for flow in flows)
    two_way_ms = round((forward_ms - backward_ms) / 2, 3)
    if ntp_ms is None:
        return ClockOffset(two_way_ms, None, two_way_ms, "")
    if min(forward_ms - ntp_ms, backward_ms + ntp_ms) < 0:
        return ClockOffset(two_way_ms, ntp_ms, two_way_ms, "the NTP offset makes delays negative")
    return ClockOffset(two_way_ms, ntp_ms, ntp_ms, "")


def on_the_senders_clock(received: PacketRecords, offset: ClockOffset) -> PacketRecords:
    """The packets received, with their times converted to the sender's clock."""
    return replace(received, time_ms=np.round(received.time_ms - offset.applied_ms, 3))


def write_clock_offset(offset: ClockOffset, path: Path) -> None:
    """Writes the offset to `path`, as JSON."""
    with replaced_text(path) as stream:
        json.dump(asdict(offset), stream)
        stream.write("\n")


def remote_offset_ms(path: Path, *, receives_here: bool) -> float | None:
    """The other host's clock minus this one's, in ms, as applied to the delays; None: there is one clock.

    Args:
        path: the run's file, as `write_clock_offset` wrote it.
        receives_here: whether this host receives; the file has the receiver's clock minus the sender's.

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
    """The server's clock minus this host's, in ms; None: no answer."""
    return quickest_ntp_answer_ms(ntplib.NTPClient(), ntplib.NTPException, server)


def remote_ntp_offset_ms(server: str, python: Callable[[str], str]) -> float | None:
    """The same for another host: `python` runs a program there, which carries all the code it needs."""
    sources = inspect.getsource(ntplib) + "\n\n" + inspect.getsource(quickest_ntp_answer_ms)
    try:
        answer = python(f"{sources}\n\nprint(quickest_ntp_answer_ms(NTPClient(), NTPException, {server!r}))")
        return float(answer)
    except (OSError, RuntimeError, ValueError):
        return None


def quickest_ntp_answer_ms(
    client: "ntplib.NTPClient", refusal: "type[Exception]", server: str, asked: int = 8, tries: int = 3
) -> "float | None":
    """The server's clock minus this host's, in ms, by the answer of least RTT (RFC 5905, section 10).

    None: no answer came. Gives up after `tries` failures. The source of this function is sent to other hosts,
    so it uses nothing of this module.
    """
    answers: list[ntplib.NTPStats] = []
    while len(answers) < asked and tries > 0:
        try:
            answers.append(client.request(server, version=3, timeout=5))
        except (refusal, OSError):
            tries -= 1
    return 1000 * min(answers, key=lambda each: each.delay).offset if answers else None


def _least_delay_ms(directions: Iterable[tuple[PacketRecords, PacketRecords]]) -> float:
    """The least delay of all packets, in ms. Raises ValueError if nothing came through."""
    delays_ms = [matched_flow(sent, received, 0).departure_delay_ms for sent, received in directions]
    if not sum(map(len, delays_ms)):
        raise ValueError("no packet came through the tunnel")
    return float(np.concatenate(delays_ms).min())
