"""How well an emulator replicates what was measured: its schemes run in the twin."""

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial

import numpy as np
from ccgym.envs import _core
from ccgym.envs.logs.event_log import Array
from ccgym.envs.logs.link_log import TUN_HEADER_BYTES
from ccgym.envs.specs.emulator_spec import EmulatorSpec

from .candidate import Candidate
from .target import Measured, Target

THROUGHPUT, DELAY, LOSS = range(3)
"""Of the last axis of all figures: Mbit/s, ms, share."""

_NOTHING = (0.0, np.inf, 1.0)
"""A flow that got nothing through."""

LOSS_WEIGHT = 0.05
"""What a relative difference of loss counts beside the published error: enough to part equals."""

_TELLABLE_LOSS = 0.002

_SURE = 0.02
"""A relative standard error at which a figure says half as much as one without any."""

_MEAN_DEVIATION = float(np.sqrt(2 / np.pi))
"""Of a normal distribution: the mean distance from its middle, in standard deviations."""

_WORST = 3.0
"""A relative difference counts at most so much: of one that got nothing through it would be infinite."""


@dataclass(frozen=True)
class Replicator:
    """Runs candidates the way the target was measured."""

    target: Target
    executor: Executor

    def replicate(self, candidate: Candidate, draws: Sequence[int], seconds: float | None = None) -> Array:
        """The figures (draws, schemes, 3); the same draw has the same random numbers for every candidate.

        Args:
            candidate: to be run.
            draws: seeds of arrivals, losses and the place in the schedule.
            seconds: of a run; None: as long as the target's.
        """
        specs = [candidate.spec("candidate").drawn(draw) for draw in draws]
        jobs = [
            (spec, draw, measured.controller)
            for spec, draw in zip(specs, draws, strict=True)
            for measured in self.target.measured
        ]
        length_s = self.target.seconds if seconds is None else seconds
        replicated = list(
            self.executor.map(partial(_replicate_once, self.target, length_s), *zip(*jobs, strict=True))
        )
        return np.array(replicated).reshape(len(draws), len(self.target.measured), 3)


def _replicate_once(
    target: Target, seconds: float, spec: EmulatorSpec, draw: int, controller: str
) -> tuple[float, float, float]:
    """Depends on its arguments only, wherever it runs."""
    flows = [
        _core.Flow(controller, start_s=number * target.interval_s, stop_s=seconds)
        for number in range(target.flows)
    ]
    records = _core.simulate(spec.to_path(), flows, seconds=seconds, seed=draw)
    return _figures(records, spec, at_link=target.at_link)


def _figures(
    records: list[_core.FlowRecord], spec: EmulatorSpec, *, at_link: bool
) -> tuple[float, float, float]:
    """Of all flows together: throughput of what arrived, p95 of its one-way delay, loss."""
    arrived = [
        np.ones(len(record.departure_ms), bool) if at_link else ~np.isnan(record.received_ms)
        for record in records
    ]
    times_ms = np.concatenate([f.departure_ms[got] for f, got in zip(records, arrived, strict=True)])
    if len(times_ms) < 2 or times_ms.min() == times_ms.max():
        return _NOTHING
    delays_ms = np.concatenate([f.departure_delay_ms[got] for f, got in zip(records, arrived, strict=True)])
    sizes = np.concatenate([f.departure_bytes[got] for f, got in zip(records, arrived, strict=True)])
    ip_bytes = int(sizes.sum(dtype=np.int64)) - TUN_HEADER_BYTES * len(sizes)
    sent = sum(record.sent_packets for record in records)
    return (
        8 * ip_bytes / (1000 * float(times_ms.max() - times_ms.min())),
        float(np.percentile(delays_ms, 95, method="nearest")) + float(spec.delay_ms),
        sum(record.lost_packets for record in records) / max(1, sent),
    )


def measured_figures(measured: Sequence[Measured]) -> Array:
    """What was measured (schemes, 3); NaN: a loss that is not known."""
    return np.array(
        [
            [row.throughput_mbps, row.p95_delay_ms, np.nan if row.loss is None else row.loss]
            for row in measured
        ]
    )


def scheme_errors(emulated: Array, measured: Array) -> Array:
    """Of each scheme (..., schemes): the mean of its relative differences of throughput and of p95 delay.

    The published objective; `emulated` (..., draws, schemes, 3) are first averaged over their draws.
    """
    means = emulated.mean(axis=-3)[..., :LOSS]
    differences = np.abs(means / measured[..., :LOSS] - 1)
    errors: Array = np.minimum(differences, _WORST).mean(axis=-1)
    return errors


def loss_differences(emulated: Array, measured: Array) -> Array:
    """Of each scheme (..., schemes): how far its loss is off, relative to what can be told; 0 if unknown."""
    off = np.abs(emulated.mean(axis=-3)[..., LOSS] - measured[..., LOSS])
    relative: Array = np.nan_to_num(off / (measured[..., LOSS] + _TELLABLE_LOSS), nan=0.0)
    return np.minimum(relative, _WORST)


def sureness(measured: Sequence[Measured]) -> Array:
    """How much each figure (schemes, 2) says, 1 on average: less where the runs of a scheme differ by chance.

    Some schemes have two modes over one and the same link, and a mean of three runs that is off by half.
    """
    weights = _SURE / (_SURE + _relative_errors(measured))
    normalised: Array = weights / weights.mean()
    return normalised


def chance_errors(measured: Sequence[Measured]) -> Array:
    """Of each scheme (schemes,): the error to be expected of the path itself, by the spread of its runs.

    No emulator of whatever kind can be expected to have less: the mean of a few runs is off by chance.
    """
    expected: Array = _MEAN_DEVIATION * _relative_errors(measured).mean(axis=1)
    return expected


def _relative_errors(measured: Sequence[Measured]) -> Array:
    """Standard errors of both means (schemes, 2), relative to them; 0 where they are unknown."""
    return np.array(
        [
            [
                (row.throughput_error or 0.0) / row.throughput_mbps,
                (row.delay_error or 0.0) / row.p95_delay_ms,
            ]
            for row in measured
        ]
    )


def scores(emulated: Array, measured: Array, weights: Array) -> Array:
    """Of each scheme (..., schemes): its error, by sureness, and a little of how far its loss is off."""
    means = emulated.mean(axis=-3)[..., :LOSS]
    differences = np.minimum(np.abs(means / measured[..., :LOSS] - 1), _WORST)
    weighed: Array = (weights * differences).mean(axis=-1)
    return weighed + LOSS_WEIGHT * loss_differences(emulated, measured)


def left_out_errors(emulated: Array, measured: Array, weights: Array) -> Array:
    """Of each scheme (schemes,): its error on that candidate which replicates the others best."""
    of_schemes, errors = scores(emulated, measured, weights), scheme_errors(emulated, measured)
    if of_schemes.shape[1] == 1:
        return np.array([np.nan])
    totals = of_schemes.sum(axis=1, keepdims=True) - of_schemes
    found: Array = np.take_along_axis(errors, totals.argmin(axis=0)[None], axis=0)[0]
    return found
