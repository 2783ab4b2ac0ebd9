"""The digest of an emulator: by it a policy file says what it was trained on, and a report what was seen."""

import base64
import hashlib
import json
from typing import Any

from ccgym.envs.outside_files import sha256_of

from .emulator_spec import EmulatorSpec, LinkSpec

DIGEST_BYTES = 6
"""Beside the 3000 links of a training one link in 10^11 is taken for seen by chance."""
_OF_A_DRAW = ("seed", "begin_s")
_STEPS = ("rate_steps", "delay_steps")
"""Nothing in them is of a draw; to look through the hundreds of a fading link takes longer than all else."""


def spec_digest(spec: EmulatorSpec) -> str:
    """Eight characters of what the path is: not of its name, nor of a seed: another draw of it is seen too.

    A trace counts by its content, wherever it lies. Keys that are not given do not count: the digest stays
    when a new one is added.

    Raises:
        InputError: a trace cannot be read.
    """
    return _digest({key: _without_draw(value) for key, value in _content(spec).items()})


def drawn_digest(spec: EmulatorSpec) -> str:
    """The same of the very draw: seeds, and where it begins, count as well.

    Raises:
        InputError: a trace cannot be read.
    """
    return _digest(_content(spec))


def _digest(content: dict[str, Any]) -> str:
    text = json.dumps(content, sort_keys=True)
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()[:DIGEST_BYTES]).decode()


def _content(spec: EmulatorSpec) -> dict[str, Any]:
    """All that is given of a path but its name."""
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
