"""Emulators by name: the YAML files that hold their specs, and selections of them.

The file format is a contract:

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

import yaml
from ccgym.configs import config_files
from ccgym.envs.errors import InputError
from pydantic import ValidationError

from .emulator_spec import EmulatorSpec, LinkSpec
from .random_emulators import random_emulators
from .spec_errors import first_mistake

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
    """An emulator and what the user calls it."""

    label: str  # group/name
    spec: EmulatorSpec


def load_emulators(path: Path) -> list[EmulatorSpec]:
    """Reads an emulator file. The traces it names are not opened.

    Raises:
        InputError: the file cannot be read or breaks the format; names file, entry, key, what is wrong.
    """
    content = _read_yaml(path)
    entries = content.get("emulators") if isinstance(content, dict) and len(content) == 1 else None
    if not isinstance(entries, list):
        raise InputError(f"{path}: expected one key, `emulators`, with a list of emulators")
    if not entries:
        raise InputError(f"{path}: emulators: the list is empty; it needs at least one emulator")
    return _parse_entries(path, entries)


def _read_yaml(path: Path) -> object:
    try:
        content: object = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: cannot read the emulators: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: not a text file; expected YAML in UTF-8") from None
    except yaml.MarkedYAMLError as error:
        line = f":{error.problem_mark.line + 1}" if error.problem_mark else ""
        raise InputError(f"{path}{line}: not valid YAML: {error.problem}") from None
    except yaml.YAMLError as error:
        raise InputError(f"{path}: not valid YAML: {str(error).splitlines()[0]}") from None
    return content


def _parse_entries(path: Path, entries: list[object]) -> list[EmulatorSpec]:
    specs: dict[str, EmulatorSpec] = {}
    for index, entry in enumerate(entries):
        name = entry.get("name") if isinstance(entry, dict) else None
        where = f"{path}: emulators[{index}]" + (f" ({name})" if isinstance(name, str) else "")
        try:
            spec = EmulatorSpec.model_validate(entry, context={"folder": path.parent})
        except ValidationError as error:
            raise InputError(f"{where}: {first_mistake(error, EmulatorSpec)}") from None
        if spec.name in specs:
            raise InputError(f"{where}: name: stands twice in this file; give each emulator its own")
        specs[spec.name] = spec
    return list(specs.values())


def emulator_groups() -> dict[str, list[NamedEmulator]]:
    """Returns the groups that ship with the project: the emulators of each file in configs/emulators."""
    return {group: _load_group(group, path) for group, path in config_files("emulators").items()}


def _load_group(group: str, path: Path) -> list[NamedEmulator]:
    return [NamedEmulator(f"{group}/{spec.name}", spec) for spec in load_emulators(path)]


def select_emulators(selection: str) -> list[NamedEmulator]:
    """Returns the emulators of a comma-separated list, each once, in order.

    The list holds groups (`synthetic`), single ones (`calibrated/india`), files (`file:PATH`, whose labels
    begin with the file's stem), `random:N` or `random:N:SEED`, see `random_emulators`, and `all`: every one
    that ships and whose traces are here.

    Raises:
        InputError: a name is unknown (the known ones are listed), or a file or a selected trace is broken.
    """
    selected: dict[str, NamedEmulator] = {}
    for item in map(str.strip, selection.split(",")):
        for emulator in _find(item):
            if selected.setdefault(emulator.label, emulator) != emulator:
                raise InputError(f"{item}: another {emulator.label} is already selected; rename one of them")
            _check_traces(emulator)
    return list(selected.values())


def _find(item: str) -> list[NamedEmulator]:
    if item == "all":
        return [
            emulator for group in emulator_groups().values() for emulator in group if _has_traces(emulator)
        ]
    if item.startswith("file:"):
        path = Path(item.removeprefix("file:"))
        return _load_group(path.stem, path)
    if item.startswith("random:"):
        return _random_group(item)
    groups = emulator_groups()
    if item in groups:
        return groups[item]
    found = [emulator for emulator in groups.get(item.split("/")[0], []) if emulator.label == item]
    if not found:
        labels = ", ".join(emulator.label for group in groups.values() for emulator in group)
        known = (
            f"known groups: {', '.join(groups)}, all, random:N[:SEED], file:PATH; known emulators: {labels}"
        )
        raise InputError(f"unknown emulator {item!r}; {known}")
    return found


def _random_group(item: str) -> list[NamedEmulator]:
    numbers = re.fullmatch(r"random:([0-9]{1,6})(?::([0-9]{1,18}))?", item)
    if not numbers or not 0 < int(numbers[1]) <= MOST_RANDOM:
        raise InputError(
            f"{item}: not random:N or random:N:SEED with N from 1 to {MOST_RANDOM} and a whole SEED"
        )
    specs = random_emulators(int(numbers[1]), seed=int(numbers[2] or DEFAULT_RANDOM_SEED))
    return [NamedEmulator(f"random/{spec.name}", spec) for spec in specs]


def _has_traces(emulator: NamedEmulator) -> bool:
    """Whether the traces it plays are on this machine, as far as it plays any."""
    try:
        _check_traces(emulator)
    except InputError:
        return False
    return True


def _check_traces(emulator: NamedEmulator) -> None:
    for direction in ("uplink", "downlink"):
        link: LinkSpec = getattr(emulator.spec, direction)
        if link.trace is not None:
            try:
                link.schedule()
            except InputError as error:
                raise InputError(f"{emulator.label}: {direction}.trace: {error}") from None
