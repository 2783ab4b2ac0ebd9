"""Jain's index of ten flows that join a link one after the other and leave it in reverse order.

They run in the twin or in real mahimahi. One flow instead of ten shows the scheme alone.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from ccgym.envs import _core
from ccgym.envs.logs.event_log import Array
from ccgym.envs.outside_files import make_folder, replace_file
from ccgym.envs.specs.emulator_spec import EmulatorSpec, LinkSpec
from ccgym.evaluation.backends.backend import PlannedFlow
from ccgym.evaluation.backends.mahimahi_backend import MahimahiBackend
from ccgym.evaluation.metrics.fairness import jain_index
from ccgym.evaluation.run_files import RunFiles
from ccgym.evaluation.schemes import select_schemes
from numpy.typing import NDArray

FLOWS = 10
SINGLE_S = 10.0
WINDOW_MS = 100
"""Window over which throughputs are taken for the index."""


@dataclass(frozen=True)
class Condition:
    """One link, and how flows join it."""

    name: str
    figures: str
    """The figures of the document that show it."""

    spacing_s: float = 1.0
    rate_mbps: float = 46.0
    rtt_ms: int = 20
    bdps: float = 1.0
    extra_ms: float = 0.0
    """By how much the last flow's RTT exceeds the first's; those of the others lie between."""

    single: bool = False
    timing: str = "mahimahi"

    @property
    def seconds(self) -> float:
        """Length of the run: all flows join, then all leave."""
        return SINGLE_S if self.single else 2 * FLOWS * self.spacing_s

    @property
    def flows(self) -> list[tuple[float, float]]:
        """Start and length of each flow, in s; the last to join leaves first."""
        if self.single:
            return [(0.0, self.seconds)]
        starts_s = [index * self.spacing_s for index in range(FLOWS)]
        return [(start_s, self.seconds - 2 * start_s) for start_s in starts_s]

    @property
    def file_name(self) -> str:
        """The condition's name, as part of a path."""
        return self.name.replace(" ", "-").replace("/", "-")


Runner = Callable[[Condition, str, int], NDArray[np.float64]]
"""Condition, scheme and run -> bytes of each flow that left the link in each ms, shape (flows, ms)."""


def run_in_twin(condition: Condition, scheme: str, seed: int) -> NDArray[np.float64]:
    """Runs all flows of one scheme in virtual time; see `Runner`."""
    path = _spec(condition).to_path()
    controller = select_schemes(scheme)[0].controller
    flows = [
        _core.Flow(
            controller, start_s=start_s, stop_s=start_s + seconds,
            extra_delay_ms=round(condition.extra_ms / 2 * index / (FLOWS - 1)),
        )
        for index, (start_s, seconds) in enumerate(condition.flows)
    ]  # fmt: skip
    records = _core.simulate(path, flows, seconds=condition.seconds, seed=seed)
    return _delivered([(each.departure_ms, each.departure_bytes) for each in records], condition.seconds)


def run_in_shells(condition: Condition, name: str, run: int, folder: Path) -> NDArray[np.float64]:
    """The same in real mahimahi; runs are kept in `folder`."""
    (scheme,) = select_schemes(name)
    files = RunFiles(folder / condition.file_name, scheme.label, run)
    version = hashlib.sha256(scheme.fingerprint().encode()).hexdigest()[:8]
    kept = files.measured.with_suffix(f".{version}.npy")
    if not kept.exists():
        make_folder(files.folder)
        flows = [PlannedFlow(scheme, *each) for each in condition.flows]
        logs = MahimahiBackend().run(_spec(condition), flows, run, files)
        begun_ms = min(log.arrival_ms[0] for log in logs)
        left = [(log.departure_ms - begun_ms, log.departure_bytes) for log in logs]
        delivered = _delivered(left, condition.seconds)
        replace_file(kept, lambda fresh: _save(fresh, delivered))
    found: NDArray[np.float64] = np.load(kept)
    return found


def _save(path: Path, values: NDArray[np.float64]) -> None:
    with path.open("wb") as stream:
        np.save(stream, values)


def _delivered(left: Sequence[tuple[Array, Array]], seconds: float) -> NDArray[np.float64]:
    """Bytes of each flow that left the link, in bins of 1 ms, from times and sizes."""
    edges_ms = np.arange(0, seconds * 1000 + 1)
    return np.stack([np.histogram(times_ms, edges_ms, weights=sizes)[0] for times_ms, sizes in left])


def jain_over_time(condition: Condition, delivered: NDArray[np.float64]) -> NDArray[np.float64]:
    """Jain's index over the last WINDOW_MS, for every ms with at least two flows."""
    smooth = np.apply_along_axis(np.convolve, 1, delivered, np.ones(WINDOW_MS), "valid")
    at_ms = np.arange(smooth.shape[1]) + WINDOW_MS
    begin_ms, seconds = 1000 * np.array(condition.flows).T[:, :, None]
    there = (at_ms - WINDOW_MS >= begin_ms) & (at_ms <= begin_ms + seconds)
    shared = (there.sum(axis=0) > 1) & ((smooth * there).sum(axis=0) > 0)
    jain: NDArray[np.float64] = jain_index(np.where(there, smooth, np.nan)[:, shared])
    return jain


def share_of_link(condition: Condition, delivered: NDArray[np.float64]) -> float:
    """All bytes delivered as a share of what the link can deliver in that time."""
    mbps = float(delivered.sum()) * 8e-3 / len(delivered[0])
    return mbps / condition.rate_mbps


def _spec(condition: Condition) -> EmulatorSpec:
    packets = max(1, round(condition.bdps * condition.rate_mbps * condition.rtt_ms / 12))
    uplink = LinkSpec(rate_mbps=condition.rate_mbps, queue="droptail", packets=packets)
    fields = {
        "name": "shared", "delay_ms": condition.rtt_ms // 2, "uplink": uplink, "timing": condition.timing,
    }  # fmt: skip
    return EmulatorSpec.model_validate(fields)
