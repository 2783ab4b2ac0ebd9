"""A promise and whether it is held."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Bar:
    """One promise."""

    name: str
    wanted: str
    measured: str
    met: bool

    @property
    def line(self) -> str:
        """For people."""
        return f"{'held  ' if self.met else 'MISSED'}  {self.name}: {self.measured}; wanted: {self.wanted}"
