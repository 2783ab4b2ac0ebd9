"""`ccgym export`: a trained policy becomes a scheme that flies by itself."""

import argparse
from pathlib import Path

from ccgym.configs.arguments import preference


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds the command to the command line."""
    parser = subparsers.add_parser(
        "export",
        help="make a trained policy a scheme",
        description="Writes the scheme folder NAME/ with the policy, the native sender and receiver and a "
        "wrapper that honours Pantheon's contract: it needs neither Python packages nor this project.",
    )
    parser.add_argument(
        "policy_or_run", metavar="RUN", type=Path, help="run directory of `ccgym train`, or policy file"
    )
    parser.add_argument("--name", required=True, help="of the scheme: letters, digits and underscores")
    parser.add_argument(
        "--out",
        metavar="DIR",
        type=Path,
        help="folder to put NAME/ in (default: here, unless --pantheon is given)",
    )
    parser.add_argument(
        "--pantheon", metavar="DIR", type=Path, help="Pantheon checkout to install the scheme in"
    )
    parser.add_argument(
        "--preference",
        metavar="X",
        type=preference,
        help="where the scheme's dial stands, from 0, low delay, to 1, full throughput (default: as in the "
        "policy, 0.5 as trained); a flow may start elsewhere: NAME.py sender IP PORT X",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Exports, and prints what was written."""
    from ccgym.deploy.export import export_scheme

    out = args.out or (Path() if args.pantheon is None else None)
    written = export_scheme(
        args.policy_or_run, args.name, out=out, pantheon=args.pantheon, preference=args.preference
    )
    for wrapper in written:
        print(f"wrote {wrapper}")
    return 0
