"""A plot of the episode so far: congestion window, rates and delays over time."""

from collections.abc import Sequence

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray

from .rewards import Info

WIDTH_PIXELS, HEIGHT_PIXELS = 640, 480
_DOTS_PER_INCH = 100


class EpisodePlot:
    """Keeps the info of each step of one flow, and draws it."""

    def __init__(self, title: str, capacity_mbps: float, propagation_rtt_ms: float) -> None:
        self._title = title
        self._capacity_mbps = capacity_mbps
        self._propagation_rtt_ms = propagation_rtt_ms
        self._steps: list[dict[str, float]] = []

    def add(self, info: Info, row: int) -> None:
        """Keeps one step of the flow in this row, see `PathEnv`."""
        self._steps.append({name: float(values[row]) for name, values in info.items()})

    def draw(self) -> NDArray[np.uint8]:
        """The plot as RGB, shape (HEIGHT_PIXELS, WIDTH_PIXELS, 3)."""
        figure = Figure((WIDTH_PIXELS / _DOTS_PER_INCH, HEIGHT_PIXELS / _DOTS_PER_INCH), _DOTS_PER_INCH)
        canvas = FigureCanvasAgg(figure)
        figure.set_layout_engine("tight")
        windows, rates, delays = figure.subplots(3, 1, sharex=True)
        windows.set_title(self._title, fontsize="medium")
        self._plot(windows, "cwnd\npackets", ["cwnd_packets", "oracle_cwnd_packets"])
        self._plot(rates, "rate\nMbit/s", ["throughput_mbps"], self._capacity_mbps)
        self._plot(delays, "round trip\nms", ["delay_ms"], self._propagation_rtt_ms)
        delays.set_xlabel("time / s")
        canvas.draw()  # type: ignore[no-untyped-call]
        rgba: NDArray[np.uint8] = np.asarray(canvas.buffer_rgba())  # type: ignore[no-untyped-call]
        return rgba[:, :, :3].copy()

    def _plot(self, axes, label: str, names: Sequence[str], reference: float | None = None) -> None:  # type: ignore[no-untyped-def]  # matplotlib's Axes
        for name in names:
            points = [(step["time_ms"] / 1e3, step[name]) for step in self._steps if name in step]
            if points:
                axes.plot(*zip(*points, strict=True), linewidth=1, label=name)
        if reference is not None:
            axes.axhline(reference, linestyle=":", color="grey", linewidth=1)
        axes.set_ylim(bottom=0)
        axes.set_ylabel(label)
        axes.grid(alpha=0.3)
