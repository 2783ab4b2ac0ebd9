"""Our schemes beside independent implementations of the same, over the same emulators."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from statistics import median

from ccgym.evaluation.metrics.results import Evaluation

KERNEL_JUDGES = {"cubic": "kernel-cubic", "reno": "kernel-reno", "bbr": "kernel-bbr"}
"""Ours, and the kernel's implementation that it is held against."""


@dataclass(frozen=True)
class Bounds:
    """How far ours may be from the judge's, as shares of the judge's figures."""

    throughput_share: float
    delay_share: float


KERNEL_BOUNDS = Bounds(throughput_share=0.05, delay_share=0.15)


@dataclass(frozen=True)
class Judgement:
    """One scheme over one emulator."""

    emulator: str
    scheme: str
    mbps: float
    judge_mbps: float
    delay_ms: float
    """Of the kind the experiment compares: p95 one-way, or the mean in the queue."""
    judge_delay_ms: float

    @property
    def throughput_error(self) -> float:
        """Of ours, as a share of the judge's."""
        return self.mbps / self.judge_mbps - 1

    @property
    def delay_error(self) -> float:
        """Of ours, as a share of the judge's."""
        return self.delay_ms / self.judge_delay_ms - 1

    def agrees(self, bounds: Bounds) -> bool:
        """Both within their share."""
        return (
            abs(self.throughput_error) <= bounds.throughput_share
            and abs(self.delay_error) <= bounds.delay_share
        )


def judge_by_kernel(ours: Evaluation, kernels: Evaluation) -> list[Judgement]:
    """Medians over the runs of every emulator on which both of a pair flew."""
    flown, judged = dict(_medians(ours)), dict(_medians(kernels))
    return [
        Judgement(emulator, scheme, mbps, judge_mbps, delay_ms, judge_delay_ms)
        for (emulator, scheme), (mbps, delay_ms) in flown.items()
        if (judge := judged.get((emulator, KERNEL_JUDGES.get(scheme, "")))) is not None
        for judge_mbps, judge_delay_ms in [judge]
    ]


def _medians(evaluation: Evaluation) -> Iterator[tuple[tuple[str, str], tuple[float, float]]]:
    for scenario in evaluation.scenarios:
        for scheme in evaluation.schemes:
            flows = [flow.metrics for flow in scenario.flows if flow.scheme == scheme]
            if flows:
                yield (
                    (scenario.label, scheme),
                    (
                        median(flow.throughput_mbps for flow in flows),
                        median(flow.p95_delay_ms for flow in flows),
                    ),
                )


def judgement_lines(judgements: Iterable[Judgement], bounds: Bounds, heads: Mapping[str, str]) -> list[str]:
    """The table, for people; `heads` names the judge and the delay."""
    rows = list(judgements)
    lines = [_line("emulator", "scheme", "Mbit/s", heads["judge"], "", heads["delay"], heads["judge"], "")]
    lines += [
        _line(
            row.emulator,
            row.scheme,
            f"{row.mbps:.2f}",
            f"{row.judge_mbps:.2f}",
            f"{row.throughput_error:+.1%}",
            f"{row.delay_ms:.1f}",
            f"{row.judge_delay_ms:.1f}",
            f"{row.delay_error:+.1%}",
        )
        + ("" if row.agrees(bounds) else "  differs")
        for row in rows
    ]
    return [*lines, f"{sum(row.agrees(bounds) for row in rows)} of {len(rows)} agree"]


def _line(emulator: str, scheme: str, *figures: str) -> str:
    return f"{emulator:28} {scheme:8}" + "".join(f"{figure:>12}" for figure in figures)
