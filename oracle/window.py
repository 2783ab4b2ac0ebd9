"""The ideal fixed window of an emulator: start from the BDP, then search around it in the twin.

The objective is `score`: power, ln(throughput) - ln(p95 one-way delay), except that a standing queue of up
to `FREE_QUEUE_MS` costs nothing. Runs are on a host that stalls now and then, as real ones do. Power alone,
on an ideal host, would stop at the BDP, and every stall of a real host would leave the link idle. The windows
published with Indigo were found in real time on real hosts and contain such a reserve too: published.py.
"""

import math
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path

import numpy as np
from ccgym.envs import _core
from ccgym.envs.errors import InputError
from ccgym.envs.logs.flow_metrics import NothingToMeasureError, throughput_and_delay
from ccgym.envs.logs.link_log import LinkLog
from ccgym.envs.specs.emulators import EmulatorSpec
from ccgym.envs.specs.link_spec import DATA_IP_BYTES
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from . import cache

FREE_QUEUE_MS = 4.0
"""Standing queue that the objective does not charge."""
TIE = 0.002
"""Scores that differ by less count as equal; of windows with equal scores the smallest is the best."""
MIN_WINDOW_PACKETS = 2
SEARCH_FACTOR = 2.0
"""The search covers the BDP divided and multiplied by this."""
SEARCH_MARGIN_PACKETS = 8
"""... and so many packets beyond, for links whose BDP is a few packets."""
GRID = 8
"""Windows tried per round; each round then narrows to the neighbours of the best."""
RESOLUTION = 0.005
"""The search ends when neighbouring windows differ by this share of the BDP, or by one packet."""
STALL_PROBABILITY = 0.02
STALL_MAX_MS = 4
"""The host of the search: how often per ms it stalls, and for how long at most."""
STEADY_RUNS = (1, 4.0)
RANDOM_RUNS = (8, 30.0)
"""Runs averaged per window and their length in s: on links that deliver evenly, on random ones."""
WARM_UP_RTTS = 5
"""Runs are measured from here on: the initial burst of a whole window is over by then."""

MOST_WINDOW_PACKETS = 1_000_000
"""What a scheme `fixed:N` takes."""


class OracleWindow(BaseModel):
    """The best fixed window of one emulator, with its throughput and delay there."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    cwnd_packets: int
    bdp_packets: float
    throughput_mbps: float
    """IP bytes, on a host without stalls."""
    p95_delay_ms: float
    """One way, with propagation."""


def find_windows(specs: Sequence[EmulatorSpec], executor: Executor) -> NDArray[np.float64]:
    """The windows of many emulators in packets, (N,), searched for side by side."""
    return np.array([window.cwnd_packets for window in executor.map(find_window, specs)], np.float64)


def find_window(spec: EmulatorSpec) -> OracleWindow:
    """The window of `spec`, from the cache on disk if the same code has searched for it before."""
    kept = cache.load(spec, Path(__file__), OracleWindow)
    if kept is not None:
        return kept
    found = search_window(spec)
    cache.store(spec, Path(__file__), found)
    return found


def path_with_jitter(spec: EmulatorSpec) -> _core.Path:
    """The twin of `spec` with a host that stalls now and then, as in the search."""
    return spec.to_path(stall_probability=STALL_PROBABILITY, stall_max_ms=STALL_MAX_MS)


def bdp_packets(spec: EmulatorSpec) -> float:
    """Mean rate times the round trip of an empty path, in packets.

    >>> from ccgym.envs.specs.emulator_spec import LinkSpec
    >>> spec = EmulatorSpec(name="path", delay_ms=30, uplink=LinkSpec(rate_mbps=12.0))
    >>> round(bdp_packets(spec), 1)
    61.5
    """
    bits: float = 1e6 * spec.uplink.schedule().mean_rate_mbps * 2e-3 * spec.delay_ms
    return bits / (8 * DATA_IP_BYTES)


def refuse_dead(spec: EmulatorSpec) -> None:
    """Raises InputError if a link loses everything, so that no window is better than another."""
    for place, link in (("uplink", spec.uplink), ("downlink", spec.downlink)):
        if link.loss == 1:
            raise InputError(f"{spec.name}: {place}.loss is 1: nothing comes through, so no window is ideal")


def refuse_unsearchable(spec: EmulatorSpec) -> None:
    """Raises InputError where `find_window` would; takes one of its runs, none where it has been searched."""
    if cache.load(spec, Path(__file__), OracleWindow) is None:
        least, _ = _bounds(spec)
        _run_once(_redrawn(spec, 0), least, _runs(spec)[1], 0, jitter=True)


def _bounds(spec: EmulatorSpec) -> tuple[int, int]:
    """The least and the largest window that a search tries."""
    refuse_dead(spec)
    bdp = bdp_packets(spec)
    low = max(MIN_WINDOW_PACKETS, math.floor(bdp / SEARCH_FACTOR))
    high = math.ceil(bdp * SEARCH_FACTOR) + SEARCH_MARGIN_PACKETS
    if high > MOST_WINDOW_PACKETS:
        raise InputError(
            f"{spec.name}: windows of up to {high:,} packets would be searched, expected at most "
            f"{MOST_WINDOW_PACKETS:,}: a lower rate or a shorter delay"
        )
    return low, high


def search_window(spec: EmulatorSpec) -> OracleWindow:
    """Searches coarse to fine around the BDP. Deterministic: chance is averaged over fixed seeds."""
    bdp = bdp_packets(spec)
    low, high = _bounds(spec)
    scores: dict[int, float] = {}
    while True:
        grid = sorted({round(window) for window in np.linspace(low, high, GRID)})
        for window in grid:
            if window not in scores:
                scores[window] = score(spec.delay_ms, *_run(spec, window, jitter=True))
        best = max(grid, key=lambda window: scores[window])
        if high - low <= max(1, RESOLUTION * bdp) * (GRID - 1):
            ideal = min(window for window in scores if scores[window] >= scores[best] - TIE)
            throughput_mbps, p95_delay_ms = _run(spec, ideal, jitter=False)
            return OracleWindow(
                cwnd_packets=ideal,
                bdp_packets=bdp,
                throughput_mbps=throughput_mbps,
                p95_delay_ms=p95_delay_ms,
            )
        place = grid.index(best)
        low, high = grid[max(0, place - 1)], grid[min(len(grid) - 1, place + 1)]


def score(delay_ms: float, throughput_mbps: float, p95_delay_ms: float) -> float:
    """The objective of the search; see the module's docstring."""
    return math.log(throughput_mbps) - math.log(max(p95_delay_ms, delay_ms + FREE_QUEUE_MS))


def _run(spec: EmulatorSpec, window: int, *, jitter: bool) -> tuple[float, float]:
    """Throughput in Mbit/s and p95 one-way delay in ms of a fixed window, averaged over seeds."""
    records, seconds = _runs(spec)
    outcomes = [
        _run_once(_redrawn(spec, seed), window, seconds, seed, jitter=jitter) for seed in range(records)
    ]
    throughputs, delays = zip(*outcomes, strict=True)
    return float(np.mean(throughputs)), float(np.mean(delays))


def _run_once(
    spec: EmulatorSpec, window: int, seconds: float, seed: int, *, jitter: bool
) -> tuple[float, float]:
    path = path_with_jitter(spec) if jitter else spec.to_path()
    warm_up_ms = WARM_UP_RTTS * 2 * spec.delay_ms
    record = _core.simulate(path, f"fixed:{window}", seconds=seconds + warm_up_ms / 1e3, seed=seed)
    log = LinkLog.from_record(record, spec.uplink.schedule())
    warm = log.departure_ms >= warm_up_ms
    warm_log = replace(
        log,
        departure_ms=log.departure_ms[warm],
        departure_bytes=log.departure_bytes[warm],
        departure_delay_ms=log.departure_delay_ms[warm],
    )
    try:
        return throughput_and_delay(warm_log, spec.delay_ms)
    except NothingToMeasureError:
        raise InputError(
            f"{spec.name}: next to nothing comes through in {seconds:g} s: no window is better than another"
        ) from None


def _runs(spec: EmulatorSpec) -> tuple[int, float]:
    """How many for each window, and their length in s."""
    links = (spec.uplink, spec.downlink)
    is_random = any(link.loss > 0 or link.arrivals == "poisson" for link in links)
    return RANDOM_RUNS if is_random else STEADY_RUNS


def _redrawn(spec: EmulatorSpec, seed: int) -> EmulatorSpec:
    """The same emulator with other Poisson arrivals: the window is to suit the link, not one draw of it."""
    links = {"uplink": spec.uplink, "downlink": spec.downlink}
    return spec.model_copy(
        update={
            name: link.model_copy(update={"seed": (link.seed or 0) + seed})
            for name, link in links.items()
            if link.arrivals == "poisson"
        }
    )
