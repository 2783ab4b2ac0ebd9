"""Checks of a policy in real mahimahi: alone, against kernel BBR and Copa, and beside a kernel Cubic.

Runs are kept as evaluations, each in a folder of its own:

    DIR/field       the policy
    DIR/calibrated  the policy, kernel BBR
    DIR/cellular    the policy, kernel BBR, Copa, over recorded links: where CCGYM_TRACES names their folder
    DIR/contested   a kernel Cubic and, a twelfth of the time later, the policy; the second half counts

Run k of two schemes meets the same draw of a link, in the same round: they are compared run by run.
"""

import argparse
import os
import shlex
from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path

from ccgym.configs.arguments import count, seconds
from ccgym.envs.specs.emulators import EmulatorSpec, LinkSpec, NamedEmulator, select_emulators
from ccgym.evaluation.schemes import select_schemes
from ccgym.evaluation.sessions.run_plan import run_in_turns
from ccgym.evaluation.sessions.session import Plan, PlannedRun
from ccgym.experiments.arguments import add_policy_argument, policy_file_of
from ccgym.experiments.evaluations import SEED
from ccgym.experiments.json_text import json_text

from .contested_links import OPPORTUNITY_BITS
from .real_bars import CUBIC
from .real_results import CELLULAR, CONTESTED, RIVALS, read_results

SECONDS = 30.0
"""Default length of a run alone."""
LATE_SHARE = 1 / 12
OVERHEAD_S = 4.0
"""Time of a run beyond its length: shells start and end, flows settle, logs are read."""


def contested_emulators() -> list[NamedEmulator]:
    """Where the policy meets a Cubic: three that ship, and 48 Mbit/s, 20 ms one way, with three queues."""
    shipped = select_emulators("field,calibrated/india,calibrated/california-mexico")
    return [*shipped, *map(_contested_emulator, (1, 4, 16))]


def _contested_emulator(bdps: int) -> NamedEmulator:
    rate_mbps, delay_ms = 48.0, 20
    packets = round(bdps * rate_mbps * 2e3 * delay_ms / OPPORTUNITY_BITS)
    uplink = LinkSpec(rate_mbps=rate_mbps, queue="droptail", packets=packets)
    spec = EmulatorSpec(name=f"{rate_mbps:g}mbps-{delay_ms}ms-{bdps}bdp", delay_ms=delay_ms, uplink=uplink)
    return NamedEmulator(f"{CONTESTED}/{spec.name}", spec)


def make_plans(scheme: str, runs: int, seconds: float, command: str) -> dict[str, Plan]:
    """The plans by the name of their folder.

    Raises:
        InputError: the scheme is unknown, or has the same label as a rival.
    """
    plan = partial(Plan, runs=runs, seed=SEED, backend="mahimahi", command=command)
    plans = {
        group: plan(select_emulators(group), select_schemes(",".join([scheme, *rivals])), seconds=seconds)
        for group, rivals in RIVALS.items()
        if group != CELLULAR or "CCGYM_TRACES" in os.environ
    }
    together = select_schemes(f"{CUBIC}+{scheme}")
    late_s = 2 * seconds * LATE_SHARE
    plans[CONTESTED] = plan(contested_emulators(), together, seconds=2 * seconds, interval_s=late_s)
    return plans


def announcement(plans: Mapping[str, Plan], folder: Path) -> str:
    """A line on how long the runs will take, about, and on what is left out."""
    left = {name: _left(plan, folder / name) for name, plan in plans.items()}
    minutes = sum(left[name] * (plan.seconds + OVERHEAD_S) for name, plan in plans.items()) / 60
    left_out = "" if CELLULAR in plans else "; without recorded cellular links, as CCGYM_TRACES is not set"
    return f"{sum(left.values())} runs one after the other, about {minutes:.0f} minutes{left_out}"


def _left(plan: Plan, folder: Path) -> int:
    runs = (
        PlannedRun(emulator, scheme, run)
        for emulator in plan.emulators
        for scheme in plan.schemes
        for run in range(1, plan.runs + 1)
    )
    return sum(not run.files(folder).statistics.exists() for run in runs)


DESCRIPTION = (
    "Runs a policy in real mahimahi, alone over emulators beside what kernel BBR and Copa have there, and on "
    "one link with a kernel Cubic, and prints every promise beside what was measured, with 95 % intervals "
    "over the runs. Nothing else should run on the machine; a check says beside how many of its runs "
    "something did. The same --out goes on after an interruption. With CCGYM_TRACES the recorded cellular "
    "links are run as well. Exit code 1: one is missed or not sure, and worse than is known."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments: which policy, how often and how long, and where the runs are kept."""
    add_policy_argument(parser)
    parser.add_argument("--runs", type=count, default=3, metavar="N", help="runs of each cell (default: 3)")
    parser.add_argument(
        "--seconds",
        type=seconds,
        default=SECONDS,
        metavar="S",
        help="length of a flow alone; beside a Cubic twice as long, the second half counts (default: 30)",
    )
    parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="where the runs are kept")


def _command_again(args: argparse.Namespace) -> str:
    """The command for the page of evidence; it names only the last part of the folder's path."""
    scheme = [] if args.scheme == "indigo2" else ["--scheme", args.scheme]
    length = [] if args.seconds == SECONDS else ["--seconds", f"{args.seconds:g}"]
    words = [*scheme, "--runs", str(args.runs), *length, "--out", args.out.resolve().name]
    return shlex.join(["ccgym", "reproduce", "real-mahimahi", *words])


def run(args: argparse.Namespace) -> int:
    """Runs what is left, one run after the other, and prints the checks."""
    policy_file_of(args.scheme)
    (scheme,) = select_schemes(args.scheme)
    plans = make_plans(args.scheme, args.runs, args.seconds, _command_again(args))
    run_in_turns([(plan, args.out / name) for name, plan in plans.items()], announcement(plans, args.out))
    results = read_results(args.out, scheme.label)
    if args.json:
        checks = [asdict(check) for check in results.checks]
        print(json_text({"most_others_cores": results.most_others_cores, "checks": checks}))
    else:
        print("\n".join(check.line for check in results.checks))
    return 0 if all(check.passes for check in results.checks) else 1
