"""Domain randomisation: emulators drawn from a seed, wide enough to hold the paths of the Internet."""

import numpy as np
from numpy.typing import NDArray

from .emulator_spec import EmulatorSpec, LinkSpec, RateSteps

RATE_MBPS = (0.3, 300.0)  # log-uniform
DELAY_MS = (2.0, 200.0)  # one way, log-uniform
QUEUE_BDPS = (0.1, 20.0)  # of a limited queue, log-uniform
MAX_LOSS = 0.05  # of a lossy path, uniform from 0

KINDS = {"constant": 0.4, "poisson": 0.2, "cellular": 0.25, "step": 0.15}
"""How the rate of a path behaves, and how often."""
INFINITE_QUEUE_SHARE = 0.3
LOSSY_SHARE = 0.25
SLOW_ACK_SHARE = 0.2
"""Paths whose ACKs come back over a slow or irregular link of their own; others have one as fast as the data's."""

CELLULAR_RATE_MBPS = (0.5, 40.0)
CELLULAR_STEP_MS = 20
CELLULAR_PERIOD_MS = 30_000
STEP_FACTOR = 4.0  # and its inverse
STEP_MS = (1000, 5000)  # between two steps, uniform
ACK_RATE_SHARE = (0.08, 1.0)
"""Of the data's rate; below 0.05 the ACKs of full-size packets no longer fit."""

_BITS_PER_PACKET = 12_000
_SEEDS = 2**31


def random_emulators(count: int, seed: int) -> list[EmulatorSpec]:
    """Returns `count` emulators named SEED-0, SEED-1, ...; the i-th depends on the seed and on i alone."""
    return [
        _random_emulator(f"{seed}-{index}", np.random.default_rng((seed, index))) for index in range(count)
    ]


def _random_emulator(name: str, rng: np.random.Generator) -> EmulatorSpec:
    kind = str(rng.choice(list(KINDS), p=list(KINDS.values())))
    rate_mbps = round(_log_uniform(rng, CELLULAR_RATE_MBPS if kind == "cellular" else RATE_MBPS), 3)
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
    ack_kind = str(rng.choice(["constant", "poisson", "cellular"]))
    ack_rate_mbps = round(max(RATE_MBPS[0], rate_mbps * _log_uniform(rng, ACK_RATE_SHARE)), 3)
    downlink = LinkSpec(**_rate(ack_kind, ack_rate_mbps, rng))
    return EmulatorSpec(name=name, delay_ms=delay_ms, uplink=uplink, downlink=downlink)


def _rate(kind: str, rate_mbps: float, rng: np.random.Generator) -> dict[str, object]:
    """What a link of this kind and mean rate says of its rate."""
    seed = int(rng.integers(_SEEDS))
    if kind == "step":
        return {"rate_steps": _steps(rate_mbps, rng), "seed": seed}
    if kind == "cellular":
        return {"rate_steps": _cellular(rate_mbps, rng), "arrivals": "poisson", "seed": seed}
    return {"rate_mbps": rate_mbps, "arrivals": kind, "seed": seed}


def _steps(rate_mbps: float, rng: np.random.Generator) -> RateSteps:
    """The rate and a quarter or four times of it in turn."""
    other_mbps = rate_mbps * STEP_FACTOR
    if other_mbps > RATE_MBPS[1] or (rng.random() < 0.5 and rate_mbps > STEP_FACTOR * RATE_MBPS[0]):
        other_mbps = rate_mbps / STEP_FACTOR
    durations_ms = rng.integers(*STEP_MS, size=4).tolist()
    rates_mbps = (rate_mbps, round(other_mbps, 4)) * 2
    return tuple(zip(durations_ms, rates_mbps, strict=True))


def _cellular(rate_mbps: float, rng: np.random.Generator) -> RateSteps:
    """A wireless link after Sprout's model (Winstein et al., NSDI 2013): its rate wanders, and now and then it is out.

    The logarithm of the rate is a mean-reverting random walk; how fast and how far it goes is drawn as well.
    """
    count = CELLULAR_PERIOD_MS // CELLULAR_STEP_MS
    memory_ms, spread = _log_uniform(rng, (100, 5000)), rng.uniform(0.2, 1.0)
    kept = np.exp(-CELLULAR_STEP_MS / memory_ms)
    shocks = rng.normal(size=count) * spread * np.sqrt(1 - kept**2)
    logs = np.empty(count)
    value = rng.normal() * spread
    for index, shock in enumerate(shocks):
        value = kept * value + shock
        logs[index] = value
    rates_mbps = rate_mbps * np.exp(logs - spread**2 / 2)
    rates_mbps[_outages(count, rng)] = RATE_MBPS[0] / 100
    return tuple((CELLULAR_STEP_MS, round(float(rate), 4)) for rate in np.maximum(rates_mbps, RATE_MBPS[0] / 100))


def _outages(count: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Steps within an outage: up to one every few seconds, of up to some hundred ms."""
    begins = rng.random(count) < rng.uniform(0, 0.4) * CELLULAR_STEP_MS / 1000
    mean_steps = rng.uniform(60, 500) / CELLULAR_STEP_MS
    out = np.zeros(count, np.bool_)
    for begin in np.flatnonzero(begins):
        out[begin : begin + 1 + int(rng.exponential(mean_steps))] = True
    return out


def _log_uniform(rng: np.random.Generator, bounds: tuple[float, float]) -> float:
    return float(np.exp(rng.uniform(*np.log(bounds))))
