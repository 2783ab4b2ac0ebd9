"""A scheme beside flows of other kinds: what it gets, what it leaves them, and whether the link is used.

A rival is there first, the scheme comes 5 s later, both stay; the second half of two minutes counts. Links
are drawn from the split `test`: 6 to 300 Mbit/s, 3 to 120 ms one way, droptail queues of 0.5 to 16 BDP, all
log-uniform.
"""

import argparse
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass
from functools import partial

import numpy as np
from ccgym.configs.arguments import add_ray_argument, count
from ccgym.envs import _core
from ccgym.envs.specs.emulators import EmulatorSpec, LinkSpec
from ccgym.envs.specs.splits import Family, Split, split_generator
from ccgym.evaluation.metrics.intervals import Interval, bootstrap_interval, share_interval
from ccgym.evaluation.schemes import select_native
from ccgym.evaluation.sessions.executors import open_executor
from ccgym.experiments.arguments import add_seed_arguments, drawn_seed
from ccgym.experiments.check import Check, all_met
from ccgym.experiments.json_text import json_text

SECONDS = 120.0
COUNTED_S = 60.0
LATE_S = 5.0
BETWEEN_RIVALS_S = 0.3
RATE_MBPS = (6.0, 300.0)
DELAY_MS = (3.0, 120.0)
QUEUE_BDP = (0.5, 16.0)
OPPORTUNITY_BITS = 1504 * 8


@dataclass(frozen=True)
class Rivalry:
    """A kind of rival, and what is wanted beside it."""

    scheme: str
    flows: int
    enough: float
    """Share of the links on which ours has to have its part."""

    @property
    def label(self) -> str:
        """For tables."""
        return self.scheme if self.flows == 1 else f"{self.flows} {self.scheme}"

    def has_part(self, share: float) -> bool:
        """A quarter to three quarters beside one; beside several, half of an equal share at least."""
        return 0.25 <= share <= 0.75 if self.flows == 1 else share >= 0.5 / (self.flows + 1)


RIVALRIES = (
    Rivalry("cubic", 1, 0.85),
    Rivalry("reno", 1, 0.75),
    Rivalry("bbr", 1, 0.75),
    Rivalry("bbr3", 1, 0.75),
    Rivalry("copa", 1, 0.75),
    Rivalry("cubic", 4, 0.8),
)


@dataclass(frozen=True)
class Contested:
    """One link with its rivals on it."""

    emulator: EmulatorSpec
    share: float
    """Of all that was delivered, ours."""
    used: float
    """Of the link."""
    rivals_keep: float
    """Of what they have beside one more flow of their own kind."""


def contested_link(seed: int, number: int) -> EmulatorSpec:
    """The `number`-th link of a seed."""
    generator = split_generator(Split.TEST, Family.CONTESTED_LINK, seed, number)
    rate_mbps, delay_ms, bdps = (
        float(np.exp(generator.uniform(*np.log(bounds)))) for bounds in (RATE_MBPS, DELAY_MS, QUEUE_BDP)
    )
    packets = max(2, round(bdps * rate_mbps * 2e3 * delay_ms / OPPORTUNITY_BITS))
    uplink = LinkSpec(rate_mbps=round(rate_mbps, 3), queue="droptail", packets=packets)
    return EmulatorSpec(name=f"contested-{number}", delay_ms=max(1, round(delay_ms)), uplink=uplink)


def run_contested(scheme: str, rivalry: Rivalry, spec: EmulatorSpec) -> Contested:
    """Two runs: ours as the late-comer, and one more of the rivals' kind in its place."""
    delivered = delivered_packets(scheme, rivalry, spec)
    alike = delivered_packets(rivalry.scheme, rivalry, spec)
    total = sum(delivered)
    possible = (spec.uplink.rate_mbps or 0) * 1e6 * COUNTED_S / OPPORTUNITY_BITS
    return Contested(
        spec,
        share=delivered[-1] / max(1, total),
        used=total / possible,
        rivals_keep=sum(delivered[:-1]) / max(1, sum(alike[:-1])),
    )


def delivered_packets(scheme: str, rivalry: Rivalry, spec: EmulatorSpec) -> list[int]:
    """Packets of each flow in the time that counts, the late-comer's last."""
    flows = [_core.Flow(rivalry.scheme, start_s=BETWEEN_RIVALS_S * i) for i in range(rivalry.flows)]
    flows.append(_core.Flow(scheme, start_s=LATE_S))
    records = _core.simulate(spec.to_path(), flows, seconds=SECONDS, seed=0)
    counted_ms = 1e3 * (SECONDS - COUNTED_S)
    return [int(np.count_nonzero(record.departure_ms >= counted_ms)) for record in records]


def competition_checks(
    scheme: str,
    rivalries: Sequence[Rivalry],
    links: int,
    seed: int,
    executor: Executor,
    say: Callable[[Check], None],
) -> list[Check]:
    """What is wanted beside each kind of rival, told as soon as it is known."""
    specs = [contested_link(seed, number) for number in range(links)]
    checks = []
    for rivalry in rivalries:
        rows = list(executor.map(partial(run_contested, scheme, rivalry), specs))
        checks.append(_check(rivalry, rows))
        say(checks[-1])
    return checks


def _check(rivalry: Rivalry, rows: list[Contested]) -> Check:
    shares = [row.share for row in rows]
    part = sum(rivalry.has_part(share) for share in shares)
    fair = sum(row.rivals_keep >= 0.8 for row in rows)
    mean = bootstrap_interval(shares) or Interval(-np.inf, np.inf)
    promises = [
        share_interval(part, len(rows)).at_least(rivalry.enough),
        share_interval(fair, len(rows)).at_least(0.85),
        float(np.mean([row.used for row in rows])) >= 0.95,
    ]
    wanted = f"its part on {rivalry.enough:.0%} of the links, rivals keep 80 % on 85 %, 95 % used"
    if (rivalry.scheme, rivalry.flows) == ("cubic", 1):
        promises.append(mean.within(0.4, 0.6))
        wanted = f"40 to 60 % in the mean, {wanted}"
    return Check(
        f"beside {rivalry.label}",
        wanted,
        f"{np.mean(shares):.1%} ({mean.low:.1%} to {mean.high:.1%}) of {len(rows)} links in the mean, "
        f"its part on {part / len(rows):.0%}, rivals keep 80 % on {fair / len(rows):.0%}, "
        f"{np.mean([row.used for row in rows]):.1%} used",
        all_met(*promises),
    )


DESCRIPTION = (
    "Runs a scheme in the twin as the late-comer beside flows of other kinds, over links of 6 to 300 "
    "Mbit/s, 3 to 120 ms and 0.5 to 16 BDP of queue, and prints its share of each with 95 % intervals. Its "
    "part should be 25 to 75 % of the link beside one rival, half of an equal share beside several. Exit "
    "code 1: one promise is missed, or its interval does not say, and it is worse than is known."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which scheme, on how many links."""
    parser.add_argument(
        "--scheme", default="indigo2", metavar="A", help="any that runs in the twin (default: indigo2)"
    )
    parser.add_argument("--random", type=count, default=100, metavar="N", help="links (default: 100)")
    add_seed_arguments(parser)
    add_ray_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Runs beside every kind of rival."""
    scheme = select_native(args.scheme)
    drawn = drawn_seed(args)

    def say(check: Check) -> None:
        if not args.json:
            print(check.line, flush=True)

    with open_executor(args.ray) as executor:
        checks = competition_checks(scheme, RIVALRIES, args.random, drawn, executor, say)
    if args.json:
        print(json_text({"seed": drawn, "checks": [asdict(check) for check in checks]}))
    return 0 if all(check.passes for check in checks) else 1
