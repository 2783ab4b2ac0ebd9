"""`ccgym score`: the figures of one scheme on a fixed list of links, in seconds."""

import argparse
import json

from ccgym.configs.arguments import add_ray_argument


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds the command to the command line."""
    parser = subparsers.add_parser(
        "score",
        help="one scheme's figures on 60 fixed links, in seconds",
        description="Runs SCHEME for 10 s of virtual time over 60 links that no training has seen. Prints "
        "its log power (mean of ln(throughput / p95 delay), in Mbit/s per ms), its frontier share "
        "(share of the links on which no shipped scheme has both 2 % more throughput and 2 % less p95 "
        "delay), its utilisation, and the links where it is furthest behind the best shipped scheme. A "
        "run in which no packet arrives counts as one packet in 30 s, with a delay of 30 s. A scheme "
        "has the same figures each time, those of `ccgym eval --seconds 10 --seed 1`. It runs in "
        "processes of its own, with 1 GB of memory each; what it prints is not shown. The shipped schemes "
        "run once for each list of links, some 10 s; their figures are kept in ~/.cache/ccgym/score. Exit "
        "code 1: the scheme crashed, raised an exception, or took too much memory or time.",
    )
    parser.add_argument(
        "scheme",
        metavar="SCHEME",
        help="one that runs in the twin, as python:FILE.py:CLASS, so:FILE.so, copa",
    )
    parser.add_argument(
        "--emulators",
        metavar="X,Y,...",
        help="groups and names of `ccgym emulators`, all, random:N, file:PATH "
        "(default: field,pathological,random:47)",
    )
    parser.add_argument(
        "--timeout",
        type=_timeout,
        metavar="S",
        help="end the run after S seconds of real time (default: 60)",
    )
    add_ray_argument(parser)
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.set_defaults(run=run)


def _timeout(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value <= 86400:
        raise argparse.ArgumentTypeError(f"{text[:40]!r} is not a time above 0 and up to 86400 s")
    return value


def run(args: argparse.Namespace) -> int:
    """Runs the scheme and prints its figures."""
    from ccgym.evaluation.score import EMULATORS, TIMEOUT_S, score

    result = score(args.scheme, args.emulators or EMULATORS, args.timeout or TIMEOUT_S, args.ray)
    if args.json:
        print(json.dumps(result.to_json()))
        return 0
    print(
        f"log power {result.log_power:.3f}, frontier share {result.frontier_share:.0%}, "
        f"utilisation {result.utilisation:.0%} on {len(result.links)} links, in {result.seconds:.1f} s"
    )
    width = max(len(link.emulator) for link in result.worst)
    for link in result.worst:
        print(
            f"{link.emulator:{width}}  {link.throughput_mbps:8.2f} Mbit/s  {link.p95_delay_ms:7.1f} ms  "
            f"{link.behind:.2f} behind {link.best}"
        )
    return 0
