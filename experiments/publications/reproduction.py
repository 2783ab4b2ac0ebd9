"""The result of an experiment of a published document: published figures beside ours, and plots."""

import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from ccgym.envs.specs.emulators import NamedEmulator
from ccgym.evaluation.backends.backend import PlannedFlow, unseen_loss
from ccgym.evaluation.backends.twin_backend import TwinBackend
from ccgym.evaluation.metrics.intervals import mean_interval
from ccgym.evaluation.metrics.measured_run import measure_run
from ccgym.evaluation.metrics.results import Evaluation, FlowResult, RunResult, Scenario, load_evaluation
from ccgym.evaluation.run_files import RunFiles
from ccgym.evaluation.schemes import select_schemes
from ccgym.evaluation.sessions.run_plan import run_plan
from ccgym.evaluation.sessions.session import Plan
from ccgym.experiments.known import as_expected, expectation
from matplotlib.figure import Figure

NOT_PUBLISHED = "-"
"""Stands for the published figure in a line that the documents do not have."""
SET_UP_S = (3.2, 4.0)
"""Time from the start of Pantheon's shells to the first flow."""


@dataclass(frozen=True)
class Line:
    """One published figure, or one claim."""

    what: str
    """The name of the figure, with its unit."""
    theirs: str
    ours: str
    tolerance: str = ""
    """The tolerance as text; empty: none is stated."""
    met: bool | None = None
    """None: no tolerance is stated."""
    why: str = ""
    """What differs, and why; empty if the tolerance is met."""

    @property
    def verdict(self) -> str:
        """Whether the tolerance is met and why not, as text."""
        if self.met is None:
            return self.why
        known = f", expected{expectation(self.what)}" if expectation(self.what) else ""
        return "met" if self.met else ": ".join(filter(None, (f"MISSED{known}", self.why)))


@dataclass(frozen=True)
class Reproduction:
    """The result of an experiment."""

    title: str
    document: str
    lines: list[Line]
    figures: dict[str, Figure] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    @property
    def met(self) -> bool:
        """Whether every stated tolerance is met, or missed by no more than is known."""
        return all(line.met is not False or as_expected(line.what, line.ours) for line in self.lines)


@dataclass(frozen=True)
class ReproductionOptions:
    """The options of an experiment."""

    backend: str
    quick: bool
    """Whether to make fewer and shorter runs."""
    folder: Path
    """The folder of its runs, which go on after an interruption."""
    document: Path | None = None
    """The text of the published report."""
    archives: tuple[Path, ...] = ()
    """Data directories to measure instead of runs of ours."""
    trace: Path | None = None
    scheme: str | None = None
    minutes: float = 2.0
    """Length of each training."""
    seed: int = 1
    ray_address: str | None = None
    """Address of a Ray cluster for runs in virtual time, as in evaluations."""

    def kernels(self, schemes: Sequence[str]) -> list[str]:
        """The schemes, with the kernel's TCP in place of ours if they run in real shells."""
        if self.backend == "twin":
            return list(schemes)
        return [_KERNELS.get(scheme, scheme) for scheme in schemes]


_KERNELS = {"bbr": "kernel-bbr", "cubic": "kernel-cubic", "reno": "kernel-reno"}


def evaluate(
    options: ReproductionOptions,
    name: str,
    emulators: list[NamedEmulator],
    schemes: Sequence[str],
    runs: int,
    seconds: float,
    flows: int = 1,
    interval_s: float = 0.0,
    *,
    over_time: bool = False,
) -> Evaluation:
    """Runs what is left of an evaluation in the experiment's folder; `over_time`: keeps the logs.

    Raises:
        InputError: the backend cannot run it here.
    """
    folder = options.folder / f"{name}-{options.backend}"
    plan = Plan(
        emulators,
        select_schemes(",".join(schemes)),
        runs,
        seconds,
        options.seed,
        options.backend,
        shlex.join(["ccgym", *sys.argv[1:]]),
        flows,
        interval_s,
        keep_logs=over_time or options.backend != "twin",
    )
    run_plan(plan, folder, leave_out=True, ray_address=options.ray_address)
    return load_evaluation(folder)


def evaluate_from_the_start(
    options: ReproductionOptions, emulator: NamedEmulator, schemes: Sequence[str], runs: int, seconds: float
) -> Evaluation:
    """The same in the twin over a recorded trace, each run from the trace's beginning, as in real shells.

    Flows begin some 3 s after the link, as Pantheon's do.
    """
    spec, backend = emulator.spec, TwinBackend()
    generator = np.random.default_rng(options.seed)
    results = []
    for scheme in select_schemes(",".join(schemes)):
        for run in range(1, runs + 1):
            flow = PlannedFlow(scheme, float(generator.uniform(*SET_UP_S)), seconds)
            files = RunFiles(options.folder, scheme.label, run)
            logs = backend.run(spec, [flow], options.seed + run, files)
            loss = unseen_loss(spec, "twin", flows=1, tunnel=False)
            measured = measure_run(logs, spec.delay_ms, seconds=seconds, unseen_loss=loss)
            flows = [FlowResult(scheme.label, run, 1, scheme.label, measured.total, None)]
            results.append(RunResult(scheme.label, run, flows, measured.total, None))
    told, folder = "from the trace's beginning", options.folder
    scenario = Scenario(emulator.label, "twin", told, spec.delay_ms, results, [], folder=folder)
    return Evaluation(options.folder, {"seconds": seconds}, [scenario])


def failure_text(scenario: Scenario, scheme: str) -> str:
    """Why the scheme's first run without figures failed; empty if all runs have figures."""
    reasons = [each.reason for each in scenario.failures if each.scheme == scheme]
    return f"{len(reasons)} failed: {reasons[0]}" if reasons else ""


def mean_text(values: Sequence[float], decimals: int = 2) -> str:
    """A mean with its 95 % interval, as text."""
    if not len(values):
        return "-"
    interval = mean_interval(values)
    mean = f"{np.mean(values):.{decimals}f}"
    if interval is None or interval.low == interval.high:
        return mean
    return f"{mean} ({interval.low:.{decimals}f} to {interval.high:.{decimals}f})"


def reproduction_lines(found: Reproduction) -> list[str]:
    """The table as text."""
    heads = ("", "theirs", "ours", "tolerance", "")
    rows = [(line.what, line.theirs, line.ours, line.tolerance, line.verdict) for line in found.lines]
    widths = [max(len(row[column]) for row in [heads, *rows]) for column in range(len(heads))]
    lines = [f"{found.title} ({found.document})"]
    for row in [heads, *rows]:
        lines.append("  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip())
    checked = [line for line in found.lines if line.met is not None]
    return [
        *lines,
        *found.notes,
        f"{sum(bool(line.met) for line in checked)} of {len(checked)} tolerances met",
    ]
