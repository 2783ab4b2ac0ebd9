"""`ccgym reproduce kernel-judge`: our Cubic, NewReno and BBR beside the kernel's."""

import argparse
import os
from functools import partial

from .flights import add_flight_arguments, fly
from .judgements import print_judgements

HELP = "our Cubic, NewReno and BBR beside the kernel's"
DESCRIPTION = (
    "Flies our schemes and the kernel's over the same emulators in real mahimahi, and ours in the twin as "
    "well: what differs there is the algorithm's, what differs in mahimahi alone is the host's. Exit code "
    "1: in mahimahi one of ours differs from the kernel's by more than 5 % of throughput or 15 % of p95 "
    "delay."
)
add_arguments = partial(add_flight_arguments, emulators="field,calibrated", schemes="cubic,reno,bbr", runs=1)


def run(args: argparse.Namespace) -> int:
    """Flies what is left of both evaluations, then compares them."""
    from ccgym.envs.errors import InputError
    from ccgym.experiments.judges import KERNEL_BOUNDS, KERNEL_JUDGES, judge_by_kernel

    schemes = args.schemes.split(",")
    for scheme in schemes:
        if scheme not in KERNEL_JUDGES:
            raise InputError(f"--schemes: the kernel has no {scheme!r}; it judges {', '.join(KERNEL_JUDGES)}")
    real = fly(args, "mahimahi", ",".join([*schemes, *(KERNEL_JUDGES[scheme] for scheme in schemes)]))
    tables = {
        "mahimahi": judge_by_kernel(real, real),
        "twin": judge_by_kernel(fly(args, "twin", args.schemes), real),
    }
    heads = {"judge": "kernel", "delay": "p95 ms"}
    print_judgements(tables, KERNEL_BOUNDS, heads, as_json=args.json)
    if not args.json:
        print(f"load of this host in the last 15 minutes: {os.getloadavg()[2]:.1f} on {os.cpu_count()} cores")
    return 0 if all(row.agrees(KERNEL_BOUNDS) for row in tables["mahimahi"]) else 1
