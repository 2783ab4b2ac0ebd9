"""Describes an emulator in words, and what makes it hard for a policy."""

import numpy as np
from ccgym.envs.specs.emulators import EmulatorSpec, LinkSpec
from ccgym.oracle.ideal import STEP_MS, ideal_windows
from ccgym.oracle.preference import DEFAULT_PREFERENCE
from numpy.typing import NDArray

SILENCE_MS = 300.0
"""A link that delivers nothing for so long counts as silent; no sender knows of it before it is over."""
FEW_SILENCES = 0.05
SMALL_QUEUE_PACKETS = 4
SMALL_WINDOW_PACKETS = 6
TAGGED_SECONDS = 30.0
"""Time over which the ideal windows are looked at."""


def describe(spec: EmulatorSpec) -> str:
    """A random emulator in a few words."""
    link = spec.uplink
    kind = "wandering" if link.rate_walk else "stepping" if link.rate_steps else link.arrivals
    acks = "" if spec.downlink == link.mirrored() else ", slow or irregular ACKs"
    queue = "any queue" if link.queue == "infinite" else f"queue of {link.queue_packets:.0f}"
    rate = link.schedule().mean_rate_mbps
    return f"{kind} {rate:.3g} Mbit/s, {spec.delay_ms:g} ms, {queue}, loss {link.loss:.1%}{acks}"


def difficulty_tags(spec: EmulatorSpec) -> list[str]:
    """Tags for what makes an emulator hard for a policy; empty if nothing does."""
    silent = {name: _silent_share(link) for name, link in (("link", spec.uplink), ("ACKs", spec.downlink))}
    found = [
        f"{name} silent {share:.0%} of the time" for name, share in silent.items() if share > FEW_SILENCES
    ]
    if spec.uplink.queue_packets <= SMALL_QUEUE_PACKETS:
        found.append(f"room for {spec.uplink.queue_packets:.0f} packets")
    windows = ideal_windows(spec, DEFAULT_PREFERENCE, round(TAGGED_SECONDS * 1e3 / STEP_MS))
    if np.median(windows) <= SMALL_WINDOW_PACKETS:
        found.append(f"ideal window of {np.median(windows):.1f} packets")
    return found


def longest_silence_ms(spec: EmulatorSpec) -> float:
    """The longest silence of the link or of the ACK path, in ms."""
    return max(float(_gaps_ms(link).max(initial=0.0)) for link in (spec.uplink, spec.downlink))


def _silent_share(link: LinkSpec) -> float:
    """Share of the time within gaps of SILENCE_MS or more between a link's opportunities."""
    gaps_ms = _gaps_ms(link)
    return float(gaps_ms[gaps_ms >= SILENCE_MS].sum() / link.schedule().period_ms)


def _gaps_ms(link: LinkSpec) -> NDArray[np.float64]:
    return np.diff(link.schedule().opportunities_ms().astype(np.float64), prepend=0.0)
