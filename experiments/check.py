"""A requirement, and whether it is met."""

from dataclasses import dataclass
from enum import StrEnum

from .known import as_expected, expectation

_STATES = {True: "held  ", False: "MISSED", None: "UNSURE"}


class Links(StrEnum):
    """The kind of links that a check of a policy runs over."""

    UNSEEN = "unseen"
    """Drawn from a split that no training draws from."""
    TRAINING = "training"
    """At least one of them the policy was trained on."""
    FIXED = "fixed"
    """Published, recorded or chosen by hand; the policy was not trained on them, so far as its file says."""


@dataclass(frozen=True)
class Check:
    """One requirement."""

    name: str
    wanted: str
    measured: str
    met: bool | None
    """None: unsure, because the 95 % interval holds both answers."""
    links: Links | None = None
    """None: it is no check of a policy."""

    @property
    def passes(self) -> bool:
        """Whether it is met, or misses by no more than is known."""
        return self.met is True or as_expected(self.name, self.measured)

    @property
    def line(self) -> str:
        """The check as one line of text."""
        known = f"; known to miss: expected{expectation(self.name)}" if self._is_known else ""
        return f"{_STATES[self.met]}  {self.name}: {self.measured}; wanted: {self.wanted}{known}"

    @property
    def _is_known(self) -> bool:
        return self.met is not True and bool(expectation(self.name))


def all_met(*parts: bool | None) -> bool | None:
    """The answer of a requirement with several parts: False if any is missed, else None if any is unsure."""
    return False if False in parts else None if None in parts else True
