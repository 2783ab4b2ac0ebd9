"""Plots of an evaluation; throughput over delay as in Pantheon: up and to the right is better."""

from collections.abc import Sequence
from itertools import accumulate

from ccgym.training.rollouts import Rollout
from matplotlib.figure import Figure

from .monitoring import Curves, WindowTrace

ACCEPTED_THROUGHPUT = 0.95
ACCEPTED_DELAY = 1.15
"""Acceptance of a first policy: share of the oracle window's throughput, multiple of its p95 delay."""
MONITORING_DPI = 70


def draw_rollouts(title: str, rollouts: Sequence[Rollout]) -> Figure:
    """Every emulator as a point relative to its oracle window, which is at (1, 1)."""
    figure = Figure(figsize=(8, 6), layout="tight")
    axes = figure.add_subplot()
    for group in sorted({_group(rollout) for rollout in rollouts}):
        members = [rollout for rollout in rollouts if _group(rollout) == group]
        axes.scatter(
            [rollout.relative_delay for rollout in members],
            [rollout.relative_throughput for rollout in members],
            label=group,
            alpha=0.8,
        )
    for rollout in sorted(rollouts, key=lambda rollout: rollout.regret)[-3:]:
        axes.annotate(
            rollout.emulator, (rollout.relative_delay, rollout.relative_throughput), fontsize="small"
        )
    axes.scatter([1], [1], marker="*", s=200, color="black", label="oracle window")
    axes.axhline(ACCEPTED_THROUGHPUT, linestyle=":", color="grey")
    axes.axvline(ACCEPTED_DELAY, linestyle=":", color="grey")
    axes.set_xlabel("95th percentile one-way delay / oracle window's")
    axes.set_ylabel("throughput / oracle window's")
    axes.invert_xaxis()
    axes.grid(alpha=0.3)
    axes.legend(loc="lower left")
    axes.set_title(title)
    return figure


def _group(rollout: Rollout) -> str:
    return rollout.emulator.partition("/")[0]


def draw_windows(title: str, traces: Sequence[WindowTrace]) -> Figure:
    """The policy's window and the oracle's over time, one below the other for every emulator."""
    labels = list(dict.fromkeys(trace.emulator for trace in traces))
    size = (8, 2.2 * len(labels))
    figure = Figure(figsize=size, dpi=MONITORING_DPI)
    margins = _margins(*size, len(labels))
    rows = figure.subplots(len(labels), sharex=True, squeeze=False, gridspec_kw=margins)[:, 0]
    for axes, label in zip(rows, labels, strict=True):
        for number, trace in enumerate(trace for trace in traces if trace.emulator == label):
            axes.plot(trace.seconds, trace.oracles, color="black", linewidth=1, alpha=0.5)
            axes.plot(trace.seconds, trace.policys, color=f"C{number}", linewidth=1)
        axes.set_ylabel("packets")
        axes.set_yscale("log")
        axes.minorticks_off()
        axes.set_title(label, fontsize="small")
    rows[-1].set_xlabel("seconds")
    figure.suptitle(f"{title}: congestion window; grey: the oracle's")
    return figure


def _margins(width: float, height: float, rows: int) -> dict[str, float]:
    """Margins of axes below each other; matplotlib's own layout would draw all ticks twice more for them."""
    left, right, bottom, top, between = 0.7, 0.15, 0.55, 0.65, 0.4  # inches
    row = (height - bottom - top - (rows - 1) * between) / rows
    return {
        "left": left / width,
        "right": 1 - right / width,
        "bottom": bottom / height,
        "top": 1 - top / height,
        "hspace": between / row,
    }


def draw_curves(title: str, curves: Sequence[Curves]) -> Figure:
    """Throughput over delay: the policy's preference beside the frontier of fixed windows."""
    figure = Figure(figsize=(4.5 * len(curves), 4), dpi=MONITORING_DPI, layout="tight")
    for column, curve in enumerate(curves):
        axes = figure.add_subplot(1, len(curves), column + 1)
        for name, points, style in (
            ("fixed windows", curve.fixed, "o--"),
            ("the policy's preference", curve.preference, "*-"),
        ):
            axes.plot(*zip(*points, strict=True), style, label=name)
        axes.set_xlabel("95th percentile one-way delay (ms)")
        axes.set_ylabel("throughput (Mbit/s)")
        axes.invert_xaxis()
        axes.grid(alpha=0.3)
        axes.legend(loc="lower left")
        axes.set_title(curve.emulator, fontsize="small")
    figure.suptitle(title)
    return figure


def draw_quality(title: str, criterion: str, history: Sequence[tuple[float, float]]) -> Figure:
    """How good the policy was after how many seconds: its criterion and the least so far."""
    figure = Figure(figsize=(8, 4), dpi=MONITORING_DPI, layout="tight")
    axes = figure.add_subplot()
    seconds, values = zip(*history, strict=True)
    minutes = [second / 60 for second in seconds]
    axes.plot(minutes, values, "o-", alpha=0.5, label="at that time")
    axes.step(minutes, list(accumulate(values, min)), where="post", label="of the best policy so far")
    axes.set_xlabel("minutes")
    axes.set_ylabel(criterion)
    axes.set_yscale("log")
    axes.grid(alpha=0.3)
    axes.legend()
    axes.set_title(title)
    return figure
