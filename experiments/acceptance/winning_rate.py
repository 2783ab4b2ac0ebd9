"""A policy's winning rate among its rivals, each alone on links of constant or stepping rate.

The measure and the links are those of Sage's single flows (Yen, Abbasloo and Chao, SIGCOMM 2023). The score
of each segment of a run is throughput^2 / mean one-way delay; every scheme with 90 % of the best score wins.
"""

from functools import partial

import numpy as np
from ccgym.envs import _core
from ccgym.envs.specs.emulators import EmulatorSpec, LinkSpec
from ccgym.envs.specs.link_spec import DATA_IP_BYTES
from ccgym.envs.specs.splits import Family, Split, split_generator
from ccgym.envs.specs.variation_spec import RateStep
from ccgym.evaluation.metrics.intervals import UNKNOWN, mean_interval
from ccgym.experiments.check import Check, Links
from numpy.typing import NDArray

from .contested_links import Draw, link_within

RIVALS = ("copa", "reno", "cubic", "vegas", "ledbat", "bbr", "bbr3", "allegro", "vivace")
"""The native schemes for any link and any flow.

Left out are schemes that wait for ECN marks, are made for calls or cellular links, need a rule table, or do
not adapt.
"""
RATE_MBPS = (12.0, 192.0)
"""Rate in the first segment; the queue's BDP is that of the first segment too."""
DELAY_MS = (5.0, 80.0)
QUEUE_BDP = (0.5, 16.0)
FACTORS = (1.0, 2.0, 4.0, 0.5, 0.25)
"""Factors of the rate in every second segment, equally frequent; 1 is a constant rate."""
SEGMENTS = 4
SEGMENT_S = 7.0
WINNING_SHARE = 0.9
"""A score wins if it is at least this share of the best."""
WANTED = 0.9


def winning_rate(scheme: str, draw: Draw) -> Check:
    """The share of the segments that the scheme wins, averaged over the links."""
    on_link = partial(shares_won_on, scheme, draw.seed)
    shares = np.array(list(draw.executor.map(on_link, range(draw.links))))
    rate, *rivals = shares.mean(axis=0).tolist()
    interval = (mean_interval(shares[:, 0].tolist()) or UNKNOWN).clipped(0, 1)
    best = int(np.argmax(rivals))
    return Check(
        f"winning rate on unseen links against {', '.join(RIVALS)}",
        f">= {WANTED:.0%} of the segments in the mean",
        f"{rate:.1%} ({interval.low:.1%} to {interval.high:.1%}) of {draw.links} links; "
        f"{RIVALS[best]} {rivals[best]:.0%}",
        interval.at_least(WANTED),
        Links.UNSEEN,
    )


def shares_won_on(scheme: str, seed: int, number: int) -> NDArray[np.float64]:
    """Share of the segments on the `number`-th link of a seed that the scheme and each rival win."""
    spec = segment_link(seed, number)
    return shares_won(np.array([segment_scores(each, spec) for each in (scheme, *RIVALS)]))


def shares_won(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Share of the segments that each scheme wins; scores are (schemes, segments), and 0 never wins."""
    won = (scores >= WINNING_SHARE * scores.max(axis=0)) & (scores > 0)
    return np.asarray(won.mean(axis=1))


def segment_link(seed: int, number: int) -> EmulatorSpec:
    """The `number`-th link of a seed."""
    generator = split_generator(Split.TEST, Family.LINK_IN_SEGMENTS, seed, number)
    link = link_within(generator, f"segments-{number}", (RATE_MBPS, DELAY_MS, QUEUE_BDP))
    factor = float(generator.choice(FACTORS))
    return link if factor == 1 else _stepping(link, factor)


def _stepping(link: EmulatorSpec, factor: float) -> EmulatorSpec:
    rate_mbps, queue_packets = link.uplink.rate_mbps or 0, link.uplink.packets
    steps = tuple(
        RateStep(at_s=SEGMENT_S * segment, rate_mbps=rate_mbps * (factor if segment % 2 else 1))
        for segment in range(1, SEGMENTS)
    )
    uplink = LinkSpec(rate_mbps=rate_mbps, rate_steps=steps, queue="droptail", packets=queue_packets)
    return EmulatorSpec(name=link.name, delay_ms=link.delay_ms, uplink=uplink)


def segment_scores(scheme: str, spec: EmulatorSpec) -> NDArray[np.float64]:
    """The score of each segment, (Mbit/s)^2 per ms of mean one-way delay; 0 if nothing left the link."""
    record = _core.simulate(spec.to_path(), scheme, seconds=SEGMENTS * SEGMENT_S, seed=0)
    edges_ms = np.linspace(0, 1e3 * SEGMENTS * SEGMENT_S, SEGMENTS + 1)
    delays_ms = record.departure_delay_ms + spec.delay_ms
    packets, _ = np.histogram(record.departure_ms, edges_ms)
    total_delay_ms, _ = np.histogram(record.departure_ms, edges_ms, weights=delays_ms)
    mbps = packets * DATA_IP_BYTES * 8 / (1e6 * SEGMENT_S)
    score = mbps**2 * packets / np.maximum(total_delay_ms, 1.0)  # 1 ms is less than any packet's delay
    return np.asarray(score)
