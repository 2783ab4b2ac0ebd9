"""`ccgym new`: writes a folder to start one's own controller from."""

import argparse
from pathlib import Path


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds the command to the command line."""
    parser = subparsers.add_parser(
        "new",
        help="write a template to start from",
        description="Writes a template to start from.",
    )
    kinds = parser.add_subparsers(metavar="KIND", required=True)
    controller = kinds.add_parser(
        "controller",
        help="a congestion controller in C or Python, with its test",
        description="Writes the folder NAME: a controller (AIMD, to be replaced), its test and a README; in "
        "C also the Makefile and the header ccgym/controller.h. `ccgym schemes check`, `ccgym score` and "
        "`ccgym eval` run it as so:NAME.so or python:NAME.py:CLASS.",
    )
    controller.add_argument("name", metavar="NAME", help="its name: lower-case letters, digits, _")
    controller.add_argument(
        "--language", choices=("c", "python"), default="c", help="its language (default: c)"
    )
    controller.add_argument(
        "--out", type=Path, default=Path(), metavar="DIR", help="the folder NAME goes there (default: here)"
    )
    controller.set_defaults(run=run_controller)


def run_controller(args: argparse.Namespace) -> int:
    """Writes the folder."""
    from ccgym.deploy.new_controller import write_controller

    print(write_controller(args.name, args.language, args.out))
    return 0
