"""`ccgym reproduce`: an experiment run again, ours beside what it is to be measured by."""

import argparse
from importlib import import_module

EXPERIMENTS = (
    "oracle-table",
    "policy-bars",
    "competition",
    "dial-curve",
    "seed-spread",
    "twin-parity",
    "kernel-judge",
    "ns3-judge",
    "copa-judge",
    "published-judge",
    "copa-fairness",
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
    for name in EXPERIMENTS:
        module = import_module(f"ccgym.cli.experiments.{name.replace('-', '_')}")
        experiment = experiments.add_parser(name, help=module.HELP, description=module.DESCRIPTION)
        module.add_arguments(experiment)
        experiment.add_argument("--json", action="store_true", help="print the result as JSON")
        experiment.set_defaults(run=module.run)
