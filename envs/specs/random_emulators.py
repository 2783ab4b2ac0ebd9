"""Domain randomisation: emulators drawn from a seed, wide enough to hold the paths of the Internet."""

import math
from typing import Any

import numpy as np

from .emulator_spec import EmulatorSpec, LinkSpec
from .splits import Family, Split, split_generator
from .variation_spec import RateStep, RateWalk

RATE_MBPS = (0.3, 300.0)  # log-uniform
DELAY_MS = (2.0, 200.0)  # one way, log-uniform
QUEUE_BDPS = (0.1, 20.0)  # of a limited queue, log-uniform
MAX_LOSS = 0.05  # of a lossy path, uniform from 0

KINDS = {"constant": 0.3, "poisson": 0.15, "cellular": 0.2, "walk": 0.2, "step": 0.15}
"""How the rate of a path behaves, and the share of the paths."""
INFINITE_QUEUE_SHARE = 0.3
LOSSY_SHARE = 0.25
SLOW_ACK_SHARE = 0.2
"""Share of the paths whose ACKs have a slow or irregular link; on others it is as fast as the data's."""

WIRELESS_RATE_MBPS = (0.5, 40.0)  # of links that are cellular or wander
STEP_FACTOR = 4.0  # and its inverse
STEP_S = (1.0, 5.0)  # between two steps, uniform
WALK_MS = (20, 500)  # between two changes, log-uniform
WALK_SPREAD_PER_ROOT_S = (0.2, 1.2)  # of the rate's logarithm in one second, uniform
WALK_FACTOR = 6.0  # at most, up or down
PERIOD_S = 20.0
ACK_RATE_SHARE = (0.08, 1.0)
"""Rate of the ACKs' link as a share of the data's; below 0.05, ACKs of full-size packets no longer fit."""

_BITS_PER_PACKET = 12_000
_SEEDS = 2**31


def random_emulators(count: int, seed: int, split: Split) -> list[EmulatorSpec]:
    """Returns `count` emulators named SEED-0, SEED-1, ...; the i-th depends on split, seed and i alone."""
    return [
        _random_emulator(f"{seed}-{index}", split_generator(split, Family.RANDOM_EMULATOR, seed, index))
        for index in range(count)
    ]


def _random_emulator(name: str, rng: np.random.Generator) -> EmulatorSpec:
    kind = str(rng.choice(list(KINDS), p=list(KINDS.values())))
    rate_mbps = round(_log_uniform(rng, WIRELESS_RATE_MBPS if kind in ("cellular", "walk") else RATE_MBPS), 3)
    delay_ms = round(_log_uniform(rng, DELAY_MS))
    queue_bdps = _log_uniform(rng, QUEUE_BDPS)
    loss = round(rng.uniform(0, MAX_LOSS), 4)
    infinite, lossy, slow_acks = rng.random(3) < (INFINITE_QUEUE_SHARE, LOSSY_SHARE, SLOW_ACK_SHARE)
    bdp_packets = rate_mbps * 1000 * 2 * delay_ms / _BITS_PER_PACKET
    uplink = LinkSpec(
        **_rate(kind, rate_mbps, rng),
        loss=loss if lossy else 0.0,
        queue="infinite" if infinite else "droptail",
        packets=None if infinite else max(1, round(queue_bdps * bdp_packets)),
    )
    if not slow_acks:
        return EmulatorSpec(name=name, delay_ms=delay_ms, uplink=uplink)
    ack_kind = str(rng.choice(["constant", "poisson", "cellular", "walk"]))
    ack_rate_mbps = round(max(RATE_MBPS[0], rate_mbps * _log_uniform(rng, ACK_RATE_SHARE)), 3)
    downlink = LinkSpec(**_rate(ack_kind, ack_rate_mbps, rng))
    return EmulatorSpec(name=name, delay_ms=delay_ms, uplink=uplink, downlink=downlink)


def _rate(kind: str, rate_mbps: float, rng: np.random.Generator) -> dict[str, Any]:
    """The keys of a link spec for a rate of this kind and mean."""
    capacity = {"rate_mbps": rate_mbps, "seed": int(rng.integers(_SEEDS)), "period_s": PERIOD_S}
    if kind == "step":
        return capacity | {"rate_steps": _steps(rate_mbps, rng)}
    if kind == "walk":
        return capacity | {"rate_walk": _walk(rate_mbps, rng), "arrivals": "poisson"}
    return capacity | {"arrivals": kind}


def _steps(rate_mbps: float, rng: np.random.Generator) -> tuple[RateStep, ...]:
    """A quarter or four times the rate and the rate itself, in turn."""
    other_mbps = rate_mbps * STEP_FACTOR
    if other_mbps > RATE_MBPS[1] or (rng.random() < 0.5 and rate_mbps > STEP_FACTOR * RATE_MBPS[0]):
        other_mbps = rate_mbps / STEP_FACTOR
    times_s = np.cumsum(rng.uniform(*STEP_S, size=64))
    return tuple(
        RateStep(at_s=round(at_s, 3), rate_mbps=round(rate, 4))
        for at_s, rate in zip(
            times_s[times_s < PERIOD_S - 0.5].tolist(), (other_mbps, rate_mbps) * 32, strict=False
        )
    )


def _walk(rate_mbps: float, rng: np.random.Generator) -> RateWalk:
    every_ms = round(_log_uniform(rng, WALK_MS))
    return RateWalk(
        every_ms=every_ms,
        spread=round(rng.uniform(*WALK_SPREAD_PER_ROOT_S) * float(np.sqrt(every_ms / 1e3)), 4),
        low_mbps=rate_mbps / WALK_FACTOR,
        high_mbps=rate_mbps * WALK_FACTOR,
        seed=int(rng.integers(_SEEDS)),
    )


def _log_uniform(rng: np.random.Generator, bounds: tuple[float, float]) -> float:
    return math.exp(rng.uniform(math.log(bounds[0]), math.log(bounds[1])))
