"""The throughput/delay picture of an evaluation, as Pantheon draws it: up and to the right is better."""

from collections.abc import Sequence

from matplotlib.figure import Figure

from .trial import Trial

ACCEPTED_THROUGHPUT = 0.95
ACCEPTED_DELAY = 1.15
"""What a first policy must reach of the oracle window's throughput, at what multiple of its p95 delay."""


def draw_trials(title: str, trials: Sequence[Trial]) -> Figure:
    """Every emulator as a point relative to its oracle window, which stands at (1, 1)."""
    figure = Figure(figsize=(8, 6), layout="tight")
    axes = figure.add_subplot()
    for group in sorted({_group(trial) for trial in trials}):
        members = [trial for trial in trials if _group(trial) == group]
        axes.scatter(
            [trial.relative_delay for trial in members],
            [trial.relative_throughput for trial in members],
            label=group,
            alpha=0.8,
        )
    for trial in sorted(trials, key=lambda trial: trial.regret)[-3:]:
        axes.annotate(trial.emulator, (trial.relative_delay, trial.relative_throughput), fontsize="small")
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


def _group(trial: Trial) -> str:
    return trial.emulator.partition("/")[0]
