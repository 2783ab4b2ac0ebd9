"""Checks of a policy on fixed links: those of its training, recorded ones, and ones chosen by hand.

Each link is run in several draws; see `drawn_runs`.
"""

import os
from collections.abc import Sequence
from concurrent.futures import Executor
from pathlib import Path

import numpy as np
from ccgym.envs import _core
from ccgym.envs.errors import InputError
from ccgym.envs.specs.emulators import EmulatorSpec, LinkSpec, select_emulators
from ccgym.envs.specs.splits import Family, Split, split_generator
from ccgym.envs.specs.variation_spec import RateStep
from ccgym.evaluation.metrics.intervals import median_interval
from ccgym.experiments.check import Check, all_met
from ccgym.experiments.link_origin import origin_of
from ccgym.oracle.ideal import STEP_MS, ideal_windows
from ccgym.oracle.preference import DEFAULT_PREFERENCE
from ccgym.oracle.window import find_windows
from numpy.typing import NDArray
from scipy.ndimage import median_filter

from .drawn_runs import DRAWS, Draws, beside, fixed_of_utilisation, interval_of, text_of, worst

CELLULAR_TRACES = ("ATT-LTE-driving-2016.down", "TMobile-LTE-short.up", "Verizon-LTE-short.up")
OUTSIDE = ((600.0, 20), (600.0, 100), (50.0, 400), (5.0, 400), (300.0, 400), (0.15, 50))
"""(Mbit/s, ms one way): twice the rate or the delay of training, both, and half the rate."""
SETTLED_SHARE = 0.95
PROBE_FREE_RTTS = 3
"""The median of the window over so many RTTs must be near the ideal: a probe of the path takes one RTT."""
STEP_AT_S, STEP_LATEST_S = 5.0, 1.0
"""The rate steps at STEP_AT_S or up to STEP_LATEST_S later."""


class GivenLinkChecks:
    """The measurements of one policy file; the draws of the links follow from the seed."""

    def __init__(self, policy_file: Path, seed: int, executor: Executor) -> None:
        self._file = policy_file
        self._scheme = f"policy:{policy_file}"
        self._seed = seed
        self._executor = executor
        self._draws = Draws(seed, executor)

    def synthetic(self, *, jitter: bool) -> Check:
        """The 24 training links of Indigo beside their oracle windows on the same host."""
        specs = [emulator.spec for emulator in select_emulators("synthetic")]
        windows = find_windows(specs, self._executor)

        def one(draw: int, link: tuple[EmulatorSpec, float]) -> tuple[float, float]:
            return beside(f"fixed:{link[1]:g}", self._scheme, self._draws.run(link[0], draw, jitter=jitter))

        rows = self._draws.by_draw(one, list(zip(specs, windows.tolist(), strict=True)))
        good = [sum(share >= 0.97 and times <= 1.07 for share, times in row) for row in rows]
        least, most = worst([ratios for row in rows for ratios in row])
        return Check(
            f"24 synthetic links, {'host stalls' if jitter else 'ideal host'}",
            "24 at >= 0.97 of the oracle window's throughput and <= 1.07 x its p95",
            f"{text_of(good)} of 24 in the mean of {DRAWS} draws; worst {least:.3f}, {most:.3f} x",
            interval_of(good).at_least(len(specs)),
            origin_of(self._file, specs),
        )

    def cellular(self) -> list[Check]:
        """Recorded links with an ideal ACK path, beside the fixed window of the same utilisation."""
        traces = cellular_traces()
        rows = self._draws.by_draw(self._cellular_run, [_cellular_link(trace) for trace in traces])
        return [self._cellular(*each) for each in zip(traces, zip(*rows, strict=True), strict=True)]

    def _cellular_run(self, draw: int, spec: EmulatorSpec) -> tuple[float, float, float]:
        """Utilisation, p95 delay in ms, and p95 delay as a multiple of the fixed window's."""
        run = self._draws.run(spec, draw)
        ours = run(self._scheme)
        fixed = fixed_of_utilisation(run, ours.utilisation)
        _, p95_ms = ours.compared
        return ours.utilisation, p95_ms, p95_ms / fixed.compared[1]

    def _cellular(self, trace: Path, runs: Sequence[tuple[float, float, float]]) -> Check:
        used, p95_ms, ratios = zip(*runs, strict=True)
        return Check(
            f"{trace.name}, ideal way back",
            ">= 94 % of the link at <= 0.45 x the p95 of the fixed window that uses as much",
            f"{text_of(used, '.1%')} at {np.mean(p95_ms):.0f} ms, {text_of(ratios, '.2f')} x, {DRAWS} draws",
            all_met(interval_of(used).at_least(0.94), interval_of(ratios).at_most(0.45)),
            origin_of(self._file, [_cellular_link(trace)]),
        )

    def outside(self) -> Check:
        """Links outside the training ranges."""
        specs = [
            EmulatorSpec(name="outside", delay_ms=delay, uplink=LinkSpec(rate_mbps=rate))
            for rate, delay in OUTSIDE
        ]
        extremes = [worst(row) for row in self._draws.by_draw(self._beside_ideal, specs)]
        least, most = zip(*extremes, strict=True)
        return Check(
            "links at twice the rate or delay of training's",
            ">= 0.85 of the oracle window's throughput at <= 1.5 x its p95",
            f"worst {text_of(least, '.3f')}, {text_of(most, '.3f')} x in the mean of {DRAWS} draws",
            all_met(interval_of(least).at_least(0.85), interval_of(most).at_most(1.5)),
            origin_of(self._file, specs),
        )

    def _beside_ideal(self, draw: int, spec: EmulatorSpec) -> tuple[float, float]:
        window = float(ideal_windows(spec, DEFAULT_PREFERENCE, 1)[0])
        return beside(f"fixed:{window:g}", self._scheme, self._draws.run(spec, draw))

    def steps(self) -> Check:
        """How long after a step of the rate the window is near the ideal; each case by its median draw."""
        cases = [
            (rate, delay, factor)
            for rate in (5.0, 20.0, 60.0)
            for delay in (10, 30, 80)
            for factor in (0.25, 4.0)
        ]
        rows = self._draws.by_draw(self._step, cases)
        late = np.median(rows, axis=0).tolist()
        interval = median_interval(late)
        assert interval is not None
        return Check(
            "after the rate falls or rises by 4",
            "settled within 15 % of the new ideal window in 5 RTT + 100 ms at the median",
            f"median {np.median(late):+.0f} ms beyond it ({interval.low:+.0f} to {interval.high:+.0f}), "
            f"worst {np.max(rows):+.0f} ms, {DRAWS} draws",
            interval.at_most(0),
            origin_of(self._file, [_stepping(*case, STEP_AT_S) for case in cases]),
        )

    def _step(self, draw: int, case: tuple[float, int, float]) -> float:
        """Time in ms beyond what is allowed; each draw steps at another moment between two probes."""
        rate_mbps, delay_ms, factor = case
        generator = split_generator(Split.TEST, Family.TIME_OF_STEP, self._seed, draw)
        at_s = round(STEP_AT_S + float(generator.uniform(0, STEP_LATEST_S)), 3)
        spec = _stepping(rate_mbps, delay_ms, factor, at_s)
        after = EmulatorSpec(name="after", delay_ms=delay_ms, uplink=LinkSpec(rate_mbps=rate_mbps * factor))
        ideal = float(ideal_windows(after, DEFAULT_PREFERENCE, 1)[0])
        record = _core.simulate(spec.to_path(), self._scheme, seconds=at_s + STEP_AT_S, seed=0)
        later = record.cwnd_packets[record.cwnd_ms >= 1e3 * at_s]
        steps = round(PROBE_FREE_RTTS * 2 * delay_ms / STEP_MS) | 1
        window = median_filter(later, size=steps, mode="nearest")
        near = np.abs(window / ideal - 1) <= max(0.15, 1 / ideal)
        return float(settling_step(near) * STEP_MS - (5 * 2 * delay_ms + 100))


def _cellular_link(trace: Path) -> EmulatorSpec:
    return EmulatorSpec(
        name=trace.stem, delay_ms=20, uplink=LinkSpec(trace=trace), downlink=LinkSpec(rate_mbps=100.0)
    )


def _stepping(rate_mbps: float, delay_ms: int, factor: float, at_s: float) -> EmulatorSpec:
    """A link whose rate changes once, by this factor."""
    step = RateStep(at_s=at_s, rate_mbps=rate_mbps * factor)
    uplink = LinkSpec(rate_mbps=rate_mbps, rate_steps=(step,))
    return EmulatorSpec(name="step", delay_ms=delay_ms, uplink=uplink)


def cellular_traces() -> list[Path]:
    """The trace files of mahimahi's recorded links; none if CCGYM_TRACES is not set.

    Raises:
        InputError: CCGYM_TRACES is set and a file is missing.
    """
    if "CCGYM_TRACES" not in os.environ:
        return []
    folder = Path(os.environ["CCGYM_TRACES"])
    for name in CELLULAR_TRACES:
        if not (folder / name).is_file():
            raise InputError(f"CCGYM_TRACES: {folder} has no {name}, of mahimahi: add it, or unset this")
    return [folder / name for name in CELLULAR_TRACES]


def settling_step(near: NDArray[np.bool_]) -> int:
    """The first step from which SETTLED_SHARE of all later steps are near; len(near) if there is none."""
    share_of_rest = np.cumsum(near[::-1])[::-1] / np.arange(len(near), 0, -1)
    settled = near & (share_of_rest >= SETTLED_SHARE)
    return int(np.argmax(settled)) if settled.any() else len(near)
