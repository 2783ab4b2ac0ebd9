"""The emulators that a policy is trained on: those named, perturbed copies, random ones, shared ones."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from ccgym.envs.specs.emulators import EmulatorSpec
from ccgym.envs.specs.random_emulators import random_emulators
from ccgym.envs.specs.splits import Split
from ccgym.oracle.ideal import refuse_unread
from ccgym.oracle.preference import DEFAULT_PREFERENCE
from ccgym.oracle.window import bdp_packets, refuse_unsearchable
from ccgym.training.config import HostJitter, TrainingConfig
from ccgym.training.experts import expert_windows

from .fading import fading_emulators
from .links import own_link

VARIATION = 0
SAMPLING = 1
COLLECTION = 2
FITTING = 3
LINKS = 4
"""The purpose of a random stream: part of its seed, after the configuration's."""

LEAST_SHARED_MBPS = 4.0
LEAST_SHARED_QUEUE_PACKETS = 10
LEAST_SHARED_DELAY_MS = 4
_ASKED_STEPS = 100


@dataclass(frozen=True)
class TaskDistribution:
    """Groups of emulators to run on, by name, and the share of the rollouts that each gets."""

    groups: Mapping[str, Sequence[EmulatorSpec]]
    shares: Mapping[str, float]
    curriculum_iterations: int = 0
    """Number of iterations over which the emulators of each group are added, in their order."""

    def sample(self, config: TrainingConfig, iteration: int) -> list[tuple[str, EmulatorSpec]]:
        """Group and emulator of every rollout of an iteration.

        Emulators of a group are drawn without replacement, shuffled anew when all have been drawn.
        """
        samples: list[tuple[str, EmulatorSpec]] = []
        for stream, (group, count) in enumerate(self._counts(config.environments).items()):
            emulators = self._entered(group, iteration)
            for place in range(iteration * count, (iteration + 1) * count):
                epoch, index = divmod(place, len(emulators))
                order = _shuffled(config.seed, stream, epoch, len(emulators))
                samples.append((group, emulators[order[index]]))
        return samples

    def _entered(self, group: str, iteration: int) -> Sequence[EmulatorSpec]:
        """The emulators of a group that have been added by this iteration."""
        emulators = self.groups[group]
        if iteration >= self.curriculum_iterations:
            return emulators
        return emulators[: math.ceil(len(emulators) * (iteration + 1) / self.curriculum_iterations)]

    def _counts(self, environments: int) -> dict[str, int]:
        """Rollouts per group, rounded by largest remainder."""
        present = {
            group: self.shares[group]
            for group, emulators in self.groups.items()
            if emulators and self.shares[group] > 0
        }
        exact = {group: environments * share / sum(present.values()) for group, share in present.items()}
        counts = {group: int(count) for group, count in exact.items()}
        left = environments - sum(counts.values())
        for group in sorted(exact, key=lambda group: counts[group] - exact[group])[:left]:
            counts[group] += 1
        return counts


@lru_cache(maxsize=64)
def _shuffled(seed: int, stream: int, epoch: int, size: int) -> tuple[int, ...]:
    return tuple(np.random.default_rng([seed, SAMPLING, stream, epoch]).permutation(size).tolist())


def training_tasks(config: TrainingConfig, emulators: Sequence[EmulatorSpec]) -> TaskDistribution:
    """The tasks of a configuration: the emulators named, perturbed copies, random ones.

    Raises:
        InputError: the oracle cannot read one of the emulators; an oracle of the user's own is tried on the
            first of them. Or next to nothing comes through one of them: at its end a training is compared
            with their ideal fixed windows.
    """
    others = _random_links(config, config.random_emulators, Split.TRAIN)
    for spec in [*emulators, *others] if not config.oracle else ():
        refuse_unread(spec)
    for spec in emulators[:1] if config.oracle else ():
        expert_windows(config.oracle, spec, DEFAULT_PREFERENCE, _ASKED_STEPS)
    for spec in emulators:
        refuse_unsearchable(spec)
    groups: dict[str, Sequence[EmulatorSpec]] = {
        "named": emulators,
        "perturbed": vary(config, emulators),
        "random": others,
        "shared": [spec for spec in others if _may_be_shared(spec)],
        "fading": fading_emulators(config.fading_emulators, config.seed, Split.TRAIN),
    }
    if config.curriculum_iterations:
        groups = {group: sorted(members, key=bdp_packets) for group, members in groups.items()}
    given = {str(group): share for group, share in config.shares.items()}
    shares = {group: given.get(group, 0.0) for group in groups}
    return TaskDistribution(groups, shares, config.curriculum_iterations)


def _may_be_shared(spec: EmulatorSpec) -> bool:
    """Whether link and return path are even, fast and deep enough for several windows of a few packets."""
    link = spec.uplink
    return (
        not link.varies
        and link.arrivals == "constant"
        and spec.downlink == link.mirrored()
        and (link.rate_mbps or 0) > LEAST_SHARED_MBPS
        and link.queue_packets > LEAST_SHARED_QUEUE_PACKETS
        and spec.delay_ms > LEAST_SHARED_DELAY_MS
    )


def validation_tasks(config: TrainingConfig) -> TaskDistribution:
    """Random emulators of the validation's split, which training never sees."""
    count = min(config.environments, config.random_emulators)
    return TaskDistribution({"random": _random_links(config, count, Split.VALIDATION)}, {"random": 1.0})


def _random_links(config: TrainingConfig, count: int, split: Split) -> list[EmulatorSpec]:
    """Random ones of a split, or `count` draws from the distribution that the configuration names."""
    if not config.links:
        return random_emulators(count, config.seed, split)
    stream = list(Split).index(split)
    return [
        own_link(config.links, np.random.default_rng([config.seed, LINKS, stream, index]))
        for index in range(count)
    ]


def vary(config: TrainingConfig, emulators: Sequence[EmulatorSpec]) -> list[EmulatorSpec]:
    """For each emulator, `variations` perturbed copies with other rates, delays, queues and arrivals.

    They keep the policy from fitting a few links only.
    """
    generator = np.random.default_rng([config.seed, VARIATION])
    return [
        _redrawn(
            spec.scaled(*map(math.exp, generator.uniform(-config.variation, config.variation, 2))),
            seed=int(generator.integers(2**31)),
        )
        for spec in emulators
        for _ in range(config.variations)
    ]


def draw_host_jitter(jitter: HostJitter, generator: np.random.Generator) -> tuple[float, int]:
    """Probability per ms and longest length in ms of one host's stalls (its jitter)."""
    share, probability, length = generator.random(3)
    if share >= jitter.share:
        return 0.0, 0
    return float(1 - probability) * jitter.max_probability, 1 + int(length * jitter.max_ms)


def _redrawn(spec: EmulatorSpec, seed: int) -> EmulatorSpec:
    """The same emulator with other arrivals on its links that draw them."""
    links = {"uplink": spec.uplink, "downlink": spec.downlink}
    redrawn = {
        name: link.model_copy(update={"seed": seed})
        for name, link in links.items()
        if link.arrivals != "constant"
    }
    return spec.model_copy(update=redrawn) if redrawn else spec
