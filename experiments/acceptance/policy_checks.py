"""What a policy must hold in the twin: each requirement measured, and where the policy falls behind.

Every measurement is seeded. Each check says whether its links are drawn from the split `test`, those of the
policy's training, or fixed ones.
"""

import argparse
import os
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from ccgym.configs.arguments import add_ray_argument, count
from ccgym.envs import _core
from ccgym.envs.errors import InputError
from ccgym.envs.logs.flow_metrics import FlowMetrics
from ccgym.envs.specs.emulators import EmulatorSpec, LinkSpec, select_emulators
from ccgym.envs.specs.splits import Family, Split, split_generator
from ccgym.envs.specs.variation_spec import RateStep
from ccgym.evaluation.metrics.frontier import clearly_beats
from ccgym.evaluation.metrics.intervals import median_interval, share_interval
from ccgym.evaluation.sessions.executors import open_executor
from ccgym.experiments.arguments import (
    add_policy_argument,
    add_seed_arguments,
    drawn_seed,
    policy_file_of,
)
from ccgym.experiments.check import Check, Links, all_met
from ccgym.experiments.json_text import json_text
from ccgym.oracle.ideal import STEP_MS, ideal_windows
from ccgym.oracle.preference import DEFAULT_PREFERENCE
from ccgym.oracle.window import find_windows
from ccgym.training.rollouts import run_as_drawn
from numpy.typing import NDArray
from scipy.ndimage import median_filter

from .difficulty import describe, difficulty_tags, longest_silence_ms
from .drawn_runs import DRAWS, SECONDS, Draws, beside, fixed_of_utilisation, interval_of, text_of, worst
from .link_origin import origin_of
from .sharing import sharing_checks

RIVALS = ("copa", "reno", "cubic", "vegas", "ledbat", "bbr", "vivace")
CELLULAR_TRACES = ("ATT-LTE-driving-2016.down", "TMobile-LTE-short.up", "Verizon-LTE-short.up")
OUTSIDE = ((600.0, 20), (600.0, 100), (50.0, 400), (5.0, 400), (300.0, 400), (0.15, 50))
"""Mbit/s and ms one way: twice the rate or delay of training's, both, and half the rate."""
SETTLED_SHARE = 0.95
PROBE_FREE_RTTS = 3
"""What is near is the median of the window over so many round trips: a probe of the path takes one."""
STEP_AT_S, STEP_LATEST_S = 5.0, 1.0
"""When a rate steps: then, or up to so much later."""
STARVATION_SECONDS = 10.0
STARVATION_UTILISATION = 0.1
SILENT_MS = 2e3
"""A link that delivers nothing for so long starves every sender."""


@dataclass(frozen=True)
class Deficit:
    """An emulator on which the policy is behind, and by what."""

    emulator: str
    score: float
    """ln power behind the best rival's."""
    reason: str


class PolicyChecks:
    """The measurements of one policy file; what is drawn follows from the seed."""

    def __init__(self, policy_file: Path, seed: int, executor: Executor) -> None:
        self._file = policy_file
        self._seed = seed
        self._executor = executor
        self._draws = Draws(seed, executor)

    def scheme(self, preference: float | None = None) -> str:
        """What runs, by the native controllers' table."""
        return f"policy:{self._file}" + ("" if preference is None else f":{preference}")

    def synthetic(self, *, jitter: bool) -> Check:
        """The 24 training links of Indigo beside their oracle windows on the same host."""
        specs = [emulator.spec for emulator in select_emulators("synthetic")]

        windows = find_windows(specs, self._executor)

        def one(draw: int, link: tuple[EmulatorSpec, float]) -> tuple[float, float]:
            return beside(f"fixed:{link[1]:g}", self.scheme(), self._draws.run(link[0], draw, jitter=jitter))

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
        """Recorded links with an ideal way back, beside the fixed window of the same utilisation."""
        traces = cellular_traces()
        rows = self._draws.by_draw(self._cellular_run, [_cellular_link(trace) for trace in traces])
        return [self._cellular(*each) for each in zip(traces, zip(*rows, strict=True), strict=True)]

    def _cellular_run(self, draw: int, spec: EmulatorSpec) -> tuple[float, float, float]:
        """Utilisation, p95 in ms, and as a multiple of the fixed window's."""
        run = self._draws.run(spec, draw)
        ours = run(self.scheme())
        fixed = fixed_of_utilisation(run, ours.utilisation)
        return ours.utilisation, ours.p95_delay_ms, ours.p95_delay_ms / fixed.p95_delay_ms

    def _cellular(self, trace: Path, runs: Sequence[tuple[float, float, float]]) -> Check:
        used, p95_ms, ratios = zip(*runs, strict=True)
        return Check(
            f"{trace.name}, ideal way back",
            ">= 94 % of the link at <= 0.45 x the p95 of the fixed window that uses as much",
            f"{text_of(used, '.1%')} at {np.mean(p95_ms):.0f} ms, {text_of(ratios, '.2f')} x, {DRAWS} draws",
            all_met(interval_of(used).at_least(0.94), interval_of(ratios).at_most(0.45)),
            origin_of(self._file, [_cellular_link(trace)]),
        )

    def frontier(self, count: int) -> tuple[Check, list[Deficit]]:
        """Random unseen emulators, against the native schemes."""
        specs = [emulator.spec for emulator in select_emulators(f"random:{count}:{self._seed}")]
        rows = list(self._executor.map(self._against_rivals, specs))
        held = sum(on_frontier for on_frontier, _ in rows)
        interval = share_interval(held, len(rows))
        losses = sorted((loss for _, loss in rows), key=lambda loss: -loss.score)
        check = Check(
            f"frontier share on unseen emulators against {', '.join(RIVALS)}",
            ">= 95 %",
            f"{held / len(rows):.1%} ({interval.low:.1%} to {interval.high:.1%}) of {count}",
            interval.at_least(0.95),
            Links.UNSEEN,
        )
        return check, losses

    def _against_rivals(self, spec: EmulatorSpec) -> tuple[bool, Deficit]:
        ours = run_as_drawn(spec, self.scheme(), SECONDS)
        rivals = {name: run_as_drawn(spec, name, SECONDS) for name in RIVALS}
        beaten = any(
            clearly_beats(rival.throughput_mbps, rival.p95_delay_ms, ours.throughput_mbps, ours.p95_delay_ms)
            for rival in rivals.values()
        )
        best = max(rivals, key=lambda name: rivals[name].power)
        behind = float(np.log(rivals[best].power / ours.power))
        reason = "; ".join([_reason(ours, rivals[best], best), *difficulty_tags(spec)])
        return not beaten, Deficit(f"{spec.name}: {describe(spec)}", behind, reason)

    def starvation(self, count: int) -> Check:
        """The least utilisation over many random emulators that are never silent for seconds."""
        drawn = (emulator.spec for emulator in select_emulators(f"random:{count}:{self._seed + 1}"))
        specs = [spec for spec in drawn if longest_silence_ms(spec) < SILENT_MS]
        rows = self._draws.by_draw(self._utilisation, specs)
        starved = [sum(share < STARVATION_UTILISATION for share in row) for row in rows]
        return Check(
            f"unseen emulators, {STARVATION_SECONDS:g} s each",
            f"none below 10 % of the link but those that deliver nothing for {SILENT_MS / 1e3:g} s",
            f"{text_of(starved)} of {len(specs)} below in the mean of {DRAWS} draws; "
            f"least {min((share for row in rows for share in row), default=1):.1%}",
            interval_of(starved).at_most(0),
            Links.UNSEEN,
        )

    def _utilisation(self, draw: int, spec: EmulatorSpec) -> float:
        """Of the whole run; what no sender could use because no ACKs came back counts against it as well."""
        seed = self._draws.seed_of(draw)
        path = spec.drawn(seed).to_path()
        record = _core.simulate(path, self.scheme(), seconds=STARVATION_SECONDS, seed=seed)
        return float(len(record.departure_ms) / max(1, record.opportunities))

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
        return beside(f"fixed:{window:g}", self.scheme(), self._draws.run(spec, draw))

    def steps(self) -> Check:
        """How long after a step of the rate the window is near the ideal one; of a case, its median draw."""
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
            f"median {np.median(late):+.0f} ms beside that ({interval.low:+.0f} to {interval.high:+.0f}), "
            f"worst {np.max(rows):+.0f} ms, {DRAWS} draws",
            interval.at_most(0),
            origin_of(self._file, [_stepping(*case, STEP_AT_S) for case in cases]),
        )

    def _step(self, draw: int, case: tuple[float, int, float]) -> float:
        """Milliseconds beyond what is allowed; each draw steps at another moment of the policy's probes."""
        rate_mbps, delay_ms, factor = case
        generator = split_generator(Split.TEST, Family.TIME_OF_STEP, self._seed, draw)
        at_s = round(STEP_AT_S + float(generator.uniform(0, STEP_LATEST_S)), 3)
        spec = _stepping(rate_mbps, delay_ms, factor, at_s)
        after = EmulatorSpec(name="after", delay_ms=delay_ms, uplink=LinkSpec(rate_mbps=rate_mbps * factor))
        ideal = float(ideal_windows(after, DEFAULT_PREFERENCE, 1)[0])
        record = _core.simulate(spec.to_path(), self.scheme(), seconds=at_s + STEP_AT_S, seed=0)
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
    """Of mahimahi's recorded links; none where CCGYM_TRACES is not set.

    Raises:
        InputError: it is, and one is missing.
    """
    if "CCGYM_TRACES" not in os.environ:
        return []
    folder = Path(os.environ["CCGYM_TRACES"])
    for name in CELLULAR_TRACES:
        if not (folder / name).is_file():
            raise InputError(f"CCGYM_TRACES: {folder} has no {name}, of mahimahi: add it, or unset this")
    return [folder / name for name in CELLULAR_TRACES]


def settling_step(near: NDArray[np.bool_]) -> int:
    """The first step from which on SETTLED_SHARE of all that follow are near; their number, where none is."""
    share_of_rest = np.cumsum(near[::-1])[::-1] / np.arange(len(near), 0, -1)
    settled = near & (share_of_rest >= SETTLED_SHARE)
    return int(np.argmax(settled)) if settled.any() else len(near)


def _reason(ours: FlowMetrics, rival: FlowMetrics, name: str) -> str:
    throughput = ours.throughput_mbps / rival.throughput_mbps - 1
    delay = ours.p95_delay_ms / rival.p95_delay_ms - 1
    return f"{throughput:+.0%} throughput, {delay:+.0%} p95 beside {name}"


WORST = 20


def measure_checks(
    policy_file: Path,
    executor: Executor,
    *,
    emulators: int,
    starvation: int,
    seed: int,
    say: Callable[[Check], None],
) -> tuple[list[Check], list[Deficit]]:
    """Everything, with the emulators on which the policy is farthest behind.

    Args:
        policy_file: of a policy that takes a preference.
        executor: runs side by side.
        emulators: how many random emulators a check takes.
        starvation: how many the one on starvation takes.
        seed: of what is drawn.
        say: is told every check as soon as it is known.
    """
    cellular_traces()  # what is missing is told before anything runs
    checks = PolicyChecks(policy_file, seed, executor)
    measured: list[Check] = []

    def keep(*new: Check) -> None:
        measured.extend(new)
        for check in new:
            say(check)

    keep(checks.synthetic(jitter=False))
    keep(checks.synthetic(jitter=True))
    keep(*checks.cellular())
    keep(checks.outside())
    keep(checks.steps())
    frontier, losses = checks.frontier(emulators)
    keep(frontier)
    keep(*sharing_checks(policy_file, max(1, emulators // 2), seed, executor))
    keep(checks.starvation(starvation))
    return measured, losses[:WORST]


DESCRIPTION = (
    "Runs a policy in the twin and prints every promise beside what was measured, and the emulators on "
    "which it is farthest behind the native schemes. Exit code 1: one is not held, and worse than is "
    "known. With CCGYM_TRACES the recorded cellular links are run as well."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which policy, and how much of everything."""
    add_policy_argument(parser)
    parser.add_argument("--random", type=count, default=200, metavar="N", help="emulators (default: 200)")
    parser.add_argument(
        "--starvation",
        type=count,
        default=2000,
        metavar="N",
        help=f"emulators to look for starvation on, {DRAWS} draws each (default: 2000)",
    )
    parser.add_argument(
        "--freezing", dest="starvation", type=count, default=argparse.SUPPRESS, help=argparse.SUPPRESS
    )
    add_seed_arguments(parser)
    add_ray_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Measures the checks one by one."""
    policy_file = policy_file_of(args.scheme)
    drawn = drawn_seed(args)

    def say(check: Check) -> None:
        if not args.json:
            print(check.line)

    with open_executor(args.ray) as executor:
        checks, losses = measure_checks(
            policy_file, executor, emulators=args.random, starvation=args.starvation, seed=drawn, say=say
        )
    if args.json:
        worst = [asdict(loss) for loss in losses]
        print(json_text({"seed": drawn, "checks": [asdict(check) for check in checks], "worst": worst}))
    else:
        print("farthest behind the best other scheme in ln(throughput / p95 delay):")
        print("\n".join(f"{loss.score:+.2f}  {loss.emulator}: {loss.reason}" for loss in losses))
    return 0 if all(check.passes for check in checks) else 1
