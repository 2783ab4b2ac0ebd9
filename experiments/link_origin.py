"""Whether a policy was trained on the links that a check runs over, by the digests in the policy's file."""

from collections.abc import Iterable
from pathlib import Path

from ccgym.agents.seen_links import SeenLinks, read_seen_links
from ccgym.envs.specs.digest import spec_digest
from ccgym.envs.specs.emulators import EmulatorSpec

from .check import Links


def origin_of(policy_file: Path, specs: Iterable[EmulatorSpec]) -> Links:
    """The kind of fixed links; if the file does not say what the policy has seen, it has seen none.

    Raises:
        InputError: a trace cannot be read.
    """
    seen = read_seen_links(policy_file) or SeenLinks(frozenset(), frozenset())
    return origin_by_answers(seen.how(spec_digest(spec)) for spec in specs)


def origin_by_answers(answers: Iterable[str]) -> Links:
    """The same from an evaluation's answer for each link: `train`, `validation`, `no` or `unknown`."""
    return Links.TRAINING if "train" in answers else Links.FIXED
