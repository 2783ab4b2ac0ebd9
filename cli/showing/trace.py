"""`ccgym trace`: a generated trace of delivery opportunities, as a file that mm-link and the twin take."""

import argparse
from pathlib import Path

from ccgym.configs.arguments import seconds, seed

ARRIVALS = {
    "constant": "evenly spaced opportunities",
    "poisson": "exponential gaps",
    "markov": "Poisson, at a rate that jumps between several",
    "cellular": "Poisson, at a rate that wanders and has outages, as that of a cellular link",
}

_SPEC_KEYS = ("rate_mbps", "rates_mbps", "mean_stay_ms", "seed", "period_s")


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds the command to the command line."""
    parser = subparsers.add_parser(
        "trace",
        help="generate a trace of delivery opportunities",
        description="Writes a trace file of mahimahi: each line is the time, in ms, of one opportunity to "
        "deliver a 1500-byte packet; after the last line the trace begins anew. The same arguments give "
        "the same file.",
    )
    kinds = parser.add_subparsers(title="kinds", metavar="KIND", dest="kind", required=True)
    for kind, what in ARRIVALS.items():
        _add_kind(kinds.add_parser(kind, help=what, description=f"Writes a trace of {what}."), kind)


def _add_kind(parser: argparse.ArgumentParser, kind: str) -> None:
    if kind == "markov":
        parser.add_argument(
            "--rates-mbps",
            required=True,
            type=_rates,
            metavar="R,S,...",
            help="the rates in Mbit/s, one of them above 0",
        )
        parser.add_argument(
            "--mean-stay-ms", required=True, type=int, metavar="MS", help="mean stay at a rate in ms"
        )
    else:
        parser.add_argument("--rate-mbps", required=True, type=float, metavar="R", help="mean rate in Mbit/s")
    if kind != "constant":
        parser.add_argument(
            "--seed", type=seed, default=1, metavar="S", help="seed of the random trace (default: 1)"
        )
        parser.add_argument(
            "--seconds",
            dest="period_s",
            type=seconds,
            default=60.0,
            metavar="S",
            help="length in s (default: 60)",
        )
    parser.add_argument("--out", required=True, type=Path, metavar="FILE", help="where the trace goes")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Writes the file."""
    from ccgym.envs.errors import InputError
    from ccgym.envs.specs.link_spec import LinkSpec
    from ccgym.envs.specs.spec_errors import first_mistake
    from ccgym.envs.specs.traces import write_trace
    from pydantic import ValidationError

    try:
        link = LinkSpec.model_validate(
            {"arrivals": args.kind, **{key: getattr(args, key) for key in _SPEC_KEYS if hasattr(args, key)}}
        )
    except ValidationError as error:
        raise InputError(first_mistake(error, LinkSpec)) from None
    schedule = link.schedule()
    write_trace(args.out, schedule.opportunities_ms())
    print(f"{args.out}: {schedule.mean_rate_mbps:.4g} Mbit/s, repeats after {schedule.period_ms} ms")
    return 0


def _rates(text: str) -> list[float]:
    try:
        return [float(item) for item in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of numbers with commas between") from None
