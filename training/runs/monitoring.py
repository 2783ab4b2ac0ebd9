"""A policy on the monitored emulators: its windows beside the oracle's, and its curve over preferences."""

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from ccgym.envs import _core
from ccgym.envs.specs.emulators import EmulatorSpec, NamedEmulator
from ccgym.envs.specs.traffic_spec import FlowSpec
from ccgym.oracle.ideal import STEP_MS, ideal_windows
from ccgym.oracle.preference import DEFAULT_PREFERENCE
from ccgym.oracle.window import bdp_packets
from ccgym.training.rollouts import ROLLOUT_SEED, run_measured
from ccgym.training.tasks.sharing import Sharing
from numpy.typing import NDArray

FIXED_BDPS = tuple(np.geomspace(0.6, 4.0, 9).tolist())
"""Fixed windows that a curve is drawn beside."""

Windows = NDArray[np.float64]
Point = tuple[float, float]
"""p95 one-way delay in ms, throughput in Mbit/s."""


@dataclass(frozen=True)
class WindowTrace:
    """One flow's windows in packets, one for each STEP_MS of the rollout."""

    emulator: str
    seconds: Windows
    """Since the rollout began; a flow may begin later and end earlier."""
    policys: Windows
    oracles: Windows
    """The oracle's windows at those times; for flows that share a link, the fair share."""

    @property
    def distance(self) -> float:
        """Mean distance of the windows' logarithms."""
        return float(np.mean(np.abs(np.log(self.policys / self.oracles))))


@dataclass(frozen=True)
class Curves:
    """The trade-off on one emulator, from low delay to full throughput."""

    emulator: str
    preference: list[Point]
    """Of the policy."""
    fixed: list[Point]
    """Of windows that never change."""


def trace_windows(
    policy_file: Path, emulators: Sequence[NamedEmulator], seconds: float, executor: Executor
) -> list[WindowTrace]:
    """The windows of the policy's flows over every emulator, the flows of one emulator together."""
    measured = executor.map(partial(_windows, f"policy:{policy_file}", seconds), emulators)
    return [trace for traces in measured for trace in traces]


def _windows(scheme: str, seconds: float, emulator: NamedEmulator) -> list[WindowTrace]:
    spec = emulator.spec
    own = [flow for flow in spec.flows if flow.scheme is None] or [FlowSpec()]
    others = [flow for flow in spec.flows if flow.scheme is not None]
    flows = [flow.model_copy(update={"scheme": scheme}) for flow in own] + others
    records = _core.simulate(
        spec.to_path(), [flow.to_flow() for flow in flows], seconds=seconds, seed=ROLLOUT_SEED, log=False
    )
    ideal = _ideal_windows(spec, own, others, steps=round(seconds * 1e3 / STEP_MS))
    return [
        WindowTrace(
            emulator.label,
            record.cwnd_ms / 1e3,
            record.cwnd_packets,
            windows[np.minimum(record.cwnd_ms / STEP_MS, len(windows) - 1).astype(np.intp)],
        )
        for record, windows in zip(
            records, ideal, strict=False
        )  # other flows come last and have no ideal window
    ]


def _ideal_windows(
    spec: EmulatorSpec, own: Sequence[FlowSpec], others: Sequence[FlowSpec], steps: int
) -> Windows:
    """The windows of each flow of the policy, (flows, steps)."""
    if not spec.flows:
        return ideal_windows(spec, DEFAULT_PREFERENCE, steps)[None]
    sharing = Sharing(
        np.array([flow.start_s for flow in own]),
        np.array([np.inf if flow.stop_s is None else flow.stop_s for flow in own]),
        np.array([flow.extra_delay_ms for flow in own]),
        others[0].scheme if others else None,
    )
    return sharing.ideal_windows(spec, DEFAULT_PREFERENCE, steps)


def window_metrics(traces: Sequence[WindowTrace]) -> dict[str, float]:
    """How far the windows are from the oracle's, on every emulator."""
    labels = dict.fromkeys(trace.emulator for trace in traces)
    return {
        f"window_distance/{label}": float(
            np.mean([trace.distance for trace in traces if trace.emulator == label])
        )
        for label in labels
    }


def trace_curves(
    policy_file: Path,
    emulators: Sequence[NamedEmulator],
    preferences: Sequence[float],
    seconds: float,
    executor: Executor,
) -> list[Curves]:
    """The curves of every emulator that is not shared, the policy's at so many preferences."""
    alone = [emulator for emulator in emulators if not emulator.spec.flows]
    schemes = [f"policy:{policy_file}:{preference}" for preference in preferences]
    if len(preferences) == 1:
        schemes = [f"policy:{policy_file}"]  # which may take no preference at all
    return list(executor.map(partial(_curves, schemes, seconds), alone))


def _curves(schemes: Sequence[str], seconds: float, emulator: NamedEmulator) -> Curves:
    bdp = bdp_packets(emulator.spec)

    def point(scheme: str) -> Point:
        measured = run_measured(emulator, scheme, seconds)
        return measured.p95_delay_ms, measured.throughput_mbps

    fixed = [point(f"fixed:{max(2.0, bdps * bdp):g}") for bdps in FIXED_BDPS]
    return Curves(emulator.label, [point(scheme) for scheme in schemes], fixed)
