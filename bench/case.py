"""A measured figure. Figures are measured in turns, so that a busy machine affects all alike."""

import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

Unit = Literal["ns/packet", "ns/ACK", "steps/s", "decisions/s", "us/packet", "us", "Mbit/s", "kB", "cores"]


@dataclass(frozen=True)
class Yardstick:
    """The figure with which that of a case is compared."""

    name: str
    value: float | None
    """In the unit of the case; None: not installed here, and `name` says how to install it."""


@dataclass(frozen=True)
class Case:
    """A line of the bench: a median over the rounds."""

    case: str
    value: float
    unit: Unit
    cores: int = 1
    yardstick: Yardstick | None = None

    @property
    def ratio(self) -> float | None:
        """Our figure divided by the yardstick's."""
        if self.yardstick is None or not self.yardstick.value:
            return None
        return self.value / self.yardstick.value

    def as_json(self) -> dict[str, Any]:
        """The fields that scripts rely on."""
        return {
            "case": self.case,
            "value": self.value,
            "unit": self.unit,
            "cores": self.cores,
            "yardstick": self.yardstick and self.yardstick.name,
            "yardstick_value": self.yardstick and self.yardstick.value,
            "ratio": self.ratio,
        }


def medians_in_turns(measurements: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    """Takes every measurement once a round, `rounds` times over; returns each one's median."""
    taken: dict[str, list[float]] = {name: [] for name in measurements}
    for _ in range(rounds):
        for name, measure in measurements.items():
            taken[name].append(measure())
    return {name: statistics.median(values) for name, values in taken.items()}
