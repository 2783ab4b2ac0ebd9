"""Pantheon's report of 2020-05-31, Verizon LTE in mahimahi: its table beside ours on the same trace.

The recorded traces are part of mahimahi, not of ccgym: CCGYM_TRACES names their folder.
"""

import argparse
import os
from collections.abc import Iterator, Sequence
from functools import partial

from ccgym.envs.errors import InputError
from ccgym.envs.logs.flow_metrics import FlowMetrics
from ccgym.envs.specs.emulators import select_emulators
from ccgym.evaluation.metrics.results import Evaluation

from . import pantheon_tables as tables
from .command import (
    add_backend_argument,
    add_common_arguments,
    add_document_argument,
    description_of,
    run_reproduction,
)
from .pantheon_tables import Row
from .reproduction import (
    Line,
    Reproduction,
    ReproductionOptions,
    evaluate,
    evaluate_from_the_start,
    mean_text,
)

TITLE = "Pantheon: Verizon LTE in mahimahi"
DOCUMENT = "document 001"
SECONDS, RUNS, QUICK_RUNS = 30.0, 5, 3
MARGIN = 0.15
RANGES = {"bbr": ((6.78, 7.03), (196.0, 276.0)), "allegro": ((1.83, 4.46), (62.0, 1395.0))}
"""Published ranges over five runs: Mbit/s, and p95 in ms."""
ROWS = (
    Row(
        "Aurora", 5, 5.14, 1834.88, 3.57, "aurora", "our weights; theirs are its authors' on simulated links"
    ),
    Row("TCP BBR", 5, 6.95, 219.75, 0.38, "bbr"),
    Row("Pareto", 5, 0.38, 31.20, 0.06, None, "not among our schemes"),
    Row("PCC-Allegro", 5, 3.04, 579.75, 0.26, "allegro"),
)
WHY = {
    ("bbr", "p95_delay_ms"): "the kernel's BBR has 7.07 Mbit/s at 337 ms in real mahimahi here",
    ("allegro", "throughput_mbps"): "their own runs differ by a factor of 2, in delay of 22",
    ("allegro", "p95_delay_ms"): "their own runs differ by a factor of 22",
}
TAILS = {"bbr": (303.55, 89.42), "allegro": (879.55, 99.09), "aurora": (2150.70, 704.37)}
"""Published p99 and mean one-way delay in ms."""


def reproduce(options: ReproductionOptions) -> Reproduction:
    """Runs the same schemes over the same trace.

    Raises:
        InputError: the traces are not here.
    """
    if "CCGYM_TRACES" not in os.environ:
        raise InputError(
            "verizon-lte: set CCGYM_TRACES to the folder with mahimahi's Verizon-LTE-short.up and .down"
        )
    documented = tables.document_lines(ROWS, options.document)
    runs = QUICK_RUNS if options.quick else RUNS
    schemes = options.kernels([row.ours for row in ROWS if row.ours])
    (emulator,) = select_emulators("cellular/verizon-lte")
    if options.backend == "twin":
        evaluation = evaluate_from_the_start(options, emulator, schemes, runs, SECONDS)
    else:
        evaluation = evaluate(options, "verizon-lte", [emulator], schemes, runs, SECONDS)
    lines = [
        *tables.table_lines(ROWS, evaluation, options),
        *(line for scheme in TAILS for line in _lines(scheme, evaluation, options)),
        tables.read_back_line(evaluation, options.folder),
        *documented,
    ]
    return Reproduction(TITLE, DOCUMENT, lines, {"verizon-lte": tables.figure(ROWS, evaluation, options)})


def _lines(scheme: str, evaluation: Evaluation, options: ReproductionOptions) -> list[Line]:
    """The tails of one scheme's delay, and whether its means are within the published range."""
    (name,) = options.kernels([scheme])
    totals = [run.total for run in evaluation.scenarios[0].runs if run.scheme == name]
    tails = _tails_line(scheme, totals)
    return [tails, *_range_lines(scheme, totals)] if scheme in RANGES and totals else [tails]


def _tails_line(scheme: str, totals: Sequence[FlowMetrics]) -> Line:
    p99_ms, mean_ms = TAILS[scheme]
    return Line(
        f"{scheme}: p99 / mean one-way ms",
        f"{p99_ms:.0f} / {mean_ms:.0f}",
        " / ".join(
            mean_text([getattr(total, metric) for total in totals], 0)
            for metric in ("p99_delay_ms", "mean_delay_ms")
        ),
    )


def _range_lines(scheme: str, totals: Sequence[FlowMetrics]) -> Iterator[Line]:
    for (low, high), metric, unit, decimals in zip(
        RANGES[scheme], ("throughput_mbps", "p95_delay_ms"), ("Mbit/s", "p95 ms"), (2, 0), strict=True
    ):
        values = [getattr(total, metric) for total in totals]
        mean = sum(values) / len(values)
        yield Line(
            f"{scheme}: {unit}",
            f"{low:g} to {high:g}, their runs",
            mean_text(values, decimals),
            f"their range +- {100 * MARGIN:.0f} %",
            low * (1 - MARGIN) <= mean <= high * (1 + MARGIN),
            WHY.get((scheme, metric), ""),
        )


DESCRIPTION = description_of("verizon-lte")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What can be chosen."""
    add_common_arguments(parser, "reproductions/verizon-lte")
    add_backend_argument(parser)
    add_document_argument(parser)


run = partial(run_reproduction, reproduce)
