"""`ccgym reproduce kernel-cross-validation`: our Cubic, NewReno and BBR beside the kernel's."""

import argparse
import os
from collections.abc import Iterator
from functools import partial
from statistics import median

from ccgym.envs.errors import InputError
from ccgym.evaluation.metrics.results import Evaluation
from ccgym.experiments.arguments import add_evaluation_arguments
from ccgym.experiments.evaluations import evaluate

from .comparison import Bounds, Comparison, print_comparisons

KERNEL_REFERENCES = {"cubic": "kernel-cubic", "reno": "kernel-reno", "bbr": "kernel-bbr"}
"""Our schemes, and the kernel's implementation with which each is compared."""
KERNEL_BOUNDS = Bounds(throughput_share=0.05, delay_share=0.15)


def compare_with_kernel(ours: Evaluation, kernels: Evaluation) -> list[Comparison]:
    """Compares medians over the runs, for every emulator on which both schemes of a pair ran."""
    measured, references = dict(_medians(ours)), dict(_medians(kernels))
    return [
        Comparison(emulator, scheme, mbps, reference_mbps, delay_ms, reference_delay_ms)
        for (emulator, scheme), (mbps, delay_ms) in measured.items()
        if (reference := references.get((emulator, KERNEL_REFERENCES.get(scheme, "")))) is not None
        for reference_mbps, reference_delay_ms in [reference]
    ]


def _medians(evaluation: Evaluation) -> Iterator[tuple[tuple[str, str], tuple[float, float]]]:
    for scenario in evaluation.scenarios:
        for scheme in evaluation.schemes:
            flows = [flow.metrics for flow in scenario.flows if flow.scheme == scheme]
            if flows:
                rates_mbps, delays_ms = zip(*(flow.compared for flow in flows), strict=True)
                yield (scenario.label, scheme), (median(rates_mbps), median(delays_ms))


DESCRIPTION = (
    "Runs our schemes and the kernel's over the same emulators in real mahimahi, and ours in the twin as "
    "well: what differs there is the algorithm's, what differs in mahimahi alone is the host's. Exit code "
    "1: in mahimahi one of ours differs from the kernel's by more than 5 % of throughput or 15 % of p95 "
    "delay."
)

add_arguments = partial(
    add_evaluation_arguments, emulators="field,calibrated", schemes="cubic,reno,bbr", runs=1
)


def run(args: argparse.Namespace) -> int:
    """Runs what is left of both evaluations, then compares them."""
    schemes = args.schemes.split(",")
    for scheme in schemes:
        if scheme not in KERNEL_REFERENCES:
            raise InputError(
                f"--schemes: the kernel has no {scheme!r}; it has {', '.join(KERNEL_REFERENCES)}"
            )
    real = evaluate(
        args, "mahimahi", ",".join([*schemes, *(KERNEL_REFERENCES[scheme] for scheme in schemes)])
    )
    tables = {
        "mahimahi": (compare_with_kernel(real, real), KERNEL_BOUNDS),
        "twin": (compare_with_kernel(evaluate(args, "twin", args.schemes), real), KERNEL_BOUNDS),
    }
    heads = {"reference": "kernel", "delay": "p95 ms"}
    print_comparisons(tables, heads, as_json=args.json)
    if not args.json:
        print(f"load of this host in the last 15 minutes: {os.getloadavg()[2]:.1f} on {os.cpu_count()} cores")
    rows = tables["mahimahi"][0]
    return 0 if rows and all(row.agrees(KERNEL_BOUNDS) for row in rows) else 1
