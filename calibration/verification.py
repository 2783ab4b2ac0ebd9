"""A found emulator run in real mahimahi: does what the twin promised hold there?"""

import shlex
import sys
from pathlib import Path

import numpy as np
from ccgym.envs.errors import OutsideError
from ccgym.envs.specs.digest import spec_digest
from ccgym.envs.specs.emulator_spec import EmulatorSpec
from ccgym.envs.specs.emulators import NamedEmulator
from ccgym.evaluation.schemes import select_schemes
from ccgym.evaluation.sessions.run_plan import run_plan
from ccgym.evaluation.sessions.session import Plan

from .load_target import load_target
from .replication import measured_figures, scheme_errors
from .target import Target

_RUNS, _SEED = 3, 1


def verify_in_mahimahi(target: Target, spec: EmulatorSpec, folder: Path) -> dict[str, float]:
    """The error of each scheme in real shells, and their `mean`; the runs stay in a folder within `folder`.

    Each emulator has its own there: a search that goes on may find another one.

    Raises:
        InputError: this machine lacks what real mahimahi takes.
        OutsideError: no run came through.
    """
    controllers = {row.controller: row for row in target.measured}
    plan = Plan(
        [NamedEmulator(f"calibrated/{spec.name}", spec)],
        select_schemes(",".join(controllers)),
        _RUNS,
        target.seconds,
        _SEED,
        "mahimahi",
        shlex.join(["ccgym", *sys.argv[1:]]),
        target.flows,
        target.interval_s,
    )
    runs = folder / f"emulator-{spec_digest(spec)}"
    run_plan(plan, runs)
    in_shells = {row.controller: row for row in load_target(runs).measured}
    both = [(row, in_shells[name]) for name, row in controllers.items() if name in in_shells]
    if not both:
        raise OutsideError(f"{runs}: of {', '.join(controllers)} no run came through in real mahimahi")
    errors = scheme_errors(
        measured_figures([ours for _, ours in both])[None], measured_figures([row for row, _ in both])
    )
    found = {row.scheme: float(error) for (row, _), error in zip(both, errors, strict=True)}
    return {**found, "mean": float(np.mean(errors))}
