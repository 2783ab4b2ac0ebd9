"""`ccgym reproduce ns3-judge`: our loss- and delay-based TCP beside ns-3's."""

import argparse

from ccgym.configs.arguments import seconds

from .judgements import print_judgements

HELP = "our NewReno, Cubic and Vegas beside ns-3's"
DESCRIPTION = (
    "Flies our schemes in the twin, in continuous time, and ns-3's over the same dumbbells; the first "
    "half warms up. Exit code 1: one of ours differs by more than 3 % of throughput or 10 % of mean "
    "queueing delay. Vegas rests with any queue of two to four packets, and where in between is decided "
    "by the end of its slow start. ns-3's LEDBAT is no judge: the bound it sets on its window is the "
    "window itself, so that it never grows after slow start, and without TCP timestamps it flies "
    "NewReno's congestion avoidance."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """How long to fly."""
    parser.add_argument(
        "--seconds", type=seconds, default=120.0, metavar="S", help="of a flow (default: 120)"
    )


def run(args: argparse.Namespace) -> int:
    """Flies every scheme over every dumbbell, in both."""
    from ccgym.bench.ns3_judge import NS3_BOUNDS, judge_by_ns3

    rows = judge_by_ns3(args.seconds)
    heads = {"judge": "ns-3", "delay": "queue ms"}
    print_judgements({"the twin": rows}, NS3_BOUNDS, heads, as_json=args.json)
    return 0 if all(row.agrees(NS3_BOUNDS) for row in rows) else 1
