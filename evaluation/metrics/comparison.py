"""Compares data directories: differences between runs of the same scheme over the same scenario.

Run k of a scenario has the same draw of the network in every evaluation of one seed, so runs are paired by
their number. Of throughput and p95 delay ratios are taken, and averaged as logarithms.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from ccgym.envs.errors import InputError
from ccgym.envs.logs.flow_metrics import FlowMetrics
from ccgym.envs.outside_files import absolute

from .intervals import FEWEST_PAIRS, Interval, mean_interval
from .results import Evaluation, load_evaluation

MOST_NAMED = 5
"""The most scenarios that an error names."""


@dataclass(frozen=True, order=True)
class Place:
    """A scenario, by what identifies it in several data directories."""

    emulator: str
    """The emulator's label; for a directory of Pantheon's, its shells or its path."""
    backend: str


Runs = dict[tuple[Place, str, int], FlowMetrics]
"""Figures of runs by scenario, scheme and number; all flows of a run together."""


@dataclass(frozen=True)
class Effect:
    """A mean of paired differences."""

    mean: float
    interval: Interval | None
    """None: there is only one pair."""


@dataclass(frozen=True)
class Change:
    """The changes of a scheme from the first directory to another one."""

    other: str
    """The other directory's name."""
    scheme: str
    place: Place | None
    """None: over all scenarios that both directories have."""
    pairs: int
    """Number of pairs: of runs, or of scenarios if it is over all of these."""
    throughput: Effect
    """ln of the ratio."""
    p95_delay: Effect
    """ln of the ratio."""
    loss: Effect
    """Difference."""
    log_power: Effect
    """Difference; above 0: the other directory is better."""

    def is_clear(self, effect: Effect) -> bool:
        """Whether the interval of `effect`, one of this change, excludes 0 and comes from enough pairs."""
        interval = effect.interval if self.pairs >= FEWEST_PAIRS else None
        return interval is not None and (interval.low > 0 or interval.high < 0)


_SETTINGS = {
    "seconds": "the lengths in seconds differ",
    "flows": "the numbers of flows differ",
    "interval": "the seconds between flows differ",
    "tunnel": "not all are through tunnels",
}
"""Settings of a session that are reported if they differ."""


@dataclass(frozen=True)
class Comparison:
    """Two or more data directories, the first of which is compared with each other one."""

    names: list[str]
    overall: list[Change]
    by_place: list[Change]
    only_in: dict[str, list[str]]
    """Runs of each directory without a partner: `emulator, backend, scheme: N runs`."""
    remarks: list[str]


def compare(folders: Sequence[Path]) -> Comparison:
    """Reads the data directories and pairs the runs of the first with those of each other one.

    Raises:
        InputError: a folder is no data directory, or has no run in common with the first.
    """
    if len({absolute(folder) for folder in folders}) < max(2, len(folders)):
        raise InputError("compare takes two or more different data directories")
    names = _names(folders)
    evaluations = dict(zip(names, map(load_evaluation, folders), strict=True))
    runs = {name: _runs(evaluation) for name, evaluation in evaluations.items()}
    first, *others = names
    overall, by_place = [], []
    for other in others:
        both = [key for key in runs[first] if key in runs[other]]
        if not both:
            raise InputError(
                f"{first} and {other} have no run in common: the one has {_what(runs[first])}, "
                f"the other {_what(runs[other])}"
            )
        pairs: dict[str, dict[Place, list[_Pair]]] = defaultdict(lambda: defaultdict(list))
        for place, scheme, number in both:
            key = (place, scheme, number)
            pairs[scheme][place].append(_pair(runs[first][key], runs[other][key]))
        for scheme, places in pairs.items():
            by_place += [_change(other, scheme, place, of_place) for place, of_place in places.items()]
            overall.append(_overall(other, scheme, list(places.values())))
    return Comparison(
        names, overall, by_place, {name: _only_in(name, runs) for name in names}, _remarks(evaluations)
    )


def _remarks(evaluations: dict[str, Evaluation]) -> list[str]:
    """Differences between the sessions by which runs of one number are not pairs."""
    remarks = []
    seeds = {name: evaluation.session.get("seed") for name, evaluation in evaluations.items()}
    if len(set(seeds.values())) > 1:
        told = _told(seeds)
        remarks.append(f"the seeds differ ({told}): runs of one number met other draws of the network")
    for key, words in _SETTINGS.items():
        values = {name: evaluation.session.get(key) for name, evaluation in evaluations.items()}
        if len(set(values.values()) - {None}) > 1:  # Pantheon's metadata may lack some
            remarks.append(f"{words} ({_told(values)}): runs of one number are no pairs")
    return [*remarks, *_changed_links(evaluations)]


def _told(values: dict[str, Any]) -> str:
    return ", ".join(f"{name}: {'none' if value is None else value}" for name, value in values.items())


def _changed_links(evaluations: dict[str, Evaluation]) -> list[str]:
    """Remarks on links that changed but kept their names; unknown for old evaluations and Pantheon's."""
    first, *others = (
        (name, evaluation.session.get("digests", {})) for name, evaluation in evaluations.items()
    )
    return [
        f"{label} is another link in {name} than in {first[0]}: its runs are no pairs"
        for name, digests in others
        for label, digest in digests.items()
        if first[1].get(label, digest) != digest
    ]


def _names(folders: Sequence[Path]) -> list[str]:
    short = [absolute(folder).name for folder in folders]
    return short if len(set(short)) == len(short) else [str(folder) for folder in folders]


def _runs(evaluation: Evaluation) -> Runs:
    ours = "backend" in evaluation.session
    return {
        (
            Place(scenario.label if ours else scenario.description, scenario.backend),
            run.scheme,
            run.run,
        ): run.total
        for scenario in evaluation.scenarios
        for run in scenario.runs
    }


def _what(runs: Runs) -> str:
    seen = dict.fromkeys(f"{scheme} over {place.emulator} ({place.backend})" for place, scheme, _ in runs)
    more = f" and {len(seen) - MOST_NAMED} more" if len(seen) > MOST_NAMED else ""
    return ", ".join(list(seen)[:MOST_NAMED]) + more


@dataclass(frozen=True)
class _Pair:
    throughput: float
    p95_delay: float
    loss: float

    @property
    def log_power(self) -> float:
        return self.throughput - self.p95_delay


def _pair(before: FlowMetrics, after: FlowMetrics) -> _Pair:
    (throughput_before, delay_before), (throughput_after, delay_after) = before.compared, after.compared
    return _Pair(
        math.log(throughput_after / throughput_before),
        math.log(delay_after / delay_before),
        after.loss - before.loss,
    )


def _change(other: str, scheme: str, place: Place | None, pairs: Sequence[_Pair]) -> Change:
    def effect(name: str) -> Effect:
        values = [float(getattr(pair, name)) for pair in pairs]
        return Effect(float(np.mean(values)), mean_interval(values))

    effects = (effect("throughput"), effect("p95_delay"), effect("loss"), effect("log_power"))
    return Change(other, scheme, place, len(pairs), *effects)


def _overall(other: str, scheme: str, places: list[list[_Pair]]) -> Change:
    """The effect over scenarios, each with the mean of its runs; over the runs if there is one scenario."""
    if len(places) == 1:
        return _change(other, scheme, None, places[0])
    return _change(other, scheme, None, [_mean(pairs) for pairs in places])


def _mean(pairs: list[_Pair]) -> _Pair:
    throughput, p95_delay, loss = np.mean(
        [[each.throughput, each.p95_delay, each.loss] for each in pairs], axis=0
    )
    return _Pair(float(throughput), float(p95_delay), float(loss))


def _only_in(name: str, runs: dict[str, Runs]) -> list[str]:
    alone: dict[tuple[Place, str], int] = defaultdict(int)
    for key in runs[name]:
        if not all(key in others for others in runs.values()):
            alone[key[0], key[1]] += 1
    return [
        f"{place.emulator}, {place.backend}, {scheme}: {count} {'run' if count == 1 else 'runs'}"
        for (place, scheme), count in alone.items()
    ]


def percent(effect: Effect) -> str:
    """The text of a ratio's effect: `+3.1 % (+1.0 to +5.2)`."""
    return _text(effect, lambda value: 100 * math.expm1(value), " %", 1)


def points(effect: Effect) -> str:
    """The text of a share's effect, in percentage points."""
    return _text(effect, lambda value: 100 * value, "", 2)


def plain(effect: Effect) -> str:
    """The text of a difference."""
    return _text(effect, float, "", 3)


def _text(effect: Effect, convert: Callable[[float], float], unit: str, decimals: int) -> str:
    mean = f"{convert(effect.mean):+.{decimals}f}{unit}"
    if effect.interval is None:
        return mean
    low, high = (f"{convert(bound):+.{decimals}f}" for bound in (effect.interval.low, effect.interval.high))
    return f"{mean} ({low} to {high})"


def verdict(change: Change) -> str:
    """The verdict of the interval of the log power."""
    if change.pairs < FEWEST_PAIRS:
        return f"fewer than {FEWEST_PAIRS} pairs: no verdict"
    if not change.is_clear(change.log_power):
        return "no clear change"
    return "better" if change.log_power.mean > 0 else "worse"
