"""Our schemes in the twin beside published figures of the same schemes."""

import argparse
import os
from concurrent.futures import Executor
from dataclasses import asdict, dataclass
from functools import cache
from statistics import mean

from ccgym.configs.arguments import add_ray_argument
from ccgym.envs import _core
from ccgym.envs.logs.flow_metrics import FlowMetrics, measure
from ccgym.envs.logs.link_log import LinkLog
from ccgym.envs.specs.emulators import select_emulators
from ccgym.evaluation.sessions.executors import open_executor
from ccgym.experiments.evaluations import SEED
from ccgym.experiments.json_text import json_text

from .published_figures import PUBLISHED, Published, Range

SECONDS = 30.0
RUNS = 5
THROUGHPUT_MARGIN = 0.15
"""Margins: single runs over Poisson and cellular links differ by as much."""
DELAY_MARGIN = 0.15


@dataclass(frozen=True)
class PublishedRow:
    """One scheme on one emulator; ours are means over the runs."""

    published: Published
    mbps: float
    p95_delay_ms: float

    @property
    def throughput_distance(self) -> float:
        """Distance from the range of published figures, as a share of the nearest; 0 within the range."""
        return _distance(self.mbps, self.published.mbps)

    @property
    def delay_distance(self) -> float:
        """The same for the delay; 0 if no delay was published."""
        theirs = self.published.p95_delay_ms
        return 0.0 if theirs is None else _distance(self.p95_delay_ms, theirs)

    @property
    def agrees(self) -> bool:
        """Whether both distances are within the margins."""
        return abs(self.throughput_distance) <= THROUGHPUT_MARGIN and abs(self.delay_distance) <= DELAY_MARGIN


class PublishedComparison:
    """Runs every scheme and emulator of the published figures, once each."""

    def __init__(self, executor: Executor, seed: int) -> None:
        self._executor = executor
        self._seed = seed

    def rows(self) -> list[PublishedRow]:
        """A row for each published figure on an emulator that can be run."""
        return list(self._executor.map(self._row, [row for row in PUBLISHED if _can_run(row.emulator)]))

    def _row(self, published: Published) -> PublishedRow:
        records = [_run(published.scheme, published.emulator, self._seed + run) for run in range(RUNS)]
        return PublishedRow(
            published,
            mean(record.throughput_mbps for record in records),
            mean(record.p95_delay_ms for record in records),
        )


def _can_run(emulator: str) -> bool:
    """Whether the emulator can be run here: recorded traces are not part of ccgym."""
    return not emulator.startswith("cellular/") or "CCGYM_TRACES" in os.environ


@cache
def _run(scheme: str, emulator: str, seed: int) -> FlowMetrics:
    spec = select_emulators(emulator)[0].spec
    record = _core.simulate(spec.to_path(), scheme, seconds=SECONDS, seed=seed)
    return measure(LinkLog.from_record(record, spec.uplink.schedule()), spec.delay_ms)


def _distance(figure: float, published: Range) -> float:
    nearest = min(max(figure, published[0]), published[1])
    return figure / nearest - 1


def published_lines(rows: list[PublishedRow]) -> list[str]:
    """The table of the emulators as text."""
    lines = [
        f"{'emulator':30}{'scheme':9}"
        f"{'Mbit/s':>8}{'published':>14}{'':>8}{'p95 ms':>8}{'published':>12}{'':>8}  source"
    ]
    for row in rows:
        theirs = row.published
        lines.append(
            f"{theirs.emulator:30}{theirs.scheme:9}"
            f"{row.mbps:8.2f}{_text(theirs.mbps, 2):>14}{row.throughput_distance:+8.0%}"
            f"{row.p95_delay_ms:8.0f}{_text(theirs.p95_delay_ms, 0):>12}{row.delay_distance:+8.0%}"
            f"  {theirs.source}" + ("" if row.agrees else "; differs")
        )
    return [*lines, f"{sum(row.agrees for row in rows)} of {len(rows)} agree"]


def _text(figures: Range | None, digits: int) -> str:
    if figures is None:
        return "-"
    return "-".join(f"{figure:.{digits}f}" for figure in dict.fromkeys(figures))


DESCRIPTION = (
    "Runs our schemes in the twin over the emulators on which others have measured the same. "
    "Exit code 1: on one of them throughput or p95 delay is further than 15 % "
    "from the range of theirs. With CCGYM_TRACES the recorded cellular links are run as well."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds no arguments: schemes and emulators are those with published figures."""
    add_ray_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Runs every scheme that has figures."""
    with open_executor(args.ray) as executor:
        rows = PublishedComparison(executor, SEED).rows()
    if args.json:
        print(json_text({"emulators": [asdict(row) for row in rows]}))
    else:
        print("\n".join(published_lines(rows)))
    return 0 if all(row.agrees for row in rows) else 1
