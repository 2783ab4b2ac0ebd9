"""Draws a frontier as SVG, shown until the browser has loaded the chart library, which takes seconds.

All marks are discs here, whatever their shape in the library.
"""

import math
from collections.abc import Callable, Iterator
from html import escape
from typing import Any

from .figures import Figure

_WIDTH, _HEIGHT = 1072, 460
_LEFT, _TOP, _RIGHT, _BOTTOM = 62, 20, 16, 56
"""Margins in px, the same as the page gives the library."""
_TICKS = 6
_LABEL_PX = {"top": -14, "middle": 4, "bottom": 22}
_ANCHORS = {"left": "end", "center": "middle", "right": "start"}

Place = Callable[[float], float]
"""Maps a value to px."""


def static_plot(figure: Figure) -> str:
    """The figure as SVG text in the ink of the page."""
    layout = figure["layout"]
    x = _place(layout["xaxis"], _LEFT, _WIDTH - _RIGHT)
    y = _place(layout["yaxis"], _HEIGHT - _BOTTOM, _TOP)
    parts = [
        *_axes(layout, x, y),
        *(part for shape in layout["shapes"] for part in _line(shape, x, y)),
        *(part for trace in figure["data"] for part in _trace(trace, x, y)),
    ]
    return f'<svg class="static" viewBox="0 0 {_WIDTH} {_HEIGHT}">{"".join(parts)}</svg>'


def _place(axis: dict[str, Any], first_px: float, last_px: float) -> Place:
    begin, end = axis["range"]
    scale = (lambda value: math.log10(max(value, 1e-9))) if axis.get("type") == "log" else float
    return lambda value: first_px + (scale(value) - begin) / (end - begin) * (last_px - first_px)


def _axes(layout: dict[str, Any], x: Place, y: Place) -> Iterator[str]:
    for value, text in _ticks(layout["xaxis"]):
        at = x(value)
        if _LEFT <= at <= _WIDTH - _RIGHT:
            yield f'<path class="grid" d="M{at:.0f} {_TOP}V{_HEIGHT - _BOTTOM}"/>'
            yield _text(at, _HEIGHT - _BOTTOM + 18, text, "middle")
    for value, text in _ticks(layout["yaxis"]):
        yield f'<path class="grid" d="M{_LEFT} {y(value):.0f}H{_WIDTH - _RIGHT}"/>'
        yield _text(_LEFT - 6, y(value) + 4, text, "end")
    yield _text((_LEFT + _WIDTH) / 2, _HEIGHT - 12, layout["xaxis"]["title"]["text"], "middle")
    middle = (_TOP + _HEIGHT - _BOTTOM) / 2
    title = escape(layout["yaxis"]["title"]["text"])
    yield f'<text text-anchor="middle" transform="translate(16 {middle:.0f}) rotate(-90)">{title}</text>'


def _ticks(axis: dict[str, Any]) -> list[tuple[float, str]]:
    if "tickvals" in axis:
        return list(zip(axis["tickvals"], axis["ticktext"], strict=True))
    low, high = sorted(axis["range"])
    step = _round_step((high - low) / _TICKS)
    return [(step * k, f"{step * k:g}") for k in range(math.ceil(low / step), math.floor(high / step) + 1)]


def _round_step(least: float) -> float:
    """The least step of at least `least` that is 1, 2 or 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= least * (1 - 1e-9))


def _line(shape: dict[str, Any], x: Place, y: Place) -> Iterator[str]:
    across = (_LEFT, _WIDTH - _RIGHT) if shape.get("xref") == "paper" else (x(shape["x0"]), x(shape["x1"]))
    dashes = ' stroke-dasharray="2 3"' if "dash" in shape["line"] else ""
    ends = f"M{across[0]:.1f} {y(shape['y0']):.1f}L{across[1]:.1f} {y(shape['y1']):.1f}"
    yield f'<path fill="none" stroke="{shape["line"]["color"]}" d="{ends}"{dashes}/>'
    if "label" in shape:
        yield _text(across[0] + 4, y(shape["y0"]) - 5, shape["label"]["text"], "start")


def _trace(trace: dict[str, Any], x: Place, y: Place) -> Iterator[str]:
    places = [(x(one), y(other)) for one, other in zip(trace["x"], trace["y"], strict=True)]
    if trace["mode"] == "lines":
        outline = "L".join(f"{left:.0f} {down:.0f}" for left, down in places)
        yield f'<path fill="{trace["fillcolor"]}" d="M{outline}Z"/>'
        return
    marker = trace["marker"]
    for left, down in places:
        radius = marker["size"] / 2
        yield f'<circle fill="{marker["color"]}" cx="{left:.1f}" cy="{down:.1f}" r="{radius:g}"/>'
    if trace["mode"] == "markers+text" and trace["text"][0]:
        up, across = trace["textposition"].split()
        left, down = places[0]
        aside = {"left": -11, "center": 0, "right": 11}[across]
        colour = f' fill="{trace["textfont"]["color"]}"'
        yield _text(left + aside, down + _LABEL_PX[up], trace["text"][0], _ANCHORS[across], colour)


def _text(left: float, down: float, text: str, anchor: str, more: str = "") -> str:
    return f'<text x="{left:.0f}" y="{down:.0f}" text-anchor="{anchor}"{more}>{escape(text)}</text>'
