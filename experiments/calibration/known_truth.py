"""Known emulators, measured through the twin and found again from these measurements alone."""

import argparse
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from os import cpu_count
from pathlib import Path
from time import process_time

import numpy as np
from ccgym.calibration.answer import Answer
from ccgym.calibration.calibrate import calibrate_whole
from ccgym.calibration.candidate import ARRIVALS, PARAMETERS, Candidate
from ccgym.calibration.replication import Replicator, measured_figures, scheme_errors
from ccgym.calibration.target import Measured, Run, Target, means
from ccgym.configs.arguments import count, minutes, seed
from ccgym.envs.outside_files import make_folder
from ccgym.envs.specs.link_spec import DATA_TUN_BYTES
from ccgym.experiments.check import Check
from ccgym.experiments.json_text import json_text

SCHEMES = ("bbr", "cubic", "copa", "vegas", "ledbat", "reno", "vivace", "verus")
HELD_OUT = ("scream", "copa:0.1", "bbr3")
"""Schemes that run over the found emulator, and are never searched with."""

SECONDS, RUNS, MANY_RUNS = 30.0, 3, 32
"""Length and number of each scheme's runs; many runs where chance must not hide the emulators' difference."""

RATE_MBPS, DELAY_MS, QUEUE_BDPS, MOST_LOSS = (0.6, 40.0), (8.0, 120.0), (0.4, 4.0), 0.03
"""Ranges of the true emulators: log-uniform; half of them have loss, which is uniform up to MOST_LOSS."""

RATE_WITHIN, QUEUE_WITHIN, LOSS_WITHIN, LOSS_POINTS = 0.10, 0.25, 0.30, 0.002
MOST_HELD_OUT_ERROR, ARRIVALS_RIGHT, INTERVALS_HOLD = 0.05, 0.9, 0.85

_SEARCH_DRAWS, _ALL_DRAWS = 10_000, 2**62
"""The first draws are for the search, later ones for the validation."""


@dataclass(frozen=True)
class Found:
    """One true emulator and the one found."""

    truth: Candidate
    answer: Answer

    @property
    def rate_met(self) -> bool:
        """Whether the rate is within 10 %."""
        return _close(self.answer.candidate.rate_mbps, self.truth.rate_mbps, RATE_WITHIN)

    @property
    def delay_met(self) -> bool:
        """Whether the delay is within 10 % or 1 ms, as delays are whole ms."""
        off = abs(self.answer.candidate.delay_ms - self.truth.delay_ms)
        return off <= max(1.0, RATE_WITHIN * self.truth.delay_ms)

    @property
    def queue_met(self) -> bool:
        """Whether the queue is within 25 % or one packet, or is reported as undetermined."""
        found = self.answer.candidate.queue_packets
        off = abs(found - self.truth.queue_packets)
        close = off <= max(1.0, QUEUE_WITHIN * self.truth.queue_packets)
        return close or "queue_packets" in self.answer.undetermined

    @property
    def loss_met(self) -> bool:
        """Whether the loss is within 30 % or 0.2 percentage points."""
        off = abs(self.answer.candidate.loss - self.truth.loss)
        return off <= max(LOSS_POINTS, LOSS_WITHIN * self.truth.loss)

    @property
    def arrivals_met(self) -> bool:
        """Whether the arrivals, Poisson or constant, are right."""
        return self.answer.candidate.arrivals == self.truth.arrivals

    @property
    def intervals_hold(self) -> list[bool]:
        """For each parameter, whether its interval holds the true value."""
        return [
            low <= getattr(self.truth, name) <= high
            for name, (low, high) in ((name, self.answer.intervals[name]) for name in PARAMETERS)
        ]


@dataclass(frozen=True)
class HeldOut:
    """Mean error of the schemes that were not searched with."""

    runs: int
    """Number of runs over each of the two emulators."""
    error: float
    floor: float
    """The error of the true emulator, run with the draws of the found one: chance alone."""


@dataclass(frozen=True)
class Recovery(Found):
    """One true emulator, measured through the twin, and the one found."""

    held_out: tuple[HeldOut, ...]
    cpu_s: float
    """Processor time of the search, on all cores together."""


def _close(found: float, truth: float, share: float) -> bool:
    return abs(found / truth - 1) <= share


def random_truth(seed: int) -> Candidate:
    """A plausible emulator of a path; the same seed gives the same one."""
    generator = np.random.default_rng(seed)
    rate_mbps = round(_log_uniform(generator, RATE_MBPS), 2)
    delay_ms = round(_log_uniform(generator, DELAY_MS))
    bdp = rate_mbps * 1e3 * 2 * delay_ms / 8 / DATA_TUN_BYTES
    queue = max(5, round(bdp * _log_uniform(generator, QUEUE_BDPS)))
    loss = round(generator.uniform(0, MOST_LOSS), 4) if generator.random() < 0.5 else 0.0
    return Candidate(rate_mbps, delay_ms, queue, loss, ARRIVALS[int(generator.random() < 0.5)])


def _log_uniform(generator: np.random.Generator, bounds: tuple[float, float]) -> float:
    return float(np.exp(generator.uniform(math.log(bounds[0]), math.log(bounds[1]))))


def measured_over(truth: Candidate, schemes: Sequence[str], draws: range, executor: Executor) -> Target:
    """The figures of these schemes over `truth`, with one run for each draw."""
    rows = tuple(Measured(scheme, scheme, 1.0, 1.0, None, None, None, 1) for scheme in schemes)
    replicated = Replicator(Target("truth", rows, {}, SECONDS), executor).replicate(truth, draws)
    runs = [
        Run(scheme, *map(float, replicated[run, place]))
        for place, scheme in enumerate(schemes)
        for run in range(len(draws))
    ]
    return Target("truth", means(runs, {scheme: scheme for scheme in schemes}), {}, SECONDS)


def draws_of(seed: int) -> tuple[range, range]:
    """The draws that measure the true emulator of this seed, and those that validate the one found.

    Each true emulator has draws of its own: an odd draw shared by all would be an error of every answer.
    """
    first = int(np.random.default_rng([_SEARCH_DRAWS, seed]).integers(_SEARCH_DRAWS, _ALL_DRAWS))
    return range(first, first + MANY_RUNS), range(first + MANY_RUNS, first + 2 * MANY_RUNS)


def recover(
    truth: Candidate,
    storage: Path,
    minutes: float,
    seed: int,
    report: Callable[[int, float, Candidate], None] = lambda *_: None,
) -> Recovery:
    """Measures `truth` with the draws of `seed`, finds it again, and runs the held-out schemes over both."""
    measuring, validating = draws_of(seed)
    with ThreadPoolExecutor(cpu_count()) as executor:
        target = measured_over(truth, SCHEMES, measuring[:RUNS], executor)
        begun_s = process_time()
        answer = calibrate_whole(target, storage, minutes, report)
        cpu_s = process_time() - begun_s
        held_out = tuple(
            _held_out(truth, answer.candidate, measuring[:runs], validating[:runs], executor)
            for runs in (RUNS, MANY_RUNS)
        )
    return Recovery(truth, answer, held_out, cpu_s)


def _held_out(
    truth: Candidate, found: Candidate, measuring: range, validating: range, executor: Executor
) -> HeldOut:
    """Runs the held-out schemes over both emulators."""
    wanted = measured_over(truth, HELD_OUT, measuring, executor)
    replicator, measured = Replicator(wanted, executor), measured_figures(wanted.measured)
    error, floor = (
        float(scheme_errors(replicator.replicate(each, validating), measured).mean())
        for each in (found, truth)
    )
    return HeldOut(len(measuring), error, floor)


def recoveries(folder: Path, seeds: Iterable[int], minutes: float) -> Iterator[Recovery]:
    """Yields the recoveries one after the other; searches that were stopped go on."""
    make_folder(folder)
    for number in seeds:
        yield recover(random_truth(number), folder / f"{number}.search", minutes, number)


def checks(found: Sequence[Recovery]) -> list[Check]:
    """The checks of the parameters and of the held-out schemes."""
    return [
        *parameter_checks(found),
        *(_held_out_check([each.held_out[place] for each in found]) for place in range(2)),
    ]


def parameter_checks(found: Sequence[Found]) -> list[Check]:
    """The checks of how near the parameters are to the true ones."""
    holds = [held for each in found for held in each.intervals_hold]
    return [
        _all("rate", "within 10 % each", [each.rate_met for each in found]),
        _all("delay", "within 10 % or 1 ms each", [each.delay_met for each in found]),
        _all("queue", "within 25 % or undetermined each", [each.queue_met for each in found]),
        _all("loss", "within 30 % or 0.2 points each", [each.loss_met for each in found]),
        _share("arrivals", ARRIVALS_RIGHT, [each.arrivals_met for each in found]),
        _share("90 % intervals", INTERVALS_HOLD, holds),
    ]


def _held_out_check(found: list[HeldOut]) -> Check:
    met = [each.error <= MOST_HELD_OUT_ERROR for each in found]
    floor = sum(each.floor <= MOST_HELD_OUT_ERROR for each in found)
    return Check(
        f"schemes not searched with, {found[0].runs} runs",
        "error of 5 % at most each",
        f"{sum(met)} of {len(met)}, the truth itself {floor}",
        all(met),
    )


def _all(name: str, wanted: str, met: list[bool]) -> Check:
    return Check(name, wanted, f"{sum(met)} of {len(met)}", all(met))


def _share(name: str, share: float, met: list[bool]) -> Check:
    return Check(
        name, f"right in {100 * share:g} %", f"{sum(met)} of {len(met)}", sum(met) >= share * len(met)
    )


def recovery_line(each: Recovery) -> str:
    """The result as text."""
    held_out = [f"{100 * own.error:.1f} % (truth {100 * own.floor:.1f} %)" for own in each.held_out]
    return f"{found_line(each)}, held out {', '.join(held_out)}, {each.cpu_s:.0f} s of CPU"


def found_line(each: Found) -> str:
    """The part of the text that does not depend on how the emulator was measured."""
    texts = [_described(each.truth), "->", _described(each.answer.candidate)]
    parts = ("rate", "delay", "queue", "loss", "arrivals")
    missed = [part for part in parts if not getattr(each, f"{part}_met")]
    texts += ["missed: " + ", ".join(missed)] if missed else []
    texts += ["search cut short"] if each.answer.cut_short else []
    return "  ".join([*texts, f"error {100 * each.answer.error:.1f} %"])


def _described(candidate: Candidate) -> str:
    return (
        f"{candidate.rate_mbps:.3g} Mbit/s {candidate.arrivals} {candidate.delay_ms} ms "
        f"{candidate.queue_packets} packets {100 * candidate.loss:.2f} %"
    )


DESCRIPTION = (
    "Draws emulators, measures 8 schemes over each in the twin, 3 runs of each, and calibrates on these "
    "figures. Schemes that the search did not use run over the emulator found and over the true one; beside "
    "their error stands the error of the true one with other draws, which is the least to be expected. "
    "Exit code 1: rate or delay is off by more than 10 %, a queue that fills by more than 25 %, "
    "loss by more than 30 % and 0.2 points, arrivals are wrong in more than 10 %, schemes that the "
    "search did not use differ by more than 5 %, or the 90 % intervals hold the truth in less than 85 %."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments: how many, for how long, and where the searches are kept."""
    parser.add_argument("--count", type=count, default=20, metavar="N", help="emulators (default: 20)")
    parser.add_argument(
        "--seed", type=seed, default=0, metavar="S", help="seed of the first emulator (default: 0)"
    )
    parser.add_argument(
        "--minutes", type=minutes, default=5.0, metavar="M", help="longest search, in minutes (default: 5)"
    )
    parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="where the searches are kept")


def run(args: argparse.Namespace) -> int:
    """Runs the searches one after the other."""
    found = []
    seeds = range(args.seed, args.seed + args.count)
    for recovery in recoveries(args.out, seeds, args.minutes):
        found.append(recovery)
        if not args.json:
            print(recovery_line(recovery), flush=True)
    held = checks(found)
    if args.json:
        rows = [
            {
                "truth": asdict(each.truth),
                "held_out": [asdict(own) for own in each.held_out],
                "cpu_s": each.cpu_s,
            }
            | each.answer.as_json()
            for each in found
        ]
        print(json_text({"recoveries": rows, "checks": [asdict(check) for check in held]}))
    else:
        print("\n".join(check.line for check in held))
    return 0 if all(check.met for check in held) else 1
