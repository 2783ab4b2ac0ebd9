"""The metadata entry `ccgym` of a policy file, read without its network and without PyTorch.

Only the C++ controller decides whether a policy file is valid: what it refuses is not read here.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ccgym.envs import _core  # only the C++ core, no Python of a higher layer
from ccgym.envs.errors import excerpt, is_text
from safetensors import SafetensorError, safe_open


class PolicyFileError(ValueError):
    """A policy file that cannot be run: one line with the file, what is wrong and what would be right."""


@dataclass(frozen=True)
class Limits:
    """Bounds of the window that a policy may choose."""

    min_cwnd_packets: float = 2.0
    max_cwnd_packets: float = 100_000.0


@dataclass(frozen=True)
class PolicySpec:
    """How a policy is run; names as in the file's metadata."""

    feature_set: str
    """Observation: a name of `_core.POLICY_FEATURES`."""
    actions: str
    """Meaning of the outputs: a name of `_core.POLICY_ACTIONS`."""
    step_ms: float = 10.0
    """Time between two decisions."""
    initial_cwnd: float = 10.0
    """Window at the start of a flow, in packets."""
    limits: Limits = Limits()
    preference: float | None = None
    """From low delay (0) to full throughput (1); None: the middle, or a feature set without it."""
    companion: bool = False
    """Whether the companion adjusts `log_window`'s actions to other flows on the bottleneck."""
    trained_on: str = ""
    """How the policy was trained: enough to repeat it."""
    git: str = ""
    """Revision of the training code; empty outside a repository."""


def check_policy(path: Path) -> None:
    """Raises PolicyFileError if the C++ controller refuses the file."""
    if not is_text(path):
        raise PolicyFileError(f"{excerpt(path)}: its name is not in UTF-8: rename it")
    try:
        _core.check_policy(str(path))
    except RuntimeError as error:
        raise PolicyFileError(str(error)) from None


def read_header(path: Path) -> tuple[dict[str, Any], PolicySpec]:
    """Reads the architecture, and how the policy is run.

    Raises:
        PolicyFileError: the C++ controller refuses the file, or the format's own reader does.
    """
    check_policy(path)
    try:
        with safe_open(path, framework="np") as file:
            metadata = json.loads(file.metadata()["ccgym"])
    except (OSError, SafetensorError, ValueError) as error:
        raise PolicyFileError(f"{excerpt(path)}: not in the format: {excerpt(error)}") from None
    return metadata["architecture"], _spec(metadata)


def _spec(metadata: dict[str, Any]) -> PolicySpec:
    had_companion = metadata["actions"] == "log_window"  # the default in files older than this key
    metadata = {"companion": had_companion, **metadata}
    fields = {name: metadata[name] for name in PolicySpec.__dataclass_fields__}
    return PolicySpec(**(fields | {"limits": Limits(**metadata["limits"])}))
