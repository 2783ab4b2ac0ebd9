"""The digest of an emulator. Policy files list the digests of their training, reports compare with them."""

import base64
import hashlib
import json
from typing import Any

from ccgym.envs.outside_files import sha256_of

from .emulator_spec import EmulatorSpec, LinkSpec

DIGEST_BYTES = 6
"""With the 3000 links of a training, one other link in 10^11 is taken for seen by chance."""
_OF_A_DRAW = ("seed", "begin_s")
_STEPS = ("rate_steps", "delay_steps")
"""Keys that hold no seed; a search in the hundreds of steps of a fading link would take most of the time."""


def spec_digest(spec: EmulatorSpec) -> str:
    """Eight characters that identify the path without name and seeds: all draws of it have the same digest.

    A trace counts by its content, not its place. Keys that are not given do not count, so the digest stays
    the same when ccgym gets a new key.

    Raises:
        InputError: a trace cannot be read.
    """
    return _digest({key: _without_draw(value) for key, value in _content(spec).items()})


def drawn_digest(spec: EmulatorSpec) -> str:
    """The digest of one draw: seeds, and the place where it begins, count as well.

    Raises:
        InputError: a trace cannot be read.
    """
    return _digest(_content(spec))


def _digest(content: dict[str, Any]) -> str:
    text = json.dumps(content, sort_keys=True)
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()[:DIGEST_BYTES]).decode()


def _content(spec: EmulatorSpec) -> dict[str, Any]:
    """All keys that are given, except the name."""
    return {
        **_given(spec, {"name", "uplink", "downlink"}),
        "uplink": _link(spec.uplink),
        "downlink": _link(spec.downlink),
    }


def _given(part: EmulatorSpec | LinkSpec, exclude: set[str]) -> dict[str, Any]:
    return part.model_dump(mode="json", exclude=exclude, exclude_defaults=True)


def _without_draw(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: member if key in _STEPS else _without_draw(member)
            for key, member in value.items()
            if key not in _OF_A_DRAW
        }
    return [_without_draw(member) for member in value] if isinstance(value, list) else value


def _link(link: LinkSpec) -> dict[str, Any]:
    if link.trace is None:
        return _given(link, set())
    return {**_given(link, {"trace"}), "trace": sha256_of(link.trace, "the trace")}
