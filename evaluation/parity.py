"""The twin beside real mahimahi: the same controller over the same emulator, in both.

The twin keeps its promise where throughput and p95 one-way delay agree within what is stated here. How late
the real shells were, by their own logs, stands beside it: it is no part of the comparison.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from .lateness import p95_lateness_ms
from .results import Evaluation, FlowResult
from .run_files import RunFiles
from .session import emulator_folder

THROUGHPUT_SHARE = 0.03
DELAY_SHARE = 0.05
DELAY_MS = 2.0
"""The p95 delay may differ by DELAY_SHARE or by DELAY_MS, whichever is more."""


@dataclass(frozen=True)
class ParityRow:
    """Medians over the runs of one scheme on one emulator."""

    emulator: str
    scheme: str
    twin_mbps: float
    real_mbps: float
    twin_p95_ms: float
    real_p95_ms: float
    real_late_ms: float | None
    """95th percentile of the real shells' lateness over a round trip; None where it cannot be told."""

    @property
    def throughput_error(self) -> float:
        """Of the twin, as a share of the real throughput."""
        return self.twin_mbps / self.real_mbps - 1

    @property
    def delay_error_ms(self) -> float:
        """Of the twin's p95 one-way delay."""
        return self.twin_p95_ms - self.real_p95_ms

    @property
    def agrees(self) -> bool:
        """Within the bounds stated above."""
        allowed_ms = max(DELAY_MS, DELAY_SHARE * self.real_p95_ms)
        return abs(self.throughput_error) <= THROUGHPUT_SHARE and abs(self.delay_error_ms) <= allowed_ms


def compare(twin: Evaluation, real: Evaluation) -> list[ParityRow]:
    """A row for every scheme and emulator that flew in both."""
    twins, reals = dict(_flights(twin)), dict(_flights(real))
    delays_ms = {scenario.label: scenario.delay_ms for scenario in real.scenarios}
    return [
        ParityRow(
            *key,
            median(flow.metrics.throughput_mbps for flow in twins[key]),
            median(flow.metrics.throughput_mbps for flow in reals[key]),
            median(flow.metrics.p95_delay_ms for flow in twins[key]),
            median(flow.metrics.p95_delay_ms for flow in reals[key]),
            _lateness_ms(real.folder, key[0], reals[key], delays_ms[key[0]]),
        )
        for key in reals
        if key in twins
    ]


def _lateness_ms(folder: Path, label: str, flows: list[FlowResult], delay_ms: float) -> float | None:
    """Median over the runs."""
    runs = [RunFiles(emulator_folder(folder, label), flow.scheme, flow.run) for flow in flows]
    told = [p95_lateness_ms(run.link_data_log, run.link_ack_log, delay_ms) for run in runs]
    known = [late_ms for late_ms in told if late_ms is not None]
    return median(known) if known else None


def _flights(evaluation: Evaluation) -> Iterator[tuple[tuple[str, str], list[FlowResult]]]:
    for scenario in evaluation.scenarios:
        for scheme in evaluation.schemes:
            flows = [flow for flow in scenario.flows if flow.scheme == scheme]
            if flows:
                yield (scenario.label, scheme), flows


def parity_lines(rows: list[ParityRow]) -> list[str]:
    """The table, for people."""
    lines = [_line("emulator", "scheme", "Mbit/s: twin", "real", "", "p95 ms: twin", "real", "p95 late ms")]
    lines += [
        _line(
            row.emulator,
            row.scheme,
            f"{row.twin_mbps:.2f}",
            f"{row.real_mbps:.2f}",
            f"{row.throughput_error:+.1%}",
            f"{row.twin_p95_ms:.0f}",
            f"{row.real_p95_ms:.0f}",
            "-" if row.real_late_ms is None else f"{row.real_late_ms:.0f}",
        )
        + ("" if row.agrees else "  differs")
        for row in rows
    ]
    return [*lines, f"{sum(row.agrees for row in rows)} of {len(rows)} agree"]


def _line(emulator: str, scheme: str, *figures: str) -> str:
    return f"{emulator:28} {scheme:12}" + "".join(f"{figure:>14}" for figure in figures)
