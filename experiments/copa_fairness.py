"""Figure 4 of the Copa paper (NSDI 2018, section 5.1) in the twin: flows that come and go share one link.

46 Mbit/s, 20 ms RTT, a queue of one BDP; a flow joins every second for ten seconds, then one leaves every
second, the last to come first.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median

import numpy as np
from ccgym.envs import _core
from ccgym.envs.specs.emulator_spec import LinkSpec
from ccgym.evaluation.metrics.fairness import jain_index

RATE_MBPS = 46.0
DELAY_MS = 10
QUEUE_PACKETS = 77
FLOWS = 10
SECONDS = 2 * FLOWS
BIN_MS = 100
RUNS = 5
"""Schemes that draw differ by 0.2 from one run to the next."""
PUBLISHED = {
    "copa": (0.93, 0.97),
    "cubic": (0.88, 0.90),
    "bbr": (0.61, 0.73),
    "allegro": (0.60, 0.81),
    "vivace": (0.60, 0.81),
}
"""Medians of the paper and of its reproduction by Birnbaum and El-Yabroudi (Stanford, 2018), lower first; of
PCC both flew what its authors had released by then."""


@dataclass(frozen=True)
class FairnessRow:
    """One scheme with itself, ten times."""

    scheme: str
    median_jain: float
    """Over bins of BIN_MS in which two flows or more share the link."""
    utilisation: float
    published: tuple[float, float]

    @property
    def agrees(self) -> bool:
        """Within the published medians, to 0.02: they are given to two digits, and differ by 0.02 to 0.12."""
        lowest, highest = self.published
        return lowest - 0.02 <= self.median_jain <= highest + 0.02


def fairness_rows(seed: int) -> Iterator[FairnessRow]:
    """A row for each scheme with published figures: medians over the runs."""
    for scheme, published in PUBLISHED.items():
        runs = [_delivered_bytes(scheme, seed + run) for run in range(RUNS)]
        utilisation = median(float(run.sum()) * 8e-6 / SECONDS / RATE_MBPS for run in runs)
        yield FairnessRow(scheme, median(map(_median_jain, runs)), utilisation, published)


def _median_jain(delivered: np.ndarray) -> float:
    shares = np.where(_flies(delivered.shape[1]), delivered, np.nan)
    shared = np.sum(~np.isnan(shares), axis=0) > 1
    return float(np.median(jain_index(shares[:, shared])))


def _delivered_bytes(scheme: str, seed: int) -> np.ndarray:
    """Shape (FLOWS, bins)."""
    link = LinkSpec(rate_mbps=RATE_MBPS, queue="droptail", packets=QUEUE_PACKETS)
    path = _core.Path(DELAY_MS, link.to_link(), link.mirrored().to_link())
    flows = [_core.Flow(scheme, start_s=index, stop_s=SECONDS - index) for index in range(FLOWS)]
    edges_ms = np.arange(0, SECONDS * 1000 + 1, BIN_MS)
    return np.stack(
        [
            np.histogram(flight.departure_ms, edges_ms, weights=flight.departure_bytes)[0]
            for flight in _core.fly(path, flows, seconds=SECONDS, seed=seed)
        ]
    )


def _flies(bins: int) -> np.ndarray:
    """Whether a flow sends in a bin, shape (FLOWS, bins)."""
    middle_s = (np.arange(bins) + 0.5) * BIN_MS / 1000
    index = np.arange(FLOWS)[:, None]
    return (index <= middle_s) & (middle_s < SECONDS - index)


def fairness_lines(rows: list[FairnessRow]) -> list[str]:
    """The table, for people."""
    lines = [f"{'scheme':8}{'median Jain':>14}{'published':>14}{'utilisation':>14}"]
    for row in rows:
        published = f"{row.published[0]:.2f}-{row.published[1]:.2f}"
        lines.append(
            f"{row.scheme:8}{row.median_jain:14.3f}{published:>14}{row.utilisation:14.1%}"
            + ("" if row.agrees else "  differs")
        )
    return lines
