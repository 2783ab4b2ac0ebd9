"""`ccgym oracle`: the ideal fixed window of an emulator."""

import argparse
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ccgym.envs.specs.emulators import EmulatorSpec


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds the sub-command to the command line."""
    parser = subparsers.add_parser(
        "oracle",
        help="find the ideal window of an emulator",
        description="Finds the ideal fixed congestion window: the BDP, then a search around it in the twin.",
    )
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--emulator", metavar="NAME", help="an emulator (see `ccgym emulators`) or file:PATH")
    which.add_argument("--rate-mbps", metavar="R", type=float, help="rate of a link in Mbit/s")
    parser.add_argument("--delay-ms", metavar="D", type=int, help="its one-way delay in ms, each direction")
    parser.add_argument(
        "--queue-packets", metavar="Q", type=int, help="its droptail queue in packets (default: infinite)"
    )
    parser.add_argument("--loss", metavar="L", type=float, help="its loss probability (default: 0)")
    parser.add_argument("--poisson", action="store_true", help="its delivery opportunities are Poisson")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Runs the sub-command; returns the exit code."""
    from ccgym.oracle.window import find_window

    window = find_window(_spec(args))
    if args.json:
        print(window.model_dump_json())
        return 0
    print(f"ideal window     {window.cwnd_packets} packets")
    print(f"BDP              {window.bdp_packets:.1f} packets")
    print(f"throughput       {window.throughput_mbps:.2f} Mbit/s")
    print(f"p95 one-way delay {window.p95_delay_ms:.0f} ms")
    return 0


def _refuse_options_of_a_link(args: argparse.Namespace) -> None:
    from ccgym.envs.errors import InputError

    given = {
        "--delay-ms": args.delay_ms is not None,
        "--queue-packets": args.queue_packets is not None,
        "--loss": args.loss is not None,
        "--poisson": args.poisson,
    }
    for option, is_given in given.items():
        if is_given:
            raise InputError(f"{option}: goes with --rate-mbps; an emulator has its own: leave it out")


def _spec(args: argparse.Namespace) -> "EmulatorSpec":
    from ccgym.envs.errors import InputError
    from ccgym.envs.specs.emulators import EmulatorSpec, select_emulators
    from ccgym.envs.specs.spec_errors import first_mistake
    from pydantic import ValidationError

    if args.emulator is not None:
        _refuse_options_of_a_link(args)
        selected = select_emulators(args.emulator)
        if len(selected) != 1:
            names = ", ".join(emulator.label for emulator in selected)
            raise InputError(
                f"--emulator {args.emulator}: names {len(selected)} emulators; choose one of {names}"
            )
        return selected[0].spec
    if args.delay_ms is None:
        raise InputError("--rate-mbps needs --delay-ms, the one-way delay in ms")
    uplink = {
        "rate_mbps": args.rate_mbps,
        "loss": args.loss or 0.0,
        "arrivals": "poisson" if args.poisson else "constant",
    }
    if args.queue_packets is not None:
        uplink |= {"queue": "droptail", "packets": args.queue_packets}
    try:
        return EmulatorSpec.model_validate({"name": "link", "delay_ms": args.delay_ms, "uplink": uplink})
    except ValidationError as error:
        raise InputError(first_mistake(error, EmulatorSpec)) from None
