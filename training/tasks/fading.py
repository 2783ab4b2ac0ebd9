"""Fading links: rates that wander slowly, flicker fast and drop out, as those of radio links do.

A random walk alone is too smooth. In six recordings of cellular links the rate over 40 ms differs from that
of the next 40 ms by a factor of 1.2 to 1.6 at the median and of 2 to 7 at the 90th percentile; 1 to 23 % of
the time nothing is delivered.
"""

import math
from itertools import accumulate

import numpy as np
from ccgym.envs.specs.emulators import EmulatorSpec, LinkSpec
from ccgym.envs.specs.splits import Family, Split, split_generator
from ccgym.envs.specs.variation_spec import RateSteps
from numpy.typing import NDArray

TICK_S = 0.04
PERIOD_S = 20.0
RATE_MBPS = (0.5, 60.0)  # mean, log-uniform
DELAY_MS = (5.0, 200.0)  # one way, log-uniform
SLOW_SPREAD = (0.1, 0.9)  # standard deviation of the rate's logarithm, uniform
SLOW_S = (0.5, 8.0)  # horizon of the correlation, log-uniform
FAST_SPREAD = (0.0, 0.8)  # uniform
FAST_S = (0.02, 0.3)  # log-uniform
DROPOUTS_PER_S = (0.05, 2.0)  # log-uniform
DROPOUT_S = (0.04, 0.6)  # mean of an exponential time, log-uniform
QUEUE_BDPS = (0.5, 20.0)
LIMITED_SHARE = 0.2
FADING_ACKS_SHARE = 0.4
"""Share of the paths whose ACKs have a fading link of their own; on others that link is even."""
ACK_RATE_MBPS = (1.0, 100.0)


def fading_emulators(count: int, seed: int, split: Split) -> list[EmulatorSpec]:
    """`count` paths over fading links; the i-th depends on split, seed and i alone."""
    return [
        _fading_emulator(f"fading-{index}", split_generator(split, Family.FADING_EMULATOR, seed, index))
        for index in range(count)
    ]


def _fading_emulator(name: str, rng: np.random.Generator) -> EmulatorSpec:
    rate_mbps, delay_ms = _log_uniform(rng, RATE_MBPS), round(_log_uniform(rng, DELAY_MS))
    uplink = _fading_link(rate_mbps, rng)
    if rng.random() < LIMITED_SHARE:
        packets = _log_uniform(rng, QUEUE_BDPS) * rate_mbps / 12 * 2 * delay_ms
        uplink = uplink.model_copy(update={"queue": "droptail", "packets": max(4, round(packets))})
    ack_rate_mbps = _log_uniform(rng, ACK_RATE_MBPS)
    fading = rng.random() < FADING_ACKS_SHARE
    downlink = _fading_link(ack_rate_mbps, rng) if fading else LinkSpec(rate_mbps=round(ack_rate_mbps, 3))
    return EmulatorSpec(name=name, delay_ms=delay_ms, uplink=uplink, downlink=downlink)


def _fading_link(rate_mbps: float, rng: np.random.Generator) -> LinkSpec:
    rates = rate_mbps * _levels(round(PERIOD_S / TICK_S), rng)
    first_mbps, *rates_mbps = (round(rate, 4) for rate in rates.tolist())
    times_s = [round(tick * TICK_S, 3) for tick in range(1, len(rates))]
    return LinkSpec(
        rate_mbps=max(first_mbps, 0.01),
        rate_steps=RateSteps.within_bounds(times_s, rates_mbps),
        arrivals="poisson",
        seed=int(rng.integers(2**31)),
        period_s=PERIOD_S,
    )


def _levels(ticks: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Rates relative to their mean."""
    logarithm = rng.uniform(*SLOW_SPREAD) * _noise(ticks, _log_uniform(rng, SLOW_S), rng)
    logarithm += rng.uniform(*FAST_SPREAD) * _noise(ticks, _log_uniform(rng, FAST_S), rng)
    levels = np.array([math.exp(each) for each in logarithm])
    dropouts = rng.random(ticks) < _log_uniform(rng, DROPOUTS_PER_S) * TICK_S
    lengths = rng.exponential(_log_uniform(rng, DROPOUT_S), ticks) / TICK_S
    for begin in np.flatnonzero(dropouts):
        levels[begin : begin + 1 + int(lengths[begin])] = 0.0
    return np.asarray(levels / levels.mean())


def _noise(ticks: int, horizon_s: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Normal noise of variance 1 whose correlation falls to 1 / e within the horizon."""
    keep = math.exp(-TICK_S / horizon_s)
    fresh = math.sqrt(1 - keep**2)
    first, *steps = rng.standard_normal(ticks).tolist()
    return np.array(list(accumulate(steps, lambda noise, step: keep * noise + fresh * step, initial=first)))


def _log_uniform(rng: np.random.Generator, bounds: tuple[float, float]) -> float:
    return math.exp(rng.uniform(math.log(bounds[0]), math.log(bounds[1])))
