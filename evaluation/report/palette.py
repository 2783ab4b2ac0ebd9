"""One colour and one marker per scheme, the same in every plot, legible on light and dark backgrounds.

Colours are after Okabe and Ito (2008) and Tol (2021), which the colour-blind can tell apart; when colours run
out, markers differ.
"""

from dataclasses import dataclass

_FIXED = {
    "indigo": ("#8775d8", "diamond"),
    "indigo2": ("#009e73", "star-diamond"),
    "copa": ("#d55e00", "circle"),
    "kernel-bbr": ("#e69f00", "triangle-up"),
    "kernel-cubic": ("#7c8ba1", "square"),
    "kernel-reno": ("#999933", "pentagon"),
    "reno": ("#6f7d1c", "hexagon"),
}
_OTHERS = [
    "#0077bb",
    "#cc79a7",
    "#b8860b",
    "#56b4e9",
    "#aa4499",
    "#44aa99",
    "#ee6677",
    "#8c6bb1",
    "#a6761d",
    "#5f7fbf",
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
"""One marker more than colours, so that a marker comes back in another colour."""

_PENS = {
    "diamond": "D",
    "star-diamond": "*",
    "circle": "o",
    "triangle-up": "^",
    "square": "s",
    "pentagon": "p",
    "hexagon": "h",
    "cross": "P",
    "triangle-down": "v",
    "star": "*",
    "x": "X",
    "triangle-left": "<",
    "hourglass": "o",
    "bowtie": "s",
    "triangle-right": ">",
    "diamond-tall": "d",
    "star-square": "8",
    "hexagram": "H",
}


@dataclass(frozen=True)
class Style:
    """How a scheme is drawn."""

    colour: str
    """#rrggbb."""
    marker: str
    """plotly's name of the marker."""

    @property
    def pen(self) -> str:
        """The most similar marker of Matplotlib."""
        return _PENS[self.marker]

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
