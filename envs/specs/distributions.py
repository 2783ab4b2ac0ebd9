"""Distributions of emulators, from which every episode draws its path."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, Union

import numpy as np
from ccgym.envs.errors import InputError, excerpt
from ccgym.envs.import_strings import is_import_string, load_object, telling
from pydantic import ValidationError

from .emulator_spec import EmulatorSpec
from .emulators import select_emulators
from .random_emulators import random_emulators
from .spec_errors import first_mistake
from .spec_fields import SpecModel
from .splits import Split

Draw: TypeAlias = Callable[[np.random.Generator], EmulatorSpec]
"""A distribution: takes a generator and returns the emulator of an episode."""
Source: TypeAlias = EmulatorSpec | Draw
"""The source of an episode's emulator: always the same one, or a distribution."""
Emulators: TypeAlias = Union[  # noqa: UP007  it names itself
    str, EmulatorSpec, Draw, Mapping["Emulators", float], Sequence["Emulators"]
]
"""A selection as on the command line, a spec, a distribution, a weighted mix of them, or several of any."""

_RANDOM = {"random": Split.TEST, **{f"random:{split.value}": split for split in Split}}
_SEEDS = 2**62


@dataclass(frozen=True)
class RandomLinks:
    """The unlimited distribution of a split's random links, of which `random:SPLIT:N` gives N."""

    split: Split

    def __call__(self, generator: np.random.Generator) -> EmulatorSpec:
        """Draws one."""
        return random_emulators(1, int(generator.integers(_SEEDS)), self.split)[0]


@dataclass(frozen=True)
class Mix:
    """Several sources, drawn in proportion to their weights."""

    sources: tuple[Source, ...]
    weights: tuple[float, ...]

    def __call__(self, generator: np.random.Generator) -> EmulatorSpec:
        """Draws one."""
        return draw(self.sources[generator.choice(len(self.sources), p=self.weights)], generator)


def sources_of(emulators: Emulators) -> list[Source]:
    """The sources that `emulators` names, in order.

    A text is a selection as on the command line; in it `random:train` without a number is the distribution of
    such links, and `my.module:NAME` the user's own function. A mapping from any of these to weights is one
    source.

    Raises:
        InputError: a name is unknown, a file or a trace is broken, or a weight is invalid.
    """
    if isinstance(emulators, EmulatorSpec):
        return [emulators]
    if isinstance(emulators, str):
        return _selected(emulators)
    if isinstance(emulators, Mapping):
        return [_mix(emulators)]
    if callable(emulators):
        return [emulators]
    if not isinstance(emulators, Sequence):
        raise InputError(f"emulator: {excerpt(emulators)!r} is no name, spec, distribution, mapping or list")
    return [source for one in emulators for source in sources_of(one)]


def emulator_of(options: Any) -> Emulators | None:
    """The emulators of `reset(options={"emulator": ...})`; None if there are none.

    Raises:
        InputError: the options hold something else.
    """
    if not options:
        return None
    if not isinstance(options, Mapping) or options.keys() != {"emulator"}:
        raise InputError(f"options: {excerpt(options)}: known is {{'emulator': ...}}")
    emulator: Emulators = options["emulator"]
    return emulator


def draw(source: Source, generator: np.random.Generator, key: str = "emulator") -> EmulatorSpec:
    """Draws the emulator of an episode.

    Args:
        source: what it is drawn from.
        generator: draws it.
        key: what the user gave the distribution as, for messages.

    Raises:
        InputError: a distribution raises an exception, or returns something else.
    """
    if isinstance(source, EmulatorSpec):
        return source
    with telling(f"{key}: the distribution"):
        drawn = _drawn(source, generator, key)
    if not isinstance(drawn, EmulatorSpec):
        raise InputError(f"{key}: the distribution gave {excerpt(drawn)!r}, should give an EmulatorSpec")
    return drawn


def _drawn(source: Draw, generator: np.random.Generator, key: str) -> object:
    """Calls a distribution. Raises InputError if the spec that it makes is invalid."""
    kinds = {kind.__name__: kind for kind in SpecModel.__subclasses__()}
    try:
        return source(generator)
    except ValidationError as error:
        if error.title not in kinds:
            raise
        mistake = first_mistake(error, kinds[error.title])
        raise InputError(f"{key}: the distribution: {error.title}: {mistake}") from error


def _selected(selection: str) -> list[Source]:
    items = [item.strip() for item in selection.split(",")]
    if not any(item in _RANDOM or _is_own(item) for item in items):
        return [emulator.spec for emulator in select_emulators(selection)]
    return [source for item in items for source in _selected_item(item)]


def _selected_item(item: str) -> list[Source]:
    if item in _RANDOM:
        return [RandomLinks(_RANDOM[item])]
    if _is_own(item):
        distribution: Draw = load_object(item, "emulator")
        return [distribution]
    return [emulator.spec for emulator in select_emulators(item)]


def _is_own(item: str) -> bool:
    return is_import_string(item) and not item.startswith(("random:", "file:"))


def _mix(weighted: Mapping[Emulators, float]) -> Mix:
    """The mix of these weights; several emulators under one key share its weight equally."""
    sources: list[Source] = []
    weights: list[float] = []
    for emulators, weight in weighted.items():
        if not isinstance(weight, (int, float)) or not 0 < weight < math.inf:
            raise InputError(f"emulator: the weight {excerpt(weight)} is not a number above 0")
        members = sources_of(emulators)
        sources += members
        weights += [weight / len(members)] * len(members)
    if not sources:
        raise InputError("emulator: an empty mix; give at least one emulator with its weight")
    total = math.fsum(weights)
    return Mix(tuple(sources), tuple(weight / total for weight in weights))
