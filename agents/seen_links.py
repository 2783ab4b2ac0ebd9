"""The links that a policy has seen, as digests that its file holds beside the tensors."""

import json
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from safetensors import SafetensorError, safe_open

METADATA_KEY = "ccgym_links"
DIGEST_CHARACTERS = 8


@dataclass(frozen=True)
class SeenLinks:
    """Digests of emulators, as `ccgym.envs.specs.digest` makes them."""

    train: frozenset[str]
    """Links to whose runs the policy was fitted."""
    validation: frozenset[str]
    """Links by which the policy was chosen or monitored."""

    def how(self, digest: str) -> str:
        """`train`, `validation`, or `no`: the policy has not seen it."""
        return "train" if digest in self.train else "validation" if digest in self.validation else "no"

    def with_those_of(self, other: "SeenLinks") -> "SeenLinks":
        """The links of a policy that was trained on from one with the links of `other`."""
        return SeenLinks(self.train | other.train, self.validation | other.validation)

    def as_metadata(self) -> dict[str, str]:
        """The metadata entries of the file: the digests sorted and joined."""
        lists = {"train": _joined(self.train), "validation": _joined(self.validation)}
        return {METADATA_KEY: json.dumps(lists)}


def read_seen_links(policy_file: Path) -> SeenLinks | None:
    """The links of a policy file; None: the file does not say, or cannot be read."""
    try:
        with safe_open(policy_file, framework="np") as file:
            metadata = file.metadata() or {}
    except (OSError, SafetensorError):
        return None
    try:
        lists = json.loads(metadata.get(METADATA_KEY, "{}"))
        return SeenLinks(_parted(lists["train"]), _parted(lists["validation"]))
    except (ValueError, RecursionError, KeyError, TypeError):
        return None


def _joined(digests: Collection[str]) -> str:
    return "".join(sorted(digests))


def _parted(text: str) -> frozenset[str]:
    return frozenset(text[at : at + DIGEST_CHARACTERS] for at in range(0, len(text), DIGEST_CHARACTERS))
