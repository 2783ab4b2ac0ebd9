"""One colour and one marker per scheme, the same in every picture, legible on light and on dark paper."""

from dataclasses import dataclass

_FIXED = {
    "indigo": ("#6366f1", "diamond"),
    "indigo2": ("#14b8a6", "star-diamond"),
    "copa": ("#ef4444", "circle"),
    "kernel-bbr": ("#f59e0b", "triangle-up"),
    "kernel-cubic": ("#7c8ba1", "square"),
    "kernel-reno": ("#84a35a", "pentagon"),
    "reno": ("#65a30d", "hexagon"),
}
_OTHERS = [
    "#ec4899",
    "#0ea5e9",
    "#a855f7",
    "#b45309",
    "#22c55e",
    "#e879f9",
    "#0891b2",
    "#ca8a04",
    "#f43f5e",
    "#3b82f6",
]
_MARKERS = [
    "cross",
    "triangle-down",
    "star",
    "x",
    "triangle-left",
    "hourglass",
    "bowtie",
    "triangle-right",
    "diamond-tall",
    "star-square",
    "hexagram",
]
"""One more than colours, whose neighbours differ: a marker comes back in the next colour."""


@dataclass(frozen=True)
class Style:
    """How a scheme is drawn."""

    colour: str
    """#rrggbb."""
    marker: str
    """plotly's name."""

    def translucent(self, opacity: float) -> str:
        """The colour with this opacity."""
        red, green, blue = (int(self.colour[at : at + 2], 16) for at in (1, 3, 5))
        return f"rgba({red},{green},{blue},{opacity})"


def styles(schemes: list[str]) -> dict[str, Style]:
    """The style of every scheme of an evaluation."""
    others = [scheme for scheme in schemes if scheme not in _FIXED]
    chosen = {scheme: Style(*_FIXED[scheme]) for scheme in schemes if scheme in _FIXED}
    for index, scheme in enumerate(others):
        chosen[scheme] = Style(_OTHERS[index % len(_OTHERS)], _MARKERS[index % len(_MARKERS)])
    return chosen
