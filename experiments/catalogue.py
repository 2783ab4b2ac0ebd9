"""Every experiment of `ccgym reproduce`: its name, its module and what it shows.

The modules are not imported here: some import PyTorch, and the command line must start at once.
"""

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Protocol


class Experiment(Protocol):
    """The interface of an experiment's module."""

    DESCRIPTION: str
    """For `--help`; says what makes the exit code 1."""

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Adds the experiment's own arguments; `--json` is added to all."""

    def run(self, args: argparse.Namespace) -> int:
        """Measures and prints; returns the exit code."""


@dataclass(frozen=True)
class Entry:
    """A line of the catalogue."""

    module: str
    """Name of the module below ccgym.experiments."""
    help: str

    def load(self) -> Experiment:
        """Imports and returns the module."""
        module: Experiment = import_module(f"ccgym.experiments.{self.module}")
        return module


PUBLICATIONS: Mapping[str, Entry] = {
    name: Entry(f"publications.{name.replace('-', '_')}", text)
    for name, text in {
        "replay-rate-trace": "NewReno on a Poisson trace, every metric of ccperf's page",
        "california-stanford": "Pantheon's table of a cellular path, line by line, beside an emulator of it",
        "verizon-lte": "Pantheon's table of Verizon LTE in mahimahi, line by line, on the same trace",
        "copa-fairness": "Jain's index of flows that come and go, as in a reproduction of Copa",
        "copa-pantheon": "normalised throughput and queueing delay over Pantheon's paths, Copa's Table 1",
        "pantheon-emulators": "all schemes on Pantheon's calibrated and pathological emulators",
        "pantheon-paper": "what each parameter of an emulator is worth, and what else Pantheon's paper says",
        "indigo-paper": "oracle, calibrated emulators and hidden units of Indigo's paper",
        "calibration-benefit": "what calibrated emulators are worth in training, on a path that is known",
    }.items()
}
"""The experiments of `ccgym reproduce all`: each has `reproduce(options)` as well."""

EXPERIMENTS: Mapping[str, Entry] = {
    "oracle-table": Entry(
        "cross_validation.oracle_table", "our ideal windows beside those published with Indigo"
    ),
    "policy-checks": Entry("acceptance.policy_checks", "what a policy must hold in the twin, measured"),
    "competition": Entry(
        "acceptance.competition",
        "what a scheme gets and leaves beside Cubic, NewReno, BBR, BBR 3, Copa and four Cubics",
    ),
    "completion-times": Entry(
        "acceptance.completion_times",
        "completion times of short flows, alone and beside a long one, and Cubic's",
    ),
    "adversary": Entry(
        "acceptance.adversary", "the links and the rivals on which a scheme does worst, found by evolution"
    ),
    "real-mahimahi": Entry(
        "acceptance.real_mahimahi",
        "what a policy must hold in real mahimahi, beside kernel BBR, Copa and a kernel Cubic",
    ),
    "evidence": Entry(
        "acceptance.evidence", "the page on what a policy holds and misses, alone and beside others"
    ),
    "preference-curve": Entry(
        "acceptance.preference_curve",
        "throughput and delay of a policy over its preference, beside Copa's and fixed windows'",
    ),
    "seed-spread": Entry("training.seed_spread", "trainings from several seeds, beside BBR"),
    "twin-parity": Entry("cross_validation.twin_parity", "the twin beside real mahimahi"),
    "kernel-cross-validation": Entry(
        "cross_validation.kernel", "our Cubic, NewReno and BBR beside the kernel's"
    ),
    "ns3-cross-validation": Entry(
        "cross_validation.ns3", "our NewReno, Cubic, Vegas and DCTCP beside ns-3's"
    ),
    "short-flows": Entry(
        "cross_validation.short_flows", "completion times of short flows of our Cubic beside the kernel's"
    ),
    "copa-cross-validation": Entry("cross_validation.copa", "our Copa beside its authors' program"),
    "published-cross-validation": Entry(
        "cross_validation.published", "our schemes beside the figures that others have published"
    ),
    "tunnel-transparency": Entry(
        "cross_validation.tunnel_transparency",
        "kernel TCP inside and outside of the tunnel, in real mahimahi",
    ),
    "rl-learns": Entry(
        "training.rl_learns", "reinforcement learning beside a random, a fixed and the initial policy"
    ),
    "calibration-truth": Entry(
        "calibration.known_truth", "known emulators found again from measurements alone"
    ),
    "calibration-mahimahi": Entry(
        "calibration.in_mahimahi",
        "emulators measured in real mahimahi by kernel TCP and ours, found again from that alone",
    ),
    "calibration-ablation": Entry(
        "calibration.ablation",
        "what each parameter of a calibrated emulator is worth, as in the Pantheon paper's Figure 5",
    ),
    **PUBLICATIONS,
    "all": Entry("publications.everything", "every published figure of the documents beside ours, as a page"),
}
