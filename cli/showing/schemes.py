"""`ccgym schemes`: the schemes that can be evaluated; some are built on demand; any can be checked."""

import argparse
import json


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds the command to the command line."""
    parser = subparsers.add_parser(
        "schemes",
        help="list the schemes, with kind and source; install those built on demand; check one",
        description="Lists the schemes that --schemes knows: NAME, or NAME:ARGUMENT. native: a controller of "
        "this project; policy: a trained network; python, library: a controller of your own; kernel: TCP of "
        "the running kernel; quic: a real QUIC implementation; pantheon: of a Pantheon "
        "checkout. The last three run in real time only.",
    )
    parser.add_argument("--json", action="store_true", help="print the list as JSON")
    parser.set_defaults(run=run)
    verbs = parser.add_subparsers(metavar="VERB")
    install = verbs.add_parser(
        "install",
        help="build a scheme that is not part of ccgym",
        description="Builds the QUIC programs with cargo, from crates.io, into ~/.cache/ccgym: minutes, once "
        "for all of them. Exit code 1: cargo failed.",
    )
    install.add_argument("scheme", metavar="NAME", help="quic-cubic, quic-copa or quic-bbr")
    install.set_defaults(run=run_install)
    check = verbs.add_parser(
        "check",
        help="check a controller against what every controller promises",
        description="Runs SCHEME for 25 s of virtual time over each of five random networks, which lose, "
        "reorder and delay its packets and fall silent, under an application that pauses. Says which "
        "promise it broke, when and how. SCHEME runs in a process of its own, with 1 GB of memory. Exit "
        "code 1: a promise is broken.",
    )
    check.add_argument(
        "scheme", metavar="SCHEME", help="one that runs in the twin, as python:FILE.py:CLASS, so:FILE.so"
    )
    check.add_argument("--json", action="store_true", help="print the promises as JSON")
    check.set_defaults(run=run_check)


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
        print(f"{name:{width}}  {scheme.kind.value:8}  {scheme.source}")
    return 0


def run_check(args: argparse.Namespace) -> int:
    """Prints every promise, and whether it is kept."""
    from ccgym.evaluation.promises import check_scheme

    promises = check_scheme(args.scheme)
    if args.json:
        print(json.dumps({"scheme": args.scheme, "promises": [vars(promise) for promise in promises]}))
    else:
        for promise in promises:
            state = "BROKEN" if promise.breach else "unknown" if promise.unchecked else "kept"
            reason = promise.breach or promise.unchecked
            print(f"{state:8} {promise.text}" + (f": {reason}" if reason else ""))
    return 1 if any(promise.breach for promise in promises) else 0


def run_install(args: argparse.Namespace) -> int:
    """Builds, and shows what is being compiled: a line that changes on a terminal, plain lines elsewhere."""
    from ccgym.deploy import quic
    from ccgym.envs.errors import InputError, did_you_mean, excerpt
    from ccgym.envs.host.progress_bar import progress_console

    if args.scheme not in quic.ALGORITHMS:
        known, near = ", ".join(quic.ALGORITHMS), did_you_mean(args.scheme, quic.ALGORITHMS)
        raise InputError(
            f"{excerpt(args.scheme)!r} is no scheme that is installed on demand{near}; known: {known}"
        )
    if quic.is_installed():
        print(f"{args.scheme} is installed: {quic.folder()}")
        return 0
    console = progress_console(stderr=True)
    done = 0

    def report(crate: str) -> None:
        nonlocal done
        done += 1
        status.update(f"compiling {crate}, crate {done}")
        if not console.is_terminal:
            console.print(f"compiling {crate}, crate {done}", markup=False)

    with console.status(f"building {quic.CRATE} {quic.VERSION}") as status:
        quic.install(report)
    print(f"{args.scheme} is installed: {quic.folder()}")
    return 0
