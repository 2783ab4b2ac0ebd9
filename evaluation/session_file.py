"""`session.json`: the description of an evaluation, validated as a whole when it is read."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ccgym.envs.errors import InputError, excerpt
from ccgym.envs.outside_files import read_json, sha256_of
from ccgym.envs.specs.emulator_spec import EmulatorSpec
from ccgym.envs.specs.spec_errors import first_mistake
from ccgym.evaluation.backends.tunnelled.remote_path import Network, RemotePathSpec
from ccgym.evaluation.run_files import MOST_FLOWS
from pydantic import ValidationError

_KINDS: dict[Any, str] = {dict: "a mapping", list: "a list", str: "text", bool: "true or false",
                          int: "a whole number", int | float: "a number"}  # fmt: skip
_FIELDS = {"schemes": dict, "emulators": dict, "backend": str, "seconds": int | float, "runs": int,
           "seed": int, "command": str, "started": str, "provenance": dict, "seen": dict, "digests": dict,
           "flows": int, "interval": int | float, "tunnel": bool}  # fmt: skip
_UNSAID: dict[str, Any] = {"command": "", "started": "", "provenance": {}, "seen": {}, "digests": {},
                           "seed": 1, "flows": 1, "interval": 0.0, "tunnel": False}  # fmt: skip
"""Defaults for evaluations that were begun before these fields existed."""
SEEN = ("train", "validation", "no", "unknown")
"""Whether a learned scheme was trained on a link."""
_MOST_NAME_BYTES = 200
"""File systems take 255 bytes; names of files add to the name of a scheme."""
_RANGES = {"runs": (1, 999_999), "flows": (1, MOST_FLOWS), "seconds": (0.001, 1e6), "interval": (0, 1e6)}


def read_session(path: Path) -> dict[str, Any]:
    """Reads the description in `path`.

    Raises:
        InputError: the file is no description of an evaluation.
    """
    content = read_json(path, "the description")
    if not isinstance(content, dict):
        raise InputError(f"{path}: expected a JSON object")
    session: dict[str, Any] = {**_UNSAID, **content}
    try:
        for key, kind in _FIELDS.items():
            _check(key, session.get(key), kind)
        for key, (least, most) in _RANGES.items():
            if not least <= session[key] <= most:
                raise InputError(f"{key} is {excerpt(session[key])}, should be {least:g} to {most:g}")
        for scheme, entry in session["schemes"].items():
            _check_scheme(scheme, entry)
        for scheme, links in session["seen"].items():
            _check_seen(scheme, links)
        for label, fields in session["emulators"].items():
            _check_name("an emulator", label.split("/"))
            _check(label, fields, dict)
            network_of(fields)
    except InputError as error:
        raise InputError(f"{path}: not the description of an evaluation: {error}") from None
    return session


def label_of_policy(session: dict[str, Any], policy_file: Path) -> str | None:
    """The label of a policy that ran with its file's own preference; None: it did not run."""
    fingerprint = f"policy sha256:{sha256_of(policy_file, 'the policy')} of "  # see Scheme.fingerprint
    labels = (label for label, entry in session["schemes"].items() if entry["flies"].startswith(fingerprint))
    return next(labels, None)


def network_of(fields: dict[str, Any]) -> Network:
    """The emulator or path of an entry.

    Raises:
        InputError: the fields describe neither.
    """
    kind = RemotePathSpec if "remote" in fields else EmulatorSpec
    try:
        return kind.model_validate(fields)
    except ValidationError as error:
        raise InputError(first_mistake(error, kind)) from None


def _check(name: str, value: object, kind: Any) -> None:
    if not isinstance(value, kind):
        raise InputError(f"{excerpt(name)} is {excerpt(value)}, should be {_KINDS[kind]}")


def _check_name(whose: str, parts: Sequence[str]) -> None:
    """Raises InputError unless the name can be that of a file or folder within the evaluation's."""
    for part in parts:
        if part in ("", ".", "..") or not part.isprintable() or len(part.encode()) > _MOST_NAME_BYTES:
            raise InputError(f"{excerpt('/'.join(parts))} is no name of {whose}")


def _check_scheme(name: str, entry: Any) -> None:
    _check_name("a scheme", [name])
    _check(name, entry, dict)
    for key in ("kind", "flies"):
        _check(f"{key} of {name}", entry.get(key), str)
    _check(f"name of {name}", entry.get("name", name), str)
    if "members" not in entry:
        return
    _check(f"members of {name}", entry["members"], list)
    if not entry["members"]:
        raise InputError(f"members of {name} are none, should be those of a mix")
    for member in entry["members"]:
        _check(f"a member of {name}", member, str)


def _check_seen(scheme: str, links: Any) -> None:
    _check(f"seen by {scheme}", links, dict)
    for link, how in links.items():
        if how not in SEEN:
            raise InputError(
                f"how {excerpt(scheme)} has seen {excerpt(link)} is {excerpt(how)}, should be one of "
                f"{', '.join(SEEN)}"
            )
