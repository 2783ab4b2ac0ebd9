"""How flows of a policy share one bottleneck: with each other, with unequal RTTs, and with Cubic."""

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from ccgym.envs import _core
from ccgym.envs.specs.emulators import EmulatorSpec, LinkSpec
from ccgym.envs.specs.link_spec import DATA_IP_BYTES
from ccgym.envs.specs.splits import Family, Split, split_generator
from ccgym.evaluation.metrics.fairness import jain_index
from ccgym.evaluation.metrics.intervals import UNKNOWN, Interval, mean_interval, median_interval
from ccgym.experiments.check import Check, Links, all_met
from ccgym.experiments.link_origin import origin_of
from numpy.typing import NDArray

from .contested_links import next_link, used_share

SECONDS = 120.0
"""Length of a run on the links of `contested_links`, of which the second half counts."""
EARLY_SECONDS = 30.0
"""Length of a run of flows that have just begun."""
RATE_MBPS = 46.0
"""Rate of the link on which flows join, the same in each run."""
JOINING_RUNS = 100
"""Jain's index varies by 0.02 from run to run, so this many runs give its mean to 0.004."""
LATEST_S = 0.2
QUEUE_OF_ONE = 2.5
"""A group may queue at most so many times what one flow queues."""
LEAST_QUEUEING_MS = 1.0
"""Least queueing of one flow that a group is compared with: times in a record are whole ms.

A lone flow of `indigo2` has a p95 of 3 to 7 ms on 40 of these links, so this bound is for other policies.
"""
JOINING_JAIN = 0.95
GROUP_JAIN = 0.97
"""Least wanted means of Jain's index: for flows that join and leave, and for groups that stay."""
UNEQUAL = ((2, 0.95), (8, 0.90))
"""Ratio of the two flows' RTTs, and the least wanted mean of Jain's index."""


def sharing_checks(policy_file: Path, count: int, seed: int, executor: Executor) -> list[Check]:
    """The checks of flows that share one bottleneck; links and times follow from the seed."""
    scheme = f"policy:{policy_file}"
    return [
        _joining(scheme, seed, executor, origin_of(policy_file, [_joined_link()])),
        _against_cubic(scheme, seed, executor, origin_of(policy_file, [_contested_link()])),
        *_groups(scheme, count, seed, executor),
        _early_groups(scheme, count, seed, executor),
        *(_unequal_rtts(scheme, count, seed, executor, times, wanted) for times, wanted in UNEQUAL),
    ]


def _joining(scheme: str, seed: int, executor: Executor, links: Links) -> Check:
    runs = list(executor.map(partial(joining_run, scheme, seed), range(JOINING_RUNS)))
    jain, used = ([run[figure] for run in runs] for figure in (0, 1))
    return Check(
        "ten flows join and leave each second",
        f"Jain >= {JOINING_JAIN} in the mean at >= 95 % of the link",
        f"{_mean_text(jain)} at {np.mean(used):.1%}, {JOINING_RUNS} runs",
        all_met(_interval(jain).at_least(JOINING_JAIN), _interval(used).at_least(0.95)),
        links,
    )


def _interval(values: Sequence[float]) -> Interval:
    return mean_interval(values) or UNKNOWN


def _mean_text(values: Sequence[float]) -> str:
    return _text(float(np.mean(values)), _interval(values))


def _text(figure: float, interval: Interval) -> str:
    return f"{figure:.3f} ({interval.low:.3f} to {interval.high:.3f})"


def joining_run(scheme: str, seed: int, number: int, split: Split = Split.TEST) -> tuple[float, float]:
    """Median of Jain's index, and utilisation: 46 Mbit/s, an RTT of 20 ms and a queue of 1 BDP.

    Ten flows join, one a second, and leave in that order, at another fraction of the second in each run.
    """
    late_s = split_generator(split, Family.TIMES_OF_FLOWS, seed, number).uniform(0, LATEST_S, 10)
    flows = [_core.Flow(scheme, start_s=i + late, stop_s=20.0 + i + late) for i, late in enumerate(late_s)]
    throughputs = _throughputs(_run(_joined_link(), flows, EARLY_SECONDS), EARLY_SECONDS)
    rates = _while_there(throughputs, flows)
    several = np.count_nonzero(np.isfinite(rates), axis=0) > 1
    delivered_packets = throughputs.sum() * 1e6 / (8 * DATA_IP_BYTES)
    return float(np.median(_jain(rates[:, several]))), used_share(delivered_packets, RATE_MBPS, EARLY_SECONDS)


def _against_cubic(scheme: str, seed: int, executor: Executor, links: Links) -> Check:
    shares = list(executor.map(partial(_against_cubic_run, scheme, seed), range(JOINING_RUNS)))
    interval = median_interval(shares) or UNKNOWN
    return Check(
        "against one Cubic in a queue of 2 BDP",
        "25 to 75 % of the link at the median",
        f"{_text(float(np.median(shares)), interval)}, {JOINING_RUNS} runs",
        interval.within(0.25, 0.75),
        links,
    )


def _against_cubic_run(scheme: str, seed: int, number: int) -> float:
    """The policy's share of what it and a Cubic get; they begin a little apart."""
    generator = split_generator(Split.TEST, Family.TIMES_OF_FLOWS, seed, JOINING_RUNS + number)
    late_s = generator.uniform(0, LATEST_S, 2)
    flows = [_core.Flow(scheme, start_s=late_s[0]), _core.Flow("cubic", start_s=late_s[1])]
    rates = _rates(_contested_link(), flows, EARLY_SECONDS)
    return float(np.nansum(rates[0])) / max(1e-9, float(np.nansum(rates)))  # 0 if neither delivers anything


@dataclass(frozen=True)
class Group:
    """Flows of a policy on one link, in the second half of their run."""

    jain: float
    queueing_ms: float
    """p95 of the queueing delay over the packets of all flows."""
    alone_ms: float
    """p95 of the queueing delay of one flow that has the link to itself."""


def _groups(scheme: str, count: int, seed: int, executor: Executor) -> list[Check]:
    groups = list(executor.map(partial(group_case, scheme, seed), range(count)))
    name = f"2 to 16 flows on unseen links, {SECONDS:g} s"
    return [_fair(name, GROUP_JAIN, [group.jain for group in groups]), _group_queue(name, groups)]


def _group_queue(name: str, groups: Sequence[Group]) -> Check:
    times = [group.queueing_ms / group.alone_ms for group in groups]
    interval = _interval(times).clipped(0, np.inf)
    return Check(
        f"queue of {name}",
        f"p95 of the queueing delay <= {QUEUE_OF_ONE:g} x that of one flow alone there, in the mean",
        f"{np.mean(times):.1f} ({interval.low:.1f} to {interval.high:.1f}) x in the mean, "
        f"{np.median(times):.1f} at the median, {len(times)} links",
        interval.at_most(QUEUE_OF_ONE),
        Links.UNSEEN,
    )


def _early_groups(scheme: str, count: int, seed: int, executor: Executor) -> Check:
    jain = list(executor.map(partial(early_group_case, scheme, seed), range(count)))
    return _fair(f"2 to 16 flows on unseen links, {EARLY_SECONDS:g} s", GROUP_JAIN, jain)


def _fair(name: str, wanted: float, jain: Sequence[float]) -> Check:
    return Check(
        name,
        f"Jain >= {wanted:g} in the mean",
        f"{_mean_text(jain)}, {len(jain)} links",
        _interval(jain).at_least(wanted),
        Links.UNSEEN,
    )


def group_case(scheme: str, seed: int, number: int, split: Split = Split.TEST) -> Group:
    """Runs 2 to 16 flows, which begin within 2 s, on a random link, and one flow alone on it."""
    rng = split_generator(split, Family.LINK_OF_A_GROUP, seed, number)
    link = next_link(rng, "shared")
    flows = _group(scheme, rng)
    records, alone = (_run(link, each, SECONDS) for each in (flows, [_core.Flow(scheme)]))
    jain = _late_jain(_while_there(_throughputs(records, SECONDS), flows))
    return Group(jain, _late_queueing_ms(records), _late_queueing_ms(alone))


def early_group_case(scheme: str, seed: int, number: int) -> float:
    """Jain's index of such a group soon after it has begun, on faster links with shorter queues."""
    rng = split_generator(Split.TEST, Family.SHARED_LINK, seed, number)
    rate, round_trip, queue = (
        float(np.exp(rng.uniform(*np.log(r)))) for r in ((8, 150), (10, 120), (0.3, 4))
    )
    link = _droptail(rate, round(round_trip / 2), queue)
    return _late_jain(_rates(link, _group(scheme, rng), EARLY_SECONDS))


def _group(scheme: str, rng: np.random.Generator) -> list[_core.Flow]:
    return [_core.Flow(scheme, start_s=float(rng.uniform(0, 2))) for _ in range(int(rng.integers(2, 17)))]


def _unequal_rtts(scheme: str, count: int, seed: int, executor: Executor, times: int, wanted: float) -> Check:
    jain = list(executor.map(partial(unequal_case, scheme, seed, times), range(count)))
    return _fair(f"two flows on unseen links, one of {times} times the RTT", wanted, jain)


def unequal_case(scheme: str, seed: int, times: int, number: int, split: Split = Split.TEST) -> float:
    """Jain's index of two flows on a random link, one with `times` times the other's RTT."""
    link = next_link(split_generator(split, Family.UNEQUAL_LINK, seed, number), "shared")
    longer = _core.Flow(scheme, extra_delay_ms=float((times - 1) * link.delay_ms))
    return _late_jain(_rates(link, [_core.Flow(scheme), longer], SECONDS))


def _joined_link() -> EmulatorSpec:
    return _droptail(RATE_MBPS, 10, 1.0)


def _contested_link() -> EmulatorSpec:
    return _droptail(RATE_MBPS, 10, 2.0)


def _droptail(rate_mbps: float, delay_ms: int, bdps: float) -> EmulatorSpec:
    packets = max(1, round(bdps * rate_mbps * 2 * delay_ms / 12))
    uplink = LinkSpec(rate_mbps=round(rate_mbps, 3), queue="droptail", packets=packets)
    return EmulatorSpec(name="shared", delay_ms=delay_ms, uplink=uplink)


def _rates(spec: EmulatorSpec, flows: Sequence[_core.Flow], seconds: float) -> NDArray[np.float64]:
    """Mbit/s of every flow in every second, shape (flows, seconds); NaN if a flow is not there throughout."""
    return _while_there(_throughputs(_run(spec, flows, seconds), seconds), flows)


def _run(spec: EmulatorSpec, flows: Sequence[_core.Flow], seconds: float) -> list[_core.FlowRecord]:
    return _core.simulate(spec.to_path(), list(flows), seconds=seconds, seed=0)


def _throughputs(records: Sequence[_core.FlowRecord], seconds: float) -> NDArray[np.float64]:
    """Mbit/s of every flow in every second, shape (flows, seconds)."""
    edges_ms = np.arange(0, seconds + 1) * 1e3
    packets = [np.histogram(record.departure_ms, edges_ms)[0] for record in records]
    return np.array(packets) * DATA_IP_BYTES * 8 / 1e6


def _while_there(throughputs: NDArray[np.float64], flows: Sequence[_core.Flow]) -> NDArray[np.float64]:
    rates = throughputs.copy()
    begins_s = np.arange(rates.shape[1])
    for row, flow in zip(rates, flows, strict=True):
        row[(begins_s < flow.start_s) | (begins_s + 1 > flow.stop_s)] = np.nan
    return rates


def _late_queueing_ms(records: Sequence[_core.FlowRecord]) -> float:
    """p95 in ms of the waits of packets that left the link in the second half; if none did, all of it."""
    half_ms = 1e3 * SECONDS / 2
    delays_ms = [record.departure_delay_ms[record.departure_ms >= half_ms] for record in records]
    queueing_ms = np.concatenate(delays_ms)
    return max(LEAST_QUEUEING_MS, float(np.percentile(queueing_ms, 95)) if len(queueing_ms) else half_ms)


def _late_jain(rates: NDArray[np.float64]) -> float:
    """Jain's index of the mean rates in the second half."""
    late = rates[:, rates.shape[1] // 2 :]
    if np.isnan(late).all(axis=1).any():
        raise ValueError("a flow that is not there in the second half has no share of it")
    return float(_jain(np.nanmean(late, axis=1)[:, None])[0])


def _jain(rates: NDArray[np.float64]) -> NDArray[np.float64]:
    """Jain's index of each column; 0 if flows are there but none delivers, which is no fair share."""
    nothing = np.nansum(rates, axis=0) == 0
    return np.where(nothing, 0.0, jain_index(np.where(nothing, 1.0, rates)))
