"""`ccgym calibrate`: the emulator that replicates a measured path."""

import argparse
import json
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ccgym.configs.arguments import add_ray_argument, minutes

if TYPE_CHECKING:
    from ccgym.calibration.answer import Answer
    from ccgym.calibration.candidate import Candidate
    from ccgym.calibration.target import Target
    from ccgym.envs.specs.emulator_spec import EmulatorSpec


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds the sub-command to the command line."""
    parser = subparsers.add_parser(
        "calibrate",
        help="find the emulator that replicates measurements of a path",
        description="Searches rate, one-way delay, droptail queue, random loss and arrivals for the emulator "
        "over which the schemes of T have the throughput and the p95 one-way delay that were measured. "
        "Writes FILE, for --emulators file:FILE; beside it .json, the whole answer; .svg, measured beside "
        "emulated; .posterior.yaml, an ensemble of emulators that fit as well, for ccgym train "
        "--from-calibration; .search, with which the same command goes on after an interruption.",
    )
    parser.add_argument(
        "--target",
        required=True,
        metavar="T",
        type=Path,
        help="a data directory of ours or of Pantheon's, its pantheon_perf.json, the text of its report, or "
        "a table (CSV or YAML): scheme, throughput_mbps, p95_delay_ms, loss (share), and where known "
        "throughput_spread_mbps, p95_delay_spread_ms (standard deviations over runs), runs",
    )
    parser.add_argument("--out", required=True, metavar="FILE", type=Path, help="the emulator file (.yaml)")
    parser.add_argument(
        "--minutes",
        type=minutes,
        default=5.0,
        metavar="M",
        help="longest search, in minutes (default: 5); one that ends before has the same answer each time",
    )
    parser.add_argument(
        "--from-trace",
        type=_traces,
        default=(),
        metavar="FILE[,FILE]",
        help="a recorded link, mahimahi's trace of its data and maybe one of its ACKs: delay, queue and loss "
        "are searched around it",
    )
    parser.add_argument("--few", action="store_true", help="accept fewer than 4 schemes")
    parser.add_argument(
        "--verify", choices=["mahimahi"], help="run the schemes over the emulator in real mahimahi"
    )
    add_ray_argument(parser)
    parser.add_argument("--json", action="store_true", help="print the answer as JSON")
    parser.set_defaults(run=run)


def _traces(text: str) -> tuple[Path, ...]:
    files = tuple(map(Path, text.split(",")))
    if len(files) > 2 or not all(file.name for file in files):
        raise argparse.ArgumentTypeError(f"{text!r} is not one trace file, or two with a comma between them")
    return files


def run(args: argparse.Namespace) -> int:
    """Searches, writes the files, prints the answer."""
    from ccgym.calibration.candidate import Restriction, recorded
    from ccgym.calibration.load_target import load_target
    from ccgym.calibration.target import check_target
    from ccgym.envs.errors import InputError
    from ccgym.envs.host.folder_lock import file_lock

    if args.out.suffix not in (".yaml", ".yml"):
        raise InputError(f"--out {args.out}: an emulator file ends in .yaml")
    _check_files(args.out, (args.target, *args.from_trace))
    target = check_target(load_target(args.target), few=args.few)
    restriction = recorded(args.from_trace, target) if args.from_trace else Restriction()
    from ccgym.calibration.calibrate import calibrate, found_spec, storage_of, write_answer  # late: slow

    progress, storage = _Progress(_stands_on(target)), storage_of(args.out)
    with file_lock(storage):
        answer, whole = calibrate(target, storage, args.minutes, progress, restriction, args.ray)
        write_answer(answer, target, args.out)
    verified = _verified(args, target, found_spec(answer, target)) if args.verify and whole else None
    found = answer.as_json() | ({} if verified is None else {"mahimahi": verified})
    print(json.dumps(found) if args.json else "\n".join(_lines(answer, verified)))
    return 0 if whole else 128 + signal.SIGINT


def _check_files(out: Path, read: Sequence[Path]) -> None:
    """Raises InputError if a file to be written cannot be replaced, or is one of the files to be read."""
    from ccgym.calibration.calibrate import files_of
    from ccgym.envs.errors import InputError
    from ccgym.envs.outside_files import check_replaceable

    for file in files_of(out):
        check_replaceable(file)
        for source in read:
            if file.exists() and source.exists() and file.samefile(source):
                raise InputError(f"--out {out}: {file} would take the place of {source}: choose another one")


class _Progress:
    """Prints what the fit is based on, once, then a line for every candidate better than all before."""

    def __init__(self, stands_on: str) -> None:
        self._stands_on = stands_on
        self._least = float("inf")

    def __call__(self, tried: int, error: float, best: "Candidate") -> None:
        if self._stands_on:
            print(self._stands_on, file=sys.stderr)
            self._stands_on = ""
        if error < self._least:
            self._least = error
            text = f"{tried:4} candidates, best error {100 * error:5.1f} %: {_described(best)}"
            print(text, file=sys.stderr, flush=True)


def _described(candidate: "Candidate") -> str:
    acks = "" if candidate.ack_mbps is None else f", ACKs {candidate.ack_mbps:.3g} Mbit/s poisson"
    rate = f"{candidate.rate_mbps:.4g} Mbit/s {candidate.arrivals}"
    if candidate.walk_range is not None:
        rate = (
            f"{candidate.rate_mbps / candidate.walk_range:.4g} to {rate}, spread {candidate.walk_spread:.3g}"
        )
    return (
        f"{rate}, {candidate.delay_ms} ms one way, {candidate.queue_packets} packets, "
        f"loss {100 * candidate.loss:.3g} %{acks}"
    )


def _stands_on(target: "Target") -> str:
    text = f"{target.name}: the fit stands on {len(target.measured)} schemes: {', '.join(target.schemes)}"
    left_out = "; ".join(f"{name}: {reason}" for name, reason in target.left_out.items())
    return f"{text}\nleft out: {left_out}" if left_out else text


def _lines(answer: "Answer", verified: dict[str, float] | None) -> list[str]:
    from ccgym.calibration.answer import CUT_SHORT

    lines = [
        f"{fit.scheme:16} {fit.throughput_mbps:8.2f} -> {fit.emulated_throughput_mbps:8.2f} Mbit/s  "
        f"{fit.p95_delay_ms:8.1f} -> {fit.emulated_p95_delay_ms:8.1f} ms  error {100 * fit.error:5.1f} %  "
        f"left out {100 * answer.left_out_errors[fit.scheme]:5.1f} %"
        for fit in answer.schemes
    ]
    lines.append(f"{_described(answer.candidate)}")
    for name, (low, high) in answer.intervals.items():
        lines.append(f"{name:16} {getattr(answer.candidate, name):g}, 90 % from {low:g} to {high:g}")
    lines += [f"{name} is not determined: {reason}" for name, reason in answer.undetermined.items()]
    lines.append(
        f"mean error {100 * answer.error:.1f} %, of a scheme left out {100 * answer.left_out_error:.1f} %"
    )
    if answer.cut_short:
        lines.append(CUT_SHORT)
    if verified is not None:
        each = ", ".join(f"{name} {100 * error:.1f} %" for name, error in verified.items())
        lines.append(f"in real mahimahi: {each}")
    return lines


def _verified(args: argparse.Namespace, target: "Target", spec: "EmulatorSpec") -> dict[str, float]:
    from ccgym.calibration.verification import verify_in_mahimahi

    return verify_in_mahimahi(target, spec, args.out.with_suffix(".mahimahi"))
