"""Emulators by name: the YAML files that hold their specs, and selections of them.

The file format is a contract:

    split: train                           # or validation, test; leave it out for links of no split
    emulators:
      - name: nepal
        delay_ms: 28                       # one way, each direction
        uplink: {rate_mbps: 0.57, arrivals: poisson, seed: 1, loss: 0.0477, queue: droptail, packets: 14}

Data flows over the uplink, ACKs over the downlink. A missing downlink has the uplink's rate or trace, an
infinite queue and loses nothing. Trace paths are relative to the file; a path that begins with $NAME begins
with the value of that environment variable. All keys: `EmulatorSpec`, `LinkSpec`, `FlowSpec`, `CrossTraffic`.
"""

import re
from dataclasses import dataclass
from pathlib import Path

from ccgym.configs import config_files
from ccgym.envs.errors import InputError, did_you_mean, excerpt
from ccgym.envs.outside_files import read_yaml
from pydantic import ValidationError

from .emulator_spec import EmulatorSpec, LinkSpec
from .random_emulators import random_emulators
from .spec_errors import first_mistake
from .splits import Split

__all__ = [
    "EmulatorSpec",
    "LinkSpec",
    "NamedEmulator",
    "emulator_groups",
    "load_emulators",
    "select_emulators",
]

MOST_RANDOM = 100_000
DEFAULT_RANDOM_SEED = 1


@dataclass(frozen=True)
class NamedEmulator:
    """An emulator and its name for the user."""

    label: str  # group/name
    spec: EmulatorSpec
    split: Split | None = None  # None: the file names none


def load_emulators(path: Path) -> list[EmulatorSpec]:
    """Reads an emulator file. The traces it names are not opened.

    Raises:
        InputError: the file cannot be read or breaks the format; names file, entry, key, what is wrong.
    """
    return _read_group(path)[1]


def _read_group(path: Path) -> tuple[Split | None, list[EmulatorSpec]]:
    """The split and the emulators of a file."""
    content = read_yaml(path, "the emulators")
    group = content if isinstance(content, dict) and content.keys() <= {"split", "emulators"} else {}
    entries = group.get("emulators")
    if not isinstance(entries, list):
        raise InputError(f"{path}: expected a key, `emulators`, with a list of emulators, and maybe `split`")
    if not entries:
        raise InputError(f"{path}: emulators: the list is empty; it needs at least one emulator")
    return _parse_split(path, group.get("split")), _parse_entries(path, entries)


def _parse_split(path: Path, split: object) -> Split | None:
    known = [each.value for each in Split]
    if split is None or split in known:
        return None if split is None else Split(split)
    raise InputError(f"{path}: split: {excerpt(split)!r} is not one of {', '.join(known)}")


def _parse_entries(path: Path, entries: list[object]) -> list[EmulatorSpec]:
    specs: dict[str, EmulatorSpec] = {}
    for index, entry in enumerate(entries):
        name = entry.get("name") if isinstance(entry, dict) else None
        where = f"{path}: emulators[{index}]" + (f" ({excerpt(name)})" if isinstance(name, str) else "")
        try:
            spec = EmulatorSpec.model_validate(entry, context={"folder": path.parent})
        except ValidationError as error:
            raise InputError(f"{where}: {first_mistake(error, EmulatorSpec)}") from None
        if spec.name in specs:
            raise InputError(f"{where}: name: stands twice in this file; give each emulator its own")
        specs[spec.name] = spec
    return list(specs.values())


def emulator_groups() -> dict[str, list[NamedEmulator]]:
    """Returns the shipped groups: the emulators of each file in configs/emulators."""
    return {group: _load_group(group, path) for group, path in config_files("emulators").items()}


def _load_group(group: str, path: Path) -> list[NamedEmulator]:
    split, specs = _read_group(path)
    return [NamedEmulator(f"{group}/{spec.name}", spec, split) for spec in specs]


def select_emulators(selection: str) -> list[NamedEmulator]:
    """Returns the emulators of a comma-separated list, each once, in order.

    The list holds groups (`synthetic`), single ones (`calibrated/india`), files (`file:PATH`, whose labels
    begin with the file's stem), `random:N` or `random:N:SEED`, links of the split `test`, see
    `random_emulators`, `random:train:N` and `random:validation:N`, links of these, also with a seed, and
    `all`: every one that ships and whose traces are here.

    >>> [emulator.label for emulator in select_emulators("calibrated/india,synthetic/5mbps-10ms")]
    ['calibrated/india', 'synthetic/5mbps-10ms']

    Raises:
        InputError: a name is unknown (the known ones are listed), or a file or a selected trace is broken.
    """
    selected: dict[str, NamedEmulator] = {}
    for item in dict.fromkeys(map(str.strip, selection.split(","))):
        for emulator in _find(item):
            if selected.setdefault(emulator.label, emulator) != emulator:
                raise InputError(f"{item}: another {emulator.label} is already selected; rename one of them")
            check_traces(emulator)
    return list(selected.values())


def _find(item: str) -> list[NamedEmulator]:
    if item == "all":
        return [
            emulator for group in emulator_groups().values() for emulator in group if _has_traces(emulator)
        ]
    if item.startswith("file:"):
        path = Path(item.removeprefix("file:"))
        return _load_group(_group_of_file(path), path)
    if item.startswith("random:"):
        return _random_group(item)
    files, group = config_files("emulators"), item.split("/")[0]
    of_group = _load_group(group, files[group]) if group in files else []
    found = [emulator for emulator in of_group if item in (group, emulator.label)]
    if not found:
        raise _unknown(item)
    return found


def _group_of_file(path: Path) -> str:
    """The stem of a file, if it can be the name of a folder: the stem of `...yaml` is `..`, which cannot."""
    return re.sub(r"^\.+|[^\w. +-]", "-", path.stem)


def _unknown(item: str) -> InputError:
    groups = emulator_groups()
    labels = [emulator.label for group in groups.values() for emulator in group]
    near = did_you_mean(item, [*groups, "all", *labels])
    known = f"known: {', '.join(groups)}, all, random:[SPLIT:]N[:SEED], file:PATH, see `ccgym emulators`"
    return InputError(f"unknown emulator {excerpt(item)!r}{near}; {known}")


def _random_group(item: str) -> list[NamedEmulator]:
    named = re.fullmatch(r"random:(?:(train|validation|test):)?([0-9]{1,6})(?::([0-9]{1,18}))?", item)
    if not named or not 0 < int(named[2]) <= MOST_RANDOM:
        raise InputError(
            f"{item}: not random:N or random:N:SEED with N from 1 to {MOST_RANDOM} and a whole SEED, "
            "nor random:train:N or random:validation:N"
        )
    split = Split(named[1] or Split.TEST)
    specs = random_emulators(int(named[2]), int(named[3] or DEFAULT_RANDOM_SEED), split)
    group = "random" if split is Split.TEST else f"random-{split.value}"
    return [NamedEmulator(f"{group}/{spec.name}", spec, split) for spec in specs]


def _has_traces(emulator: NamedEmulator) -> bool:
    """Whether all traces of the emulator, if it has any, are on this machine."""
    try:
        check_traces(emulator)
    except InputError:
        return False
    return True


def check_traces(emulator: NamedEmulator) -> None:
    """Raises InputError if a trace of the emulator cannot be read."""
    for direction in ("uplink", "downlink"):
        link: LinkSpec = getattr(emulator.spec, direction)
        if link.trace is not None:
            try:
                link.schedule()
            except InputError as error:
                raise InputError(f"{emulator.label}: {direction}.trace: {error}") from None
