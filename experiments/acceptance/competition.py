"""A scheme beside flows of other kinds: its share, what the rivals keep, and whether the link is used.

The rivals begin first and the scheme 5 s later. With Cubic there are two more cases: both begin together, or
the Cubic begins 20 s after the scheme. No flow ends early, and the second half of the two minutes counts.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from ccgym.envs import _core
from ccgym.envs.specs.emulators import EmulatorSpec
from ccgym.evaluation.metrics.intervals import UNKNOWN, mean_interval, share_interval
from ccgym.experiments.check import Check, Links, all_met

from .contested_links import Draw, add_link_arguments, contested_link, run_on_links, used_share

SECONDS = 120.0
COUNTED_S = 60.0
LATE_S = 5.0
AHEAD_S = 20.0
"""After so long without a rival, a flow that watches for rivals takes itself for alone on the link."""
BETWEEN_RIVALS_S = 0.3
FIRST_BY_MS = 0.05
"""Below mahimahi's clock of 1 ms, so it decides only whose packets come first within each millisecond."""


@dataclass(frozen=True)
class Rivalry:
    """A kind of rival, and what is wanted of the scheme beside it."""

    scheme: str
    flows: int
    enough: float
    """Share of the links on which the scheme has to have its part."""
    comes_first: bool = False
    """Whether the rival's packets come first in each ms, as a kernel's before a program's in real mahimahi.

    At a full queue the scheme's packets are lost then (traffic phase effects). One more flow of the rival's
    kind in the scheme's place would nearly starve as well, so what the rivals keep beside it is no measure.
    """
    late_s: float = LATE_S
    """How much later than the first rival the scheme begins; below 0: earlier."""

    @property
    def label(self) -> str:
        """The name in tables."""
        kind = self.scheme if self.flows == 1 else f"{self.flows} {self.scheme}"
        if self.comes_first:
            return f"{kind} that comes first in each ms"
        if self.late_s > 0:
            return kind
        return f"{kind} that comes {-self.late_s:g} s later" if self.late_s else f"{kind} that begins with it"

    def has_part(self, share: float) -> bool:
        """Whether a share is enough: 1/4 to 3/4 beside one rival, half an equal share beside several."""
        return 0.25 <= share <= 0.75 if self.flows == 1 else share >= 0.5 / (self.flows + 1)


RIVALRIES = (
    Rivalry("cubic", 1, 0.85),
    Rivalry("cubic", 1, 0.85, late_s=0.0),
    Rivalry("cubic", 1, 0.85, late_s=-AHEAD_S),
    Rivalry("reno", 1, 0.75),
    Rivalry("bbr", 1, 0.75),
    Rivalry("bbr3", 1, 0.75),
    Rivalry("copa", 1, 0.75),
    Rivalry("cubic", 4, 0.8),
    Rivalry("cubic", 1, 0.85, comes_first=True),
)


@dataclass(frozen=True)
class Contested:
    """The result of a scheme and its rivals on one link."""

    emulator: EmulatorSpec
    share: float
    """The scheme's share of all delivered packets."""
    used: float
    """Share of the link that is used."""
    rivals_keep: float
    """What the rivals have, as a share of what they have beside one more flow of their own kind."""


def run_contested(scheme: str, rivalry: Rivalry, spec: EmulatorSpec) -> Contested:
    """Runs the rivals twice: with the scheme, and with one more flow of their own kind in its place."""
    delivered = delivered_packets(scheme, rivalry, spec)
    alike = delivered_packets(rivalry.scheme, rivalry, spec)
    total = sum(delivered)
    return Contested(
        spec,
        share=delivered[-1] / max(1, total),
        used=used_share(total, spec.uplink.rate_mbps or 0, COUNTED_S),
        rivals_keep=sum(delivered[:-1]) / max(1, sum(alike[:-1])),
    )


def delivered_packets(
    scheme: str, rivalry: Rivalry, spec: EmulatorSpec, seconds: float = SECONDS, counted_s: float = COUNTED_S
) -> list[int]:
    """Packets of each flow in the last COUNTED_S of the run; the scheme's flow is the last."""
    first_s = max(0.0, -rivalry.late_s)
    flows = [_core.Flow(rivalry.scheme, start_s=first_s + BETWEEN_RIVALS_S * i) for i in range(rivalry.flows)]
    extra_ms = FIRST_BY_MS if rivalry.comes_first else 0.0
    flows.append(_core.Flow(scheme, start_s=first_s + rivalry.late_s, extra_delay_ms=extra_ms))
    records = _core.simulate(spec.to_path(), flows, seconds=seconds, seed=0)
    counted_ms = 1e3 * (seconds - counted_s)
    return [int(np.count_nonzero(record.departure_ms >= counted_ms)) for record in records]


def competition_checks(rivalries: Sequence[Rivalry], scheme: str, draw: Draw) -> Iterator[Check]:
    """The checks beside each kind of rival."""
    specs = [contested_link(draw.seed, number) for number in range(draw.links)]
    for rivalry in rivalries:
        yield _check(rivalry, list(draw.executor.map(partial(run_contested, scheme, rivalry), specs)))


def _check(rivalry: Rivalry, rows: list[Contested]) -> Check:
    shares = [row.share for row in rows]
    part = sum(rivalry.has_part(share) for share in shares)
    fair = sum(row.rivals_keep >= 0.8 for row in rows)
    mean = mean_interval(shares) or UNKNOWN
    used = float(np.mean([row.used for row in rows]))
    one_cubic = (rivalry.scheme, rivalry.flows) == ("cubic", 1)
    bounds = "25 to 75 %" if rivalry.flows == 1 else "half of an equal share"
    wanted = [
        "40 to 60 % of the link in the mean" if one_cubic else "",
        f"{bounds} on {rivalry.enough:.0%} of the links",
        "" if rivalry.comes_first else "rivals keep 80 % on 85 %",
        "95 % used",
    ]
    measured = [
        f"{np.mean(shares):.1%} ({mean.low:.1%} to {mean.high:.1%}) in the mean of {len(rows)} links",
        f"{bounds} on {part / len(rows):.0%}",
        "" if rivalry.comes_first else f"rivals keep 80 % on {fair / len(rows):.0%}",
        f"{used:.1%} used",
    ]
    return Check(
        f"beside {rivalry.label}",
        ", ".join(filter(None, wanted)),
        ", ".join(filter(None, measured)),
        all_met(
            mean.within(0.4, 0.6) if one_cubic else True,
            share_interval(part, len(rows)).at_least(rivalry.enough),
            True if rivalry.comes_first else share_interval(fair, len(rows)).at_least(0.85),
            used >= 0.95,
        ),
        Links.UNSEEN,
    )


DESCRIPTION = (
    "Runs a scheme in the twin beside flows of other kinds, over links of 6 to 300 Mbit/s, 3 to 120 ms and "
    "0.5 to 16 BDP of queue, and prints its share of each with 95 % intervals. The others come 5 s before "
    "it; a Cubic also with it, and 20 s after it. Its part should be 25 to 75 % of the link beside one "
    "rival, half of an equal share beside several. Exit code 1: one promise is missed, or its interval does "
    "not say, and it is worse than is known."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments: which scheme, and on how many links."""
    add_link_arguments(parser)


def run(args: argparse.Namespace) -> int:
    """Runs the scheme beside every kind of rival."""
    return run_on_links(args, partial(competition_checks, RIVALRIES))
