"""Rollouts: the exported policy run in the twin, beside the oracle's window on the same path and seed."""

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from ccgym.envs import _core
from ccgym.envs.errors import InputError
from ccgym.envs.logs.flow_metrics import FlowMetrics, NothingToMeasureError, measure
from ccgym.envs.logs.link_log import LinkLog
from ccgym.envs.specs.emulators import EmulatorSpec, NamedEmulator
from ccgym.oracle.window import path_with_jitter
from numpy.typing import NDArray

ROLLOUT_SEED = 0


@dataclass(frozen=True)
class Rollout:
    """One policy on one emulator: Mbit/s of IP bytes, p95 one-way delay in ms with propagation."""

    emulator: str
    throughput_mbps: float
    p95_delay_ms: float
    oracle_throughput_mbps: float
    oracle_p95_delay_ms: float

    @property
    def relative_throughput(self) -> float:
        """Throughput as a share of the oracle window's."""
        return self.throughput_mbps / self.oracle_throughput_mbps

    @property
    def relative_delay(self) -> float:
        """The p95 delay as a multiple of the oracle window's."""
        return self.p95_delay_ms / self.oracle_p95_delay_ms

    @property
    def regret(self) -> float:
        """The missing share of the oracle's throughput plus the excess over its delay, as a share of that."""
        return max(0.0, 1 - self.relative_throughput) + max(0.0, self.relative_delay - 1)


def make_rollouts(
    policy_file: Path,
    emulators: Sequence[NamedEmulator],
    windows: NDArray[np.float64],
    seconds: float,
    executor: Executor,
    *,
    jitter: bool = False,
) -> list[Rollout]:
    """Runs the policy in `policy_file` once over every emulator, with `jitter` on a host that stalls."""

    def rollout(emulator: NamedEmulator, window: float) -> Rollout:
        ours = run_measured(emulator, f"policy:{policy_file}", seconds, jitter=jitter)
        return beside_oracle(
            emulator, ours.throughput_mbps, ours.p95_delay_ms, window, seconds, jitter=jitter
        )

    return list(executor.map(rollout, emulators, windows))


def beside_oracle(
    emulator: NamedEmulator,
    throughput_mbps: float,
    p95_delay_ms: float,
    window: float,
    seconds: float,
    *,
    jitter: bool,
) -> Rollout:
    """The figures of one rollout, beside those of the oracle's window on the same path."""
    oracles = _run_window(emulator, window, seconds, jitter=jitter)
    return Rollout(
        emulator.label, throughput_mbps, p95_delay_ms, oracles.throughput_mbps, oracles.p95_delay_ms
    )


def mean_regret(rollouts: Sequence[Rollout]) -> float:
    """Mean regret on the validation emulators, with and without stalls: the best checkpoint has the least."""
    return float(np.mean([rollout.regret for rollout in rollouts]))


def run_measured(
    emulator: NamedEmulator, scheme: str, seconds: float, *, jitter: bool = False, seed: int = ROLLOUT_SEED
) -> FlowMetrics:
    """One rollout of a scheme in the twin, over the seed's draw of the path."""
    return run_as_drawn(emulator.spec.drawn(seed), scheme, seconds, jitter=jitter, seed=seed)


def run_as_drawn(
    spec: EmulatorSpec, scheme: str, seconds: float, *, jitter: bool = False, seed: int = ROLLOUT_SEED
) -> FlowMetrics:
    """One rollout of a scheme in the twin, over the path as `spec` has it; `seed` is its losses'.

    Raises:
        InputError: next to nothing leaves the link.
    """
    path = path_with_jitter(spec) if jitter else spec.to_path()
    record = _core.simulate(path, scheme, seconds=seconds, seed=seed)
    try:
        return measure(LinkLog.from_record(record, spec.uplink.schedule()), spec.delay_ms)
    except NothingToMeasureError as error:
        raise InputError(
            f"{spec.name}: {error}, in {seconds:g} s: leave the link out, or run longer over it"
        ) from None


@cache
def _run_window(emulator: NamedEmulator, window: float, seconds: float, *, jitter: bool) -> FlowMetrics:
    return run_measured(emulator, f"fixed:{window:g}", seconds, jitter=jitter)


def rollout_metrics(rollouts: Sequence[Rollout]) -> dict[str, float]:
    """The figures of every emulator under the names they have in TensorBoard."""
    return {
        f"{quantity}/{rollout.emulator}": getattr(rollout, quantity)
        for quantity in ("throughput_mbps", "p95_delay_ms", "relative_throughput", "relative_delay")
        for rollout in rollouts
    }


def summarise(rollouts: Sequence[Rollout]) -> str:
    """One line of text: mean and worst figures relative to the oracle windows."""
    return _beside_oracle(
        [rollout.relative_throughput for rollout in rollouts],
        [rollout.relative_delay for rollout in rollouts],
    )


def summarise_groups(metrics: Mapping[str, float]) -> list[str]:
    """The same line for every group of emulators, from the metrics of `rollout_metrics`."""
    figures = [
        (name.split("/")[1], share, metrics[name.replace("throughput", "delay", 1)])
        for name, share in metrics.items()
        if name.startswith("relative_throughput/")
    ]
    lines = []
    for group in dict.fromkeys(group for group, _, _ in figures):
        throughputs, delays = zip(*[row[1:] for row in figures if row[0] == group], strict=True)
        lines.append(f"{group} ({len(delays)}): {_beside_oracle(throughputs, delays)}")
    return lines


def _beside_oracle(throughputs: Sequence[float], delays: Sequence[float]) -> str:
    return (
        f"{np.mean(throughputs):.3f} (worst {min(throughputs):.3f}) of the oracle's throughput "
        f"at {np.mean(delays):.3f} (worst {max(delays):.3f}) x its p95 delay"
    )
