"""Completion times of short flows, alone and beside one long Cubic, against Cubic flows in their place.

On each link, FLOWS flows of one size begin one after the other, at random times. The measure is the 95th
percentile of their completion times, divided by that of as many Cubic flows with the same sizes and starts.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from ccgym.envs import _core
from ccgym.envs.specs.emulators import EmulatorSpec
from ccgym.envs.specs.splits import Family, Split, split_generator
from ccgym.evaluation.metrics.intervals import share_interval
from ccgym.experiments.check import Check, Links
from numpy.typing import NDArray

from .contested_links import Draw, add_link_arguments, contested_link, run_on_links

RIVAL = "cubic"
KILOBYTES = (15, 150, 1500)
FLOWS = 40
FIRST_S = 5.0
BETWEEN_S = (1.0, 5.0)
AFTER_S = 60.0
"""Time for the last flow to end; a flow that has not ended by then counts as this long."""
PERCENTILE = 95
ENOUGH = 0.8
"""Of the links."""


@dataclass(frozen=True)
class ShortFlows:
    """Flows of one size, alone or beside a long one."""

    kilobytes: int
    beside_long: bool

    @property
    def label(self) -> str:
        """The name in tables."""
        others = f"beside one long {RIVAL}" if self.beside_long else "alone"
        return f"short flows of {self.kilobytes} kB, {others}"


CASES = tuple(ShortFlows(kilobytes, beside) for beside in (False, True) for kilobytes in KILOBYTES)


def ratio_to_rival(scheme: str, case: ShortFlows, seed: int, number: int) -> float:
    """The scheme's 95th percentile of completion times on the `number`-th link, divided by Cubic's."""
    generator = split_generator(Split.TEST, Family.SHORT_FLOWS, seed, number)
    starts_s = FIRST_S + np.cumsum(generator.uniform(*BETWEEN_S, FLOWS))
    spec = contested_link(seed, number)
    ours, theirs = (_completion_ms(each, case, spec, starts_s) for each in (scheme, RIVAL))
    return ours / theirs


def _completion_ms(scheme: str, case: ShortFlows, spec: EmulatorSpec, starts_s: NDArray[np.float64]) -> float:
    flows = [_core.Flow(scheme, start_s=start_s, bytes=1000 * case.kilobytes) for start_s in starts_s]
    if case.beside_long:
        flows.append(_core.Flow(RIVAL))
    records = _core.simulate(spec.to_path(), flows, seconds=starts_s[-1] + AFTER_S, seed=0, log=False)
    times_ms = [
        record.completion_ms[0] if len(record.completion_ms) else 1e3 * AFTER_S for record in records[:FLOWS]
    ]
    return float(np.percentile(times_ms, PERCENTILE, method="higher"))


def completion_checks(cases: Sequence[ShortFlows], scheme: str, draw: Draw) -> Iterator[Check]:
    """The checks of each size."""
    for case in cases:
        ratio = partial(ratio_to_rival, scheme, case, draw.seed)
        yield _check(case, list(draw.executor.map(ratio, range(draw.links))))


def _check(case: ShortFlows, ratios: Sequence[float]) -> Check:
    no_longer = sum(ratio <= 1 for ratio in ratios)
    interval = share_interval(no_longer, len(ratios))
    return Check(
        case.label,
        f"p95 of completion no longer than {RIVAL}'s on {ENOUGH:.0%} of the links",
        f"{no_longer / len(ratios):.0%} ({interval.low:.0%} to {interval.high:.0%}) of {len(ratios)} links; "
        f"{np.median(ratios):.2f} x {RIVAL}'s at the median",
        interval.at_least(ENOUGH),
        Links.UNSEEN,
    )


DESCRIPTION = (
    "Runs short flows of a scheme in the twin, alone and beside one long Cubic, over the links of "
    "competition, and sets their completion times beside those of Cubic flows in their place. Exit code 1: "
    "one promise is missed, or its interval does not say, and it is worse than is known."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments: which scheme, and on how many links."""
    add_link_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Runs every size, alone and beside the long flow."""
    return run_on_links(args, partial(completion_checks, CASES))
