"""`ccgym replay`: the twin against a log of the real mm-link, packet by packet."""

import argparse
import json
import re
from pathlib import Path

from ccgym.configs.arguments import seed

QUEUE_ARGUMENT = re.compile(r"(packets|bytes|target|interval|qdelay_ref|max_burst)=(\d{1,9})")


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds the command to the command line."""
    parser = subparsers.add_parser(
        "replay",
        help="feed the arrivals of a real mm-link log to the twin and compare every departure",
        description="Feeds the arrivals of LOG to the twin's link and compares every departure (ms, bytes, "
        "delay in ms). Queue and arguments are those in the log's header unless given. "
        "Exit code 0: no mismatch, 1: a mismatch.",
    )
    parser.add_argument("log", metavar="LOG", type=Path, help="log of one direction of mm-link, any version")
    parser.add_argument(
        "--trace", required=True, type=Path, metavar="FILE", help="the trace file the link ran"
    )
    parser.add_argument("--queue", metavar="KIND", help="infinite, droptail, drophead, codel or pie")
    parser.add_argument(
        "--queue-args",
        type=_queue_arguments,
        metavar="ARGS",
        help="as for mm-link: packets=N,bytes=N; codel also target=MS,interval=MS; "
        "pie also qdelay_ref=MS,max_burst=MS",
    )
    parser.add_argument(
        "--seed", type=seed, default=0, help="seed of a pie queue's random drops (default: 0)"
    )
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Prints how many departures differ, and the first that does."""
    from ccgym.envs.errors import InputError
    from ccgym.envs.logs.link_log import QueueSettings, read_link_log
    from ccgym.envs.logs.replay import replay_log

    if args.queue_args is not None and args.queue is None:
        raise InputError("--queue-args needs --queue")
    queue = None if args.queue is None else QueueSettings(args.queue, args.queue_args or {})
    result = replay_log(read_link_log(args.log), args.trace, queue, args.seed)
    if args.json:
        print(json.dumps(vars(result)))
    else:
        print(
            f"{result.arrivals} arrivals, {result.departures} departures, {result.mismatches} mismatches; "
            f"never departed: {result.undelivered}, in the twin {result.twin_undelivered}; "
            f"{result.opportunities} opportunities, {result.opportunity_mismatches} mismatches"
        )
        if result.first_mismatch is not None:
            print(f"first: {result.first_mismatch}")
    return 0 if result.mismatches == 0 and result.opportunity_mismatches == 0 else 1


def _queue_arguments(text: str) -> dict[str, int]:
    items = [QUEUE_ARGUMENT.fullmatch(item.strip()) for item in text.split(",")]
    if not all(items):
        raise argparse.ArgumentTypeError(
            f"{text!r} is not packets=N, bytes=N, target=MS, interval=MS, qdelay_ref=MS or max_burst=MS, "
            "with commas between"
        )
    return {item[1]: int(item[2]) for item in items if item}
