"""The world a policy is trained in: the emulators asked for, and others like them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from ccgym.envs.emulators import EmulatorSpec, LinkSpec
from ccgym.envs.random_emulators import random_emulators
from numpy.typing import NDArray

from .config import Stalls, TrainingConfig

VARIATION = 0
DEAL = 1
COLLECTION = 2
FITTING = 3
"""What a random stream is for: part of its seed, after the configuration's."""


@dataclass(frozen=True)
class World:
    """Emulators to train on."""

    emulators: Sequence[EmulatorSpec]

    def deal(self, config: TrainingConfig, iteration: int) -> NDArray[np.intp]:
        """The emulator of every environment in an iteration.

        The emulators are dealt out like a deck of cards, shuffled anew whenever it is used up.
        """
        first = iteration * config.environments
        places = np.arange(first, first + config.environments)
        size = len(self.emulators)
        decks = {
            deck: np.random.default_rng([config.seed, DEAL, deck]).permutation(size)
            for deck in range(first // size, places[-1] // size + 1)
        }
        return np.array([decks[place // size][place % size] for place in places.tolist()], np.intp)


def select_random(config: TrainingConfig) -> list[EmulatorSpec]:
    """Random emulators of the configuration's seed."""
    return random_emulators(config.random_emulators, config.seed)


def vary(config: TrainingConfig, emulators: Sequence[EmulatorSpec]) -> list[EmulatorSpec]:
    """For each emulator `variations` others: rates, delays and queues differ by random factors, so do arrivals.

    A policy that knows a few links by heart is lost on any other; between these it has to learn the rule.
    """
    generator = np.random.default_rng([config.seed, VARIATION])
    return [
        _scaled(
            spec,
            *np.exp(generator.uniform(-config.variation, config.variation, 2)).tolist(),
            seed=int(generator.integers(2**31)),
        )
        for spec in emulators
        for _ in range(config.variations)
    ]


def draw_stalls(stalls: Stalls, generator: np.random.Generator) -> tuple[float, int]:
    """Probability per ms and longest length in ms of one host's stalls."""
    share, probability, length = generator.random(3)
    if share >= stalls.share:
        return 0.0, 0
    return float(1 - probability) * stalls.max_probability, 1 + int(length * stalls.max_ms)


def _scaled(spec: EmulatorSpec, rate_factor: float, delay_factor: float, seed: int) -> EmulatorSpec:
    delay_ms = max(1, round(spec.delay_ms * delay_factor))
    if spec.uplink.rate_mbps is None:
        rate_factor = 1.0  # a trace has its own
    queue_factor = rate_factor * delay_ms / max(1, spec.delay_ms)  # as many BDPs as before
    return spec.model_copy(
        update={
            "delay_ms": delay_ms,
            "uplink": _scaled_link(spec.uplink, rate_factor, queue_factor, seed),
            "downlink": _scaled_link(spec.downlink, rate_factor, queue_factor, seed),
        }
    )


def _scaled_link(link: LinkSpec, rate_factor: float, queue_factor: float, seed: int) -> LinkSpec:
    limits = {"packets": link.packets, "bytes": link.bytes}
    scaled: dict[str, float] = {
        name: max(1, round(limit * queue_factor)) for name, limit in limits.items() if limit is not None
    }
    if link.rate_mbps is not None:
        scaled |= {"rate_mbps": link.rate_mbps * rate_factor, "seed": seed}
    return link.model_copy(update=scaled)
