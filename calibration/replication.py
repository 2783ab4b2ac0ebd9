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
"""Indices of the last axis of all figures: Mbit/s, ms, share."""

_NOTHING = (0.0, np.inf, 1.0)
"""Figures of a flow that got nothing through."""

LOSS_WEIGHT = 0.05
"""Weight of a relative difference of loss beside the published error: enough to break ties."""

_TELLABLE_LOSS = 0.002

_SURE = 0.02
"""Relative standard error at which a figure has half the weight of one without any."""

_MEAN_DEVIATION = float(np.sqrt(2 / np.pi))
"""Mean absolute deviation of a normal distribution, in standard deviations."""

_WORST = 3.0
"""Cap of a relative difference: that of a flow that got nothing through would be infinite."""


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
    """Figures of all flows together: throughput received, p95 one-way delay, loss."""
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
    """The measured figures (schemes, 3); NaN: an unknown loss."""
    return np.array(
        [
            [row.throughput_mbps, row.p95_delay_ms, np.nan if row.loss is None else row.loss]
            for row in measured
        ]
    )


def scheme_errors(emulated: Array, measured: Array) -> Array:
    """Error of each scheme (..., schemes): the mean of the relative differences of throughput and p95 delay.

    This is the published objective; `emulated` (..., draws, schemes, 3) is first averaged over its draws.
    """
    means = emulated.mean(axis=-3)[..., :LOSS]
    differences = np.abs(means / measured[..., :LOSS] - 1)
    errors: Array = np.minimum(differences, _WORST).mean(axis=-1)
    return errors


def loss_differences(emulated: Array, measured: Array) -> Array:
    """Relative difference of the loss of each scheme (..., schemes); 0 if unknown."""
    off = np.abs(emulated.mean(axis=-3)[..., LOSS] - measured[..., LOSS])
    relative: Array = np.nan_to_num(off / (measured[..., LOSS] + _TELLABLE_LOSS), nan=0.0)
    return np.minimum(relative, _WORST)


def sureness(measured: Sequence[Measured]) -> Array:
    """Weight of each figure (schemes, 2), 1 on average: lower where the runs of a scheme vary.

    Some schemes have two modes over the same link, and a mean of three runs may be off by half.
    """
    weights = _SURE / (_SURE + _relative_errors(measured))
    normalised: Array = weights / weights.mean()
    return normalised


def chance_errors(measured: Sequence[Measured]) -> Array:
    """Error of each scheme (schemes,) that is to be expected from the spread of its runs alone.

    No emulator can be expected to have a smaller one: the mean of a few runs is off by chance.
    """
    expected: Array = _MEAN_DEVIATION * _relative_errors(measured).mean(axis=1)
    return expected


def _relative_errors(measured: Sequence[Measured]) -> Array:
    """Relative standard errors of both means (schemes, 2); 0 if unknown."""
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
    """Score of each scheme (..., schemes): its weighted error, and a little of that of its loss."""
    means = emulated.mean(axis=-3)[..., :LOSS]
    differences = np.minimum(np.abs(means / measured[..., :LOSS] - 1), _WORST)
    weighed: Array = (weights * differences).mean(axis=-1)
    return weighed + LOSS_WEIGHT * loss_differences(emulated, measured)


def left_out_errors(emulated: Array, measured: Array, weights: Array) -> Array:
    """Error of each scheme (schemes,) on the candidate that replicates the other schemes best."""
    of_schemes, errors = scores(emulated, measured, weights), scheme_errors(emulated, measured)
    if of_schemes.shape[1] == 1:
        return np.array([np.nan])
    totals = of_schemes.sum(axis=1, keepdims=True) - of_schemes
    found: Array = np.take_along_axis(errors, totals.argmin(axis=0)[None], axis=0)[0]
    return found
