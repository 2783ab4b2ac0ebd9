"""`ccgym reproduce oracle-table`: the oracle's windows beside the published ones."""

import argparse

from ccgym.configs.arguments import add_ray_argument
from ccgym.envs.specs.emulators import select_emulators
from ccgym.evaluation.sessions.executors import open_executor
from ccgym.experiments.json_text import json_text
from ccgym.oracle.published import PUBLISHED_WINDOWS, mean_relative_deviation
from ccgym.oracle.window import find_windows

DESCRIPTION = "Searches the windows of the published training emulators and prints both."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds no arguments: the emulators are those that were published."""
    add_ray_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Searches every window."""
    emulators = select_emulators("synthetic,calibrated")
    with open_executor(args.ray) as executor:
        found = find_windows([emulator.spec for emulator in emulators], executor)
    windows = {emulator.label: int(packets) for emulator, packets in zip(emulators, found, strict=True)}
    deviation = mean_relative_deviation(windows)
    if args.json:
        rows = [
            {"emulator": label, "ours": ours, "published": PUBLISHED_WINDOWS[label]}
            for label, ours in windows.items()
        ]
        print(json_text({"windows": rows, "mean_relative_deviation": deviation}))
    else:
        for label, ours in windows.items():
            print(f"{label:32} {ours:6} packets, published {PUBLISHED_WINDOWS[label]:6}")
        print(f"mean relative deviation {deviation:.1%}")
    return 0
