"""`ccgym reproduce tunnel-transparency`: kernel TCP inside and outside of the tunnel."""

import argparse
import json
from dataclasses import asdict, replace
from functools import partial

from .flights import add_flight_arguments, plan_flights

HELP = "kernel TCP inside and outside of the tunnel, in real mahimahi"
DESCRIPTION = (
    "Flies kernel TCP inside and outside of the tunnel in turns, in real mahimahi, and compares "
    "throughput and p95 delay, as mm-link saw them, by the two-sample Kolmogorov-Smirnov test. Exit code "
    "1: one of them differs (p < 0.2)."
)
add_arguments = partial(add_flight_arguments, emulators="field", schemes="kernel-cubic,kernel-bbr", runs=20)


def run(args: argparse.Namespace) -> int:
    """Flies what is left of both, then compares them."""
    from ccgym.evaluation.sessions.flying import fly_in_turns
    from ccgym.experiments.transparency import compare, transparency_lines

    outside = plan_flights(args, "mahimahi", args.schemes)
    inside = replace(outside, tunnel=True)
    folders = (args.out / "outside", args.out / "inside")
    fly_in_turns([(outside, folders[0]), (inside, folders[1])])
    rows = compare(outside, folders[0], inside, folders[1])
    print(json.dumps([asdict(row) for row in rows]) if args.json else "\n".join(transparency_lines(rows)))
    return 0 if rows and all(row.agrees for row in rows) else 1
