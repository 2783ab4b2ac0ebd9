"""A requirement and whether it is held."""

from dataclasses import dataclass

_STATES = {True: "held  ", False: "MISSED", None: "UNSURE"}


@dataclass(frozen=True)
class Check:
    """One requirement."""

    name: str
    wanted: str
    measured: str
    met: bool | None
    """None: what was measured does not say, as its 95 % interval holds both."""

    @property
    def line(self) -> str:
        """For people."""
        return f"{_STATES[self.met]}  {self.name}: {self.measured}; wanted: {self.wanted}"


def all_met(*parts: bool | None) -> bool | None:
    """Of a requirement with several parts: one that is missed decides, then one that is not sure."""
    return False if False in parts else None if None in parts else True
