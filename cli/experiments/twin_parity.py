"""`ccgym reproduce twin-parity`: the twin beside real mahimahi."""

import argparse
import json
import os
from dataclasses import asdict
from functools import partial

from .flights import add_flight_arguments, fly, plan_flights

HELP = "the twin beside real mahimahi"
DESCRIPTION = (
    "Flies the same controllers over the same emulators in real mahimahi, and each flight again in the "
    "twin, begun at the same time of its link's schedule. Exit code 1: one of them differs by more than 3 "
    "% of throughput, or 5 % and 2 ms of p95 one-way delay. The last column tells how late the real "
    "shells were over a round trip, from their own logs."
)
EMULATORS = (
    "field,calibrated,synthetic/5mbps-10ms,synthetic/20mbps-40ms,synthetic/50mbps-20ms,"
    "validation/14mbps-30ms,validation/6mbps-poisson,pathological/policer-12mbps-10ms,"
    "pathological/ack-10-per-200ms,pathological/buffer-0.33bdp,"
    "varying/rate-steps,varying/cellular-like"
)
add_arguments = partial(
    add_flight_arguments, emulators=EMULATORS, schemes="fixed:60,reno,copa,indigo2", runs=3
)


def run(args: argparse.Namespace) -> int:
    """Flies what is left in real mahimahi, then the same in the twin."""
    from concurrent.futures import ThreadPoolExecutor

    from ccgym.experiments.parity import compare, parity_lines

    real = fly(args, "mahimahi", args.schemes)
    with ThreadPoolExecutor(os.cpu_count()) as executor:
        rows = compare(plan_flights(args, "mahimahi", args.schemes), real, executor)
    print(json.dumps([asdict(row) for row in rows]) if args.json else "\n".join(parity_lines(rows)))
    return 0 if all(row.agrees for row in rows) else 1
