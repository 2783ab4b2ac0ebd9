"""Domain randomisation: emulators drawn from a seed, wide enough to hold the paths of the Internet."""

import numpy as np

from .emulator_spec import EmulatorSpec, LinkSpec

RATE_MBPS = (0.3, 300.0)  # log-uniform
DELAY_MS = (2.0, 200.0)  # one way, log-uniform
QUEUE_BDPS = (0.1, 20.0)  # of a limited queue, log-uniform
MAX_LOSS = 0.05  # of a lossy path, uniform from 0

INFINITE_QUEUE_SHARE = 0.3
LOSSY_SHARE = 0.25
POISSON_SHARE = 0.3

_BITS_PER_PACKET = 12_000
_SEEDS = 2**31


def random_emulators(count: int, seed: int) -> list[EmulatorSpec]:
    """Returns `count` emulators named SEED-0, SEED-1, ...; the i-th depends on the seed and on i alone."""
    return [
        _random_emulator(f"{seed}-{index}", np.random.default_rng((seed, index))) for index in range(count)
    ]


def _random_emulator(name: str, rng: np.random.Generator) -> EmulatorSpec:
    rate_mbps = round(_log_uniform(rng, RATE_MBPS), 3)
    delay_ms = round(_log_uniform(rng, DELAY_MS))
    queue_bdps = _log_uniform(rng, QUEUE_BDPS)
    loss = round(rng.uniform(0, MAX_LOSS), 4)
    infinite, lossy, poisson = rng.random(3) < (INFINITE_QUEUE_SHARE, LOSSY_SHARE, POISSON_SHARE)
    bdp_packets = rate_mbps * 1000 * 2 * delay_ms / _BITS_PER_PACKET
    uplink = LinkSpec(
        rate_mbps=rate_mbps,
        arrivals="poisson" if poisson else "constant",
        seed=int(rng.integers(_SEEDS)),
        loss=loss if lossy else 0.0,
        queue="infinite" if infinite else "droptail",
        packets=None if infinite else max(1, round(queue_bdps * bdp_packets)),
    )
    return EmulatorSpec(name=name, delay_ms=delay_ms, uplink=uplink)


def _log_uniform(rng: np.random.Generator, bounds: tuple[float, float]) -> float:
    return float(np.exp(rng.uniform(*np.log(bounds))))
