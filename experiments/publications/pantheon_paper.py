"""The figures of Pantheon's paper (Yan et al., ATC 2018) that no other experiment compares with ours.

The paths of the paper no longer exist; only these figures are left. Figure 5, how much each parameter of an
emulator contributes, is measured again on the published emulators of the same paths.
"""

import argparse
from functools import partial

from ccgym.experiments.calibration.ablation import STEPS, Ablation, ablations, checks

from . import california_stanford
from .command import add_common_arguments, description_of, run_reproduction
from .reproduction import Line, Reproduction, ReproductionOptions

TITLE = "Pantheon: calibrated emulators, tunnel, paths"
DOCUMENT = "document 002"
SEARCH_MINUTES, QUICK_SEARCH_MINUTES = 1.0, 0.1
GONE = "the path is gone, and so are its measurements"
PARAMETERS = {
    "china": ("China, wired", {"rate": "211.8", "+ delay": "189.7", "+ queue": "32.3", "+ loss": "17.7"}),
    "colombia": ("Colombia, cellular", {"+ loss": "23.7", "+ arrivals": "13.0"}),
}
"""Figure 5, mean error in %."""
REPLICATION = {
    "Nepal to AWS India, Wi-Fi": "19.1", "AWS Brazil to Colombia, cellular": "13.0",
    "Mexico to AWS California, cellular": "25.1", "AWS Korea to China, wired": "17.7",
    "India to AWS India, wired": "15.6", "AWS California to Mexico, wired": "12.7",
    "AWS California to Mexico, wired, 3 flows": "14.4", "mean of all": "17",
}  # fmt: skip
"""Figure 4 and section 5.1, mean error in %."""
PATHS = {
    "Brazil to Colombia, cellular: PCC's throughput / the best (finding 1)": "0.8",
    "Brazil to Colombia, cellular: PCC's delay / the least (finding 1)": "20",
    "Stanford to California, cellular: PCC's throughput / the best (finding 1)": "0.52",
    "Brazil to Colombia, wired: delays differ by (finding 1)": "at most 32 %",
    "Tokyo to Sydney: BBR's throughput below PCC's (finding 1)": "34 %",
    "Colombia to Brazil: QUIC's delay / Vegas's (finding 2)": "9",
    "Brazil to Colombia, cellular: Vegas's throughput, two days later (finding 3)": "-23 %",
    "Brazil to Colombia, cellular: Vegas's delay, two days later (finding 3)": "below 1 / 2",
    "Tokyo to Sydney: throughputs of three PCC flows (finding 3)": "32:4:1",
}


def reproduce(options: ReproductionOptions) -> Reproduction:
    """Searches the emulators with one more parameter each time; other figures are listed without ours."""
    minutes = QUICK_SEARCH_MINUTES if options.quick else SEARCH_MINUTES
    found = list(ablations(options.folder, minutes))
    lines = [
        *_parameter_lines(found, checked=not options.quick),
        *(
            Line(f"replication error, {path}: %", theirs, "-", why=GONE)
            for path, theirs in REPLICATION.items()
        ),
        _left_out_line(),
        Line(
            "tunnel beside no tunnel: least p of Kolmogorov-Smirnov's test",
            ">= 0.2",
            "-",
            why="run in real shells for hours: `ccgym reproduce tunnel-transparency`",
        ),
        *(Line(what, theirs, "-", why=GONE) for what, theirs in PATHS.items()),
    ]
    notes = [
        f"searches of {minutes:g} minutes each; theirs took 2 hours on 30 machines, over real paths: "
        "what is left of their errors is what five parameters cannot say"
    ]
    return Reproduction(TITLE, DOCUMENT, lines, notes=notes)


def _parameter_lines(found: list[Ablation], *, checked: bool) -> list[Line]:
    """The published errors beside ours with the same parameters, and whether each parameter helps."""
    errors = {(each.path, each.step): f"{100 * each.error:.1f}" for each in found}
    lines = []
    for (path, (name, published)), check in zip(PARAMETERS.items(), checks(found), strict=True):
        lines += [
            Line(f"{name}: error with {step}, %", published[step], errors[path, step])
            for step in STEPS
            if step in published
        ]
        what = f"{name}: no parameter more makes the error larger (figure 5)"
        tolerance, met, why = "by more than 0.5 points", check.met, ""
        if not checked:
            tolerance, met, why = "", None, "not checked after searches as short as these"
        lines.append(Line(what, "yes", check.measured, tolerance, met, why))
    return lines


def _left_out_line() -> Line:
    left_out = california_stanford.ERRORS[1]
    return Line(
        "error of a scheme that was left out of the calibration",
        "about 20 %",
        f"{left_out:.0%}",
        why="ours is of the path of document 000, cellular: a constant link is not that path",
    )


DESCRIPTION = description_of("pantheon-paper")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What can be chosen."""
    add_common_arguments(parser, "reproductions/pantheon-paper")


run = partial(run_reproduction, reproduce)
