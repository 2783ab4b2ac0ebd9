"""The digest of an emulator: by it a policy file says what it was trained on, and a report what was seen."""

import base64
import hashlib
import json
from typing import Any

from ccgym.envs.outside_files import sha256_of

from .emulator_spec import EmulatorSpec, LinkSpec

DIGEST_BYTES = 6
"""Beside the 3000 links of a training one link in 10^11 is taken for seen by chance."""


def spec_digest(spec: EmulatorSpec) -> str:
    """Eight characters of what the path is: not of its name, nor of a seed: another draw of it is seen too.

    A trace counts by its content, wherever it lies. Keys that are not given do not count: the digest stays
    when a new one is added.

    Raises:
        InputError: a trace cannot be read.
    """
    content = {
        **_given(spec, {"name", "uplink", "downlink"}),
        "uplink": _link(spec.uplink),
        "downlink": _link(spec.downlink),
    }
    text = json.dumps(content, sort_keys=True)
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()[:DIGEST_BYTES]).decode()


def _given(part: EmulatorSpec | LinkSpec, exclude: set[str]) -> dict[str, Any]:
    given = part.model_dump(mode="json", exclude=exclude, exclude_defaults=True)
    return {key: _without_seeds(value) for key, value in given.items() if key not in ("seed", "begin_s")}


def _without_seeds(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_seeds(member) for key, member in value.items() if key != "seed"}
    return [_without_seeds(member) for member in value] if isinstance(value, list) else value


def _link(link: LinkSpec) -> dict[str, Any]:
    if link.trace is None:
        return _given(link, set())
    return {**_given(link, {"trace"}), "trace": sha256_of(link.trace, "the trace")}
