"""Acceptance checks of a policy in the twin, and the emulators on which it falls behind.

Every measurement is seeded. Each check says whether its links are drawn from the split `test`, those of the
policy's training, or fixed ones.
"""

import argparse
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from ccgym.configs.arguments import add_ray_argument, count
from ccgym.envs import _core
from ccgym.envs.logs.flow_metrics import FlowMetrics
from ccgym.envs.specs.emulators import EmulatorSpec, select_emulators
from ccgym.evaluation.metrics.frontier import clearly_beats
from ccgym.evaluation.metrics.intervals import UNKNOWN, mean_interval, share_interval
from ccgym.evaluation.sessions.executors import open_executor
from ccgym.experiments.arguments import (
    add_policy_argument,
    add_seed_arguments,
    add_starvation_argument,
    drawn_seed,
    policy_file_of,
)
from ccgym.experiments.check import Check, Links
from ccgym.experiments.difficulty import describe, difficulty_tags, longest_silence_ms
from ccgym.experiments.json_text import json_text
from ccgym.training.rollouts import run_as_drawn

from . import given_links
from .contested_links import Draw
from .drawn_runs import SECONDS
from .sharing import sharing_checks
from .winning_rate import RIVALS, winning_rate

ON_FRONTIER = 0.96
"""Wanted share of the emulators on which the policy is on the frontier."""
LOG_POWER = -2.05
"""Wanted mean log power, ln(Mbit/s per ms)."""
STARVATION_SECONDS = 10.0
STARVATION_UTILISATION = 0.1
SILENT_MS = 2e3
"""A link that delivers nothing for so long starves every sender."""


@dataclass(frozen=True)
class Deficit:
    """An emulator on which the policy is behind the best rival."""

    emulator: str
    score: float
    """How much lower the policy's log power is than the best rival's."""
    reason: str


@dataclass(frozen=True)
class Comparison:
    """The policy and its rivals, each alone on one emulator."""

    on_frontier: bool
    log_power: float
    """ln(throughput in Mbit/s / p95 delay in ms) of the policy."""
    deficit: Deficit


class RandomLinkChecks:
    """The measurements of one policy file over drawn links, which follow from the seed."""

    def __init__(self, policy_file: Path, seed: int, executor: Executor) -> None:
        self._scheme = f"policy:{policy_file}"
        self._seed = seed
        self._executor = executor

    def against_rivals(self, count: int) -> tuple[list[Check], list[Deficit]]:
        """The policy on random unseen emulators beside the native schemes; deficits, largest first."""
        specs = [emulator.spec for emulator in select_emulators(f"random:{count}:{self._seed}")]
        rows = list(self._executor.map(self._compared, specs))
        deficits = sorted((row.deficit for row in rows), key=lambda deficit: -deficit.score)
        return [
            _frontier_share([row.on_frontier for row in rows]),
            _mean_log_power([row.log_power for row in rows]),
        ], deficits

    def _compared(self, spec: EmulatorSpec) -> Comparison:
        ours = run_as_drawn(spec, self._scheme, SECONDS)
        rivals = {name: run_as_drawn(spec, name, SECONDS) for name in RIVALS}
        beaten = any(clearly_beats(*rival.compared, *ours.compared) for rival in rivals.values())
        best = max(rivals, key=lambda name: rivals[name].power)
        log_power_deficit = float(np.log(rivals[best].power / ours.power))
        reason = "; ".join([_reason(ours, rivals[best], best), *difficulty_tags(spec)])
        deficit = Deficit(f"{spec.name}: {describe(spec)}", log_power_deficit, reason)
        return Comparison(ours.delivers and not beaten, float(np.log(ours.power)), deficit)

    def starvation(self, count: int) -> Check:
        """On how many of many random emulators, none of them silent for seconds, the policy starves.

        Each emulator is drawn once: a policy starves on few links only, and more links find these sooner than
        more draws of the same links. The bound is none, so there is no interval.
        """
        drawn = (emulator.spec for emulator in select_emulators(f"random:{count}:{self._seed + 1}"))
        specs = [spec for spec in drawn if longest_silence_ms(spec) < SILENT_MS]
        used = list(self._executor.map(self._utilisation, specs))
        starved = sum(share < STARVATION_UTILISATION for share in used)
        return Check(
            f"unseen emulators, {STARVATION_SECONDS:g} s each",
            f"none below 10 % of the link but those that deliver nothing for {SILENT_MS / 1e3:g} s",
            f"{starved} of {len(specs)} below; least {min(used, default=1):.1%}",
            starved == 0 if specs else None,
            Links.UNSEEN,
        )

    def _utilisation(self, spec: EmulatorSpec) -> float:
        """Utilisation over the whole run; times without ACKs, in which no sender could send, are included."""
        path = spec.drawn(self._seed).to_path()
        record = _core.simulate(path, self._scheme, seconds=STARVATION_SECONDS, seed=self._seed)
        return float(len(record.departure_ms) / max(1, record.opportunities))


def _frontier_share(on_frontier: Sequence[bool]) -> Check:
    held, count = sum(on_frontier), len(on_frontier)
    interval = share_interval(held, count)
    return Check(
        f"frontier share on unseen emulators against {', '.join(RIVALS)}",
        f">= {ON_FRONTIER:.0%}",
        f"{held / count:.1%} ({interval.low:.1%} to {interval.high:.1%}) of {count}",
        interval.at_least(ON_FRONTIER),
        Links.UNSEEN,
    )


def _mean_log_power(log_powers: Sequence[float]) -> Check:
    interval = mean_interval(log_powers) or UNKNOWN
    return Check(
        "mean log power on unseen emulators",
        f"ln(Mbit/s / ms of p95) >= {LOG_POWER:g} in the mean",
        f"{np.mean(log_powers):.3f} ({interval.low:.3f} to {interval.high:.3f}) of {len(log_powers)}",
        interval.at_least(LOG_POWER),
        Links.UNSEEN,
    )


def _reason(ours: FlowMetrics, rival: FlowMetrics, name: str) -> str:
    throughput, delay = np.divide(ours.compared, rival.compared) - 1
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
    """All checks, and the emulators on which the policy is farthest behind.

    Args:
        policy_file: the file of a policy that takes a preference.
        executor: runs side by side.
        emulators: random emulators of a check.
        starvation: random emulators of the check on starvation.
        seed: seed of all draws.
        say: is called with every check as soon as it is known.
    """
    given_links.cellular_traces()  # a missing trace is an error before anything runs
    given = given_links.GivenLinkChecks(policy_file, seed, executor)
    drawn = RandomLinkChecks(policy_file, seed, executor)
    measured: list[Check] = []

    def keep(*new: Check) -> None:
        measured.extend(new)
        for check in new:
            say(check)

    keep(given.synthetic(jitter=False))
    keep(given.synthetic(jitter=True))
    keep(*given.cellular())
    keep(given.outside())
    keep(given.steps())
    compared, deficits = drawn.against_rivals(emulators)
    keep(*compared)
    keep(winning_rate(f"policy:{policy_file}", Draw(emulators, seed, executor)))
    keep(*sharing_checks(policy_file, max(1, emulators // 2), seed, executor))
    keep(drawn.starvation(starvation))
    return measured, deficits[:WORST]


DESCRIPTION = (
    "Runs a policy in the twin and prints every promise beside what was measured, and the emulators on "
    "which it is farthest behind the native schemes. Exit code 1: one is not held, and worse than is "
    "known. With CCGYM_TRACES the recorded cellular links are run as well."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments: which policy, and on how many emulators."""
    add_policy_argument(parser)
    parser.add_argument("--random", type=count, default=200, metavar="N", help="emulators (default: 200)")
    add_starvation_argument(parser, "emulators")
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
        checks, deficits = measure_checks(
            policy_file, executor, emulators=args.random, starvation=args.starvation, seed=drawn, say=say
        )
    if args.json:
        worst = [asdict(deficit) for deficit in deficits]
        print(json_text({"seed": drawn, "checks": [asdict(check) for check in checks], "worst": worst}))
    else:
        print("farthest behind the best other scheme in ln(throughput / p95 delay):")
        for deficit in deficits:
            print(f"{deficit.score:+.2f}  {deficit.emulator}: {deficit.reason}")
    return 0 if all(check.passes for check in checks) else 1
