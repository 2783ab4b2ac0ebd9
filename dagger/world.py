"""The world a policy is trained in: the emulators asked for, others like them, and their ideal windows."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from ccgym.envs.emulators import EmulatorSpec
from numpy.typing import NDArray

from .config import Stalls, TrainingConfig

VARIATION = 0
DEAL = 1
COLLECTION = 2
FITTING = 3
"""What a random stream is for: part of its seed, after the configuration's."""


@dataclass(frozen=True)
class World:
    """Emulators and, in the same order, their ideal windows in packets."""

    emulators: Sequence[EmulatorSpec]
    windows: NDArray[np.float64]

    def deal(self, config: TrainingConfig, iteration: int) -> NDArray[np.intp]:
        """The emulator of every environment in an iteration: all as often as each other, in random order."""
        generator = np.random.default_rng([config.seed, DEAL, iteration])
        return np.resize(generator.permutation(len(self.emulators)), config.environments)


def vary(config: TrainingConfig, emulators: Sequence[EmulatorSpec]) -> list[EmulatorSpec]:
    """For each emulator `variations` others: their rates, delays and queues differ by random factors.

    A policy that knows a few links by heart is lost on any other; between these it has to learn the rule.
    """
    generator = np.random.default_rng([config.seed, VARIATION])
    return [
        spec.scaled(*np.exp(generator.uniform(-config.variation, config.variation, 2)).tolist())
        for spec in emulators
        for _ in range(config.variations)
    ]


def draw_stalls(stalls: Stalls, generator: np.random.Generator) -> tuple[float, int]:
    """Probability per ms and longest length in ms of one host's stalls."""
    share, probability, length = generator.random(3)
    if share >= stalls.share:
        return 0.0, 0
    return float(1 - probability) * stalls.max_probability, 1 + int(length * stalls.max_ms)


def redraw_poisson(spec: EmulatorSpec, generator: np.random.Generator) -> EmulatorSpec:
    """The same emulator with other arrivals on its links that draw them."""
    seed = int(generator.integers(2**31))
    links = {"uplink": spec.uplink, "downlink": spec.downlink}
    redrawn = {
        name: link.model_copy(update={"seed": seed})
        for name, link in links.items()
        if link.arrivals != "constant"
    }
    return spec.model_copy(update=redrawn) if redrawn else spec
