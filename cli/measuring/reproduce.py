"""`ccgym reproduce`: runs an experiment again and prints our figures beside the reference."""

import argparse
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import wraps
from pathlib import Path
from typing import Any

from ccgym.cli.main import CommandLineParser
from ccgym.experiments.catalogue import EXPERIMENTS, Entry


class _ExperimentParser(CommandLineParser):
    """The parser of one experiment. It imports the experiment's module only when it is chosen."""

    def __init__(self, *, entry: Entry, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._entry: Entry | None = entry

    def parse_known_args(  # type: ignore[override]
        self, args: Sequence[str] | None = None, namespace: argparse.Namespace | None = None
    ) -> tuple[argparse.Namespace, list[str]]:
        self._load()
        return super().parse_known_args(args, namespace)

    def format_help(self) -> str:
        self._load()
        return super().format_help()

    def _load(self) -> None:
        if self._entry is None:
            return
        experiment, self._entry = self._entry.load(), None
        self.description = experiment.DESCRIPTION
        experiment.add_arguments(self)
        self.add_argument("--json", action="store_true", help="print the result as JSON")
        self.set_defaults(run=_in_its_folder(experiment.run))


def _in_its_folder(run: Callable[[argparse.Namespace], int]) -> Callable[[argparse.Namespace], int]:
    """Wraps `run` in the lock of its `--out` folder, if it has one: two runs never write to one folder.

    A folder that cannot be used is an error before the experiment begins.
    """

    @wraps(run)
    def run_alone(args: argparse.Namespace) -> int:
        from ccgym.envs.host.folder_lock import folder_lock

        folder: Path | None = getattr(args, "out", None)
        with nullcontext() if folder is None else folder_lock(folder):
            return run(args)

    return run_alone


FORMER_NAMES = {
    "policy-bars": "policy-checks",
    "dial-curve": "preference-curve",
    "kernel-judge": "kernel-cross-validation",
    "ns3-judge": "ns3-cross-validation",
    "copa-judge": "copa-cross-validation",
    "published-judge": "published-cross-validation",
}
"""Names of version 0.1.0: they work for one version more, and no help shows them."""


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds the command to the command line."""
    parser = subparsers.add_parser(
        "reproduce",
        help="run an experiment again, ours beside the reference",
        description="Runs an experiment again and prints ours beside the reference.",
    )
    experiments = parser.add_subparsers(
        title="experiments", metavar="NAME", dest="experiment", required=True, parser_class=_ExperimentParser
    )
    for name, entry in EXPERIMENTS.items():
        experiments.add_parser(name, help=entry.help, entry=entry)
    for former, name in FORMER_NAMES.items():
        experiments.choices[former] = experiments.choices[name]
