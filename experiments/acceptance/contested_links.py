"""Random links on which a scheme meets other flows, and common parts of the experiments over them.

They are drawn from the split `test`: 6 to 300 Mbit/s, 3 to 120 ms one way, droptail queues of 0.5 to 16 BDP,
all log-uniform.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass

import numpy as np
from ccgym.configs.arguments import add_ray_argument, count
from ccgym.envs.specs import link_spec
from ccgym.envs.specs.emulators import EmulatorSpec, LinkSpec
from ccgym.envs.specs.splits import Family, Split, split_generator
from ccgym.evaluation.schemes import select_native
from ccgym.evaluation.sessions.executors import open_executor
from ccgym.experiments.arguments import add_seed_arguments, drawn_seed
from ccgym.experiments.check import Check
from ccgym.experiments.json_text import json_text
from ccgym.oracle.ideal import PACKETS_PER_OPPORTUNITY

RATE_MBPS = (6.0, 300.0)
DELAY_MS = (3.0, 120.0)
QUEUE_BDP = (0.5, 16.0)
OPPORTUNITY_BITS = 1504 * 8


@dataclass(frozen=True)
class Draw:
    """The links of a seed, their number, and the executor of the runs."""

    links: int
    seed: int
    executor: Executor


def contested_link(seed: int, number: int) -> EmulatorSpec:
    """The `number`-th link of a seed."""
    generator = split_generator(Split.TEST, Family.CONTESTED_LINK, seed, number)
    return next_link(generator, f"contested-{number}")


def next_link(generator: np.random.Generator, name: str) -> EmulatorSpec:
    """The next link of the generator."""
    return link_within(generator, name, (RATE_MBPS, DELAY_MS, QUEUE_BDP))


def link_within(
    generator: np.random.Generator, name: str, bounds: Sequence[tuple[float, float]]
) -> EmulatorSpec:
    """A link of constant rate: Mbit/s, ms one way and droptail queue in BDP, log-uniform within `bounds`."""
    rate_mbps, delay_ms, bdps = (float(np.exp(generator.uniform(*np.log(each)))) for each in bounds)
    packets = max(2, round(bdps * rate_mbps * 2e3 * delay_ms / OPPORTUNITY_BITS))
    uplink = LinkSpec(rate_mbps=round(rate_mbps, 3), queue="droptail", packets=packets)
    return EmulatorSpec(name=name, delay_ms=max(1, round(delay_ms)), uplink=uplink)


def used_share(delivered_packets: float, rate_mbps: float, seconds: float) -> float:
    """Share of a link of constant rate that is used, counted in opportunities.

    An opportunity carries a little more than a packet of data.
    """
    opportunities = rate_mbps * 1e6 * seconds / link_spec.OPPORTUNITY_BITS
    return delivered_packets / (opportunities * PACKETS_PER_OPPORTUNITY)


def add_link_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments: which scheme, and on how many links."""
    parser.add_argument(
        "--scheme", default="indigo2", metavar="A", help="any that runs in the twin (default: indigo2)"
    )
    parser.add_argument("--random", type=count, default=100, metavar="N", help="links (default: 100)")
    add_seed_arguments(parser)
    add_ray_argument(parser)


def run_on_links(args: argparse.Namespace, measure: Callable[[str, Draw], Iterator[Check]]) -> int:
    """Prints every check as soon as it is measured; returns the exit code."""
    scheme = select_native(args.scheme)
    drawn = drawn_seed(args)
    checks = []
    with open_executor(args.ray) as executor:
        for check in measure(scheme, Draw(args.random, drawn, executor)):
            checks.append(check)
            if not args.json:
                print(check.line, flush=True)
    if args.json:
        print(json_text({"seed": drawn, "checks": [asdict(check) for check in checks]}))
    return 0 if all(check.passes for check in checks) else 1
