"""A promise and whether it is held."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Bar:
    """One promise."""

    name: str
    wanted: str
    measured: str
    met: bool
