"""Verification of a calibration: the emulator found, run in real mahimahi."""

import shlex
import sys
from pathlib import Path

import numpy as np
from ccgym.envs.errors import OutsideError
from ccgym.envs.specs.digest import spec_digest
from ccgym.envs.specs.emulator_spec import EmulatorSpec
from ccgym.envs.specs.emulators import NamedEmulator
from ccgym.evaluation.schemes import known_schemes, select_schemes
from ccgym.evaluation.sessions.run_plan import run_plan
from ccgym.evaluation.sessions.session import Plan

from .load_target import load_target
from .replication import measured_figures, scheme_errors
from .target import Target

_RUNS, _SEED = 3, 1


def verify_in_mahimahi(target: Target, spec: EmulatorSpec, folder: Path) -> dict[str, float]:
    """The error of each scheme in real shells, and their `mean`; the runs stay in a folder within `folder`.

    Each emulator has its own there: a search that goes on may find another one. A scheme of ours runs under
    its own name, the kernel's TCP among them; one of others as what it is in the twin.

    Raises:
        InputError: this machine lacks what real mahimahi takes.
        OutsideError: no run came through.
    """
    ours = {scheme.name for scheme in known_schemes()}
    runners = {row.scheme if row.scheme in ours else row.controller: row for row in target.measured}
    schemes = select_schemes(",".join(runners))
    plan = Plan(
        [NamedEmulator(f"calibrated/{spec.name}", spec)],
        schemes,
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
    in_shells = {row.scheme: row for row in load_target(runs).measured}
    both = [
        (row, in_shells[scheme.label])
        for scheme, row in zip(schemes, runners.values(), strict=True)
        if scheme.label in in_shells
    ]
    if not both:
        raise OutsideError(f"{runs}: of {', '.join(runners)} no run came through in real mahimahi")
    errors = scheme_errors(
        measured_figures([real for _, real in both])[None], measured_figures([row for row, _ in both])
    )
    found = {row.scheme: float(error) for (row, _), error in zip(both, errors, strict=True)}
    return {**found, "mean": float(np.mean(errors))}
