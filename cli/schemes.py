"""`ccgym schemes`: the congestion-control schemes that can be evaluated."""

import argparse
import json


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds the command to the command line."""
    parser = subparsers.add_parser(
        "schemes",
        help="list the schemes, with kind and source",
        description="Lists the schemes that --schemes knows: NAME, or NAME:ARGUMENT. native: a controller of "
        "this project; policy: a trained network; kernel: TCP of the running kernel, in mahimahi only.",
    )
    parser.add_argument("--json", action="store_true", help="print the list as JSON")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Prints the list."""
    from ccgym.evaluation.schemes import known_schemes

    schemes = known_schemes()
    if args.json:
        print(json.dumps({"schemes": [{**vars(scheme), "kind": scheme.kind.value} for scheme in schemes]}))
        return 0
    names = [scheme.name + (f"[:{scheme.argument}]" if scheme.argument else "") for scheme in schemes]
    width = max(map(len, names))
    for name, scheme in zip(names, schemes, strict=True):
        print(f"{name:{width}}  {scheme.kind.value:6}  {scheme.source}")
    return 0
