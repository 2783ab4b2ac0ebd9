"""`ccgym bench`: what ccgym costs on this machine, beside a yardstick measured in the same minutes."""

import argparse
import json
from importlib import import_module

from ccgym.configs.arguments import count

SUBJECTS = ("schemes", "twin", "env", "sender", "tunnel")
"""Each is a module of ccgym.bench with `cases(rounds) -> Iterator[Case]`."""


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds the command to the command line."""
    parser = subparsers.add_parser(
        "bench",
        help="measure speed beside a yardstick",
        description="Measures speed in rounds that take every figure in turn, and prints medians. "
        "Times are processor time, on which other work has little effect; still, a quiet machine is better.",
    )
    parser.add_argument(
        "subjects", nargs="*", metavar="SUBJECT", help=f"{', '.join(SUBJECTS)} (default: all of them)"
    )
    parser.add_argument(
        "--rounds", type=count, default=5, metavar="N", help="measurements of each (default: 5)"
    )
    parser.add_argument("--json", action="store_true", help='print {"cases": [...]} at the end')
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Prints every case as it is measured."""
    from ccgym.envs.errors import InputError, did_you_mean, excerpt

    cases = []
    for subject in args.subjects:  # all of them, before the first is measured
        if subject not in SUBJECTS:
            near = did_you_mean(subject, SUBJECTS)
            raise InputError(f"unknown subject {excerpt(subject)!r}{near}; known: {', '.join(SUBJECTS)}")
    for subject in args.subjects or SUBJECTS:
        for case in import_module(f"ccgym.bench.{subject}").cases(args.rounds):
            cases.append(case.as_json())
            if not args.json:
                print(_line(case.as_json()), flush=True)
    if args.json:
        print(json.dumps({"cases": cases}))
    return 0


def _line(case: dict[str, object]) -> str:
    line = f"{case['case']:44} {case['value']:12,.4g} {case['unit']}"
    if case["ratio"] is not None:
        return f"{line}, {case['ratio']:.3g} x {case['yardstick']} ({case['yardstick_value']:,.4g})"
    return f"{line}, beside it: {case['yardstick']}" if case["yardstick"] else line
