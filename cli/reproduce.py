"""`ccgym reproduce`: an experiment run again, ours beside what it is to be measured by."""

import argparse
from importlib import import_module

from .experiments.documents import DOCUMENTS, add_document_parser

EXPERIMENTS = (
    "oracle-table",
    "policy-bars",
    "competition",
    "evidence",
    "dial-curve",
    "seed-spread",
    "twin-parity",
    "kernel-judge",
    "ns3-judge",
    "copa-judge",
    "published-judge",
    "tunnel-transparency",
    "rl-learns",
    "calibration-truth",
    "calibration-ablation",
)
"""Each a module in experiments/: HELP, DESCRIPTION, `add_arguments(parser)`, `run(args) -> exit code`."""


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds the command to the command line."""
    parser = subparsers.add_parser(
        "reproduce",
        help="run an experiment again, ours beside the reference",
        description="Runs an experiment again and prints ours beside the reference.",
    )
    experiments = parser.add_subparsers(title="experiments", metavar="NAME", dest="experiment", required=True)
    modules = {name: name.replace("-", "_") for name in EXPERIMENTS} | {"all": "everything"}
    for name, file in modules.items():
        module = import_module(f"ccgym.cli.experiments.{file}")
        experiment = experiments.add_parser(name, help=module.HELP, description=module.DESCRIPTION)
        module.add_arguments(experiment)
        experiment.set_defaults(run=module.run)
    for name in DOCUMENTS:
        add_document_parser(experiments, name)
    for experiment in experiments.choices.values():
        experiment.add_argument("--json", action="store_true", help="print the result as JSON")
