"""The links that a training configuration names: none of them is a test link."""

from collections.abc import Iterable
from functools import cache

import numpy as np
from ccgym.agents.seen_links import SeenLinks
from ccgym.envs.errors import InputError
from ccgym.envs.specs.digest import drawn_digest, spec_digest
from ccgym.envs.specs.distributions import draw, sources_of
from ccgym.envs.specs.emulators import (
    EmulatorSpec,
    NamedEmulator,
    check_traces,
    emulator_groups,
    select_emulators,
)
from ccgym.envs.specs.splits import Split
from ccgym.oracle.window import refuse_dead
from ccgym.training.config import RunConfig


def links_to_train_on(config: RunConfig) -> list[NamedEmulator]:
    """The emulators of the key `emulators`.

    Raises:
        InputError: one is unknown, belongs to another split than `train`, or is shared.
    """
    links = _links("emulators", config.emulators, {Split.TRAIN})
    for link in links:
        if link.spec.flows:
            raise InputError(f"emulators: {link.label} has flows of its own: train on others")
    return links


def links_to_validate_on(key: str, selection: str) -> list[NamedEmulator]:
    """The emulators that the configuration names under `key`.

    Raises:
        InputError: one is unknown, or belongs to the split `test`.
    """
    return _links(key, selection, {Split.TRAIN, Split.VALIDATION})


def own_link(links: str, generator: np.random.Generator) -> EmulatorSpec:
    """A draw from the distribution of one's own that the key `links` names.

    Raises:
        InputError: the distribution fails, or gives no link, or one that loses everything, or one whose trace
            cannot be read.
    """
    spec = draw(sources_of(links)[0], generator, "links")
    refuse_dead(spec)
    check_traces(NamedEmulator(f"links: {spec.name}", spec))
    return spec


def seen_links(train: Iterable[EmulatorSpec], validation: Iterable[EmulatorSpec]) -> SeenLinks:
    """The links of a training, as its policy file records them."""
    return SeenLinks(frozenset(map(spec_digest, train)), frozenset(map(spec_digest, validation)))


def pins(*groups: Iterable[NamedEmulator]) -> dict[str, str]:
    """Digests by label, by which a run notices that an emulator, its seed or its trace has changed."""
    return {emulator.label: drawn_digest(emulator.spec) for group in groups for emulator in group}


def _links(key: str, selection: str, allowed: set[Split]) -> list[NamedEmulator]:
    selected = select_emulators(selection)
    for emulator in selected:
        split = emulator.split or _shipped_splits().get(spec_digest(emulator.spec))
        if split is not None and split not in allowed:
            names = " or ".join(sorted(each.value for each in allowed))
            raise InputError(
                f"{key}: {emulator.label} is a link of the split {split.value}; here stand those of {names}: "
                "see `ccgym emulators`, random:train:N and file:PATH"
            )
    return selected


@cache
def _shipped_splits() -> dict[str, Split]:
    """Of the links that ship and whose traces are here, so that a copy of one in a file is known."""
    splits: dict[str, Split] = {}
    for emulator in (one for group in emulator_groups().values() for one in group):
        try:
            digest = spec_digest(emulator.spec)
        except InputError:
            continue
        if emulator.split is not None:
            splits.setdefault(digest, emulator.split)
    return splits
