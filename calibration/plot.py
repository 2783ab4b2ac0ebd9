"""The paper's Figure 3: every scheme as it was measured, and as the emulator replicates it."""

from pathlib import Path

from ccgym.envs.errors import excerpt
from ccgym.envs.outside_files import replaced

from .answer import Answer


def draw_replication(answer: Answer, title: str, path: Path) -> None:
    """Writes a picture: filled what was measured, open what was emulated; better is up and to the right."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.5, 5.0), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for place, fit in enumerate(answer.schemes):
        colour = f"C{place % 10}"
        delays = [fit.p95_delay_ms, fit.emulated_p95_delay_ms]
        rates = [fit.throughput_mbps, fit.emulated_throughput_mbps]
        axes.plot(delays, rates, color=colour, linewidth=0.8, alpha=0.6)
        axes.plot(delays[0], rates[0], "o", color=colour)
        axes.plot(delays[1], rates[1], "o", color=colour, markerfacecolor="none")
        axes.annotate(fit.scheme, (delays[0], rates[0]), textcoords="offset points", xytext=(5, 4))
    axes.set_xscale("log")
    axes.invert_xaxis()
    axes.set_ylim(bottom=0)
    axes.set_xlabel("p95 one-way delay (ms)")
    axes.set_ylabel("throughput (Mbit/s)")
    axes.set_title(f"{excerpt(title)}: filled measured, open emulated; mean error {100 * answer.error:.1f} %")
    axes.grid(alpha=0.3)
    with replaced(path) as fresh:
        figure.savefig(fresh, format="svg")
