"""`ccgym dataset`: runs of schemes as a Minari dataset, for offline learning."""

import argparse
import json
import os
from pathlib import Path

from ccgym.configs.arguments import add_ray_argument, count, seed


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Adds the command to the command line."""
    parser = subparsers.add_parser(
        "dataset",
        help="runs of schemes as a Minari dataset, for offline learning",
        description="Runs every scheme over every emulator, in the twin, and records up to 1000 steps of 10 "
        "ms of each run as the environment ccgym/Path-v0 would: raw features as observations, window "
        "(packets) and pacing rate (Mbit/s) as actions, Copa's utility as reward, and the oracle's "
        "window. DIR/data is a Minari dataset. The same request gives the same "
        "episodes, and prints the same sha256, on any number of threads. Run it again with the "
        "same --out to go on after an interruption. Needs `pip install 'ccgym[dataset]'`.",
    )
    parser.add_argument(
        "--schemes",
        required=True,
        metavar="A,B,...",
        help="schemes that run in the twin: names of `ccgym schemes`, policy:FILE, python:FILE.py:CLASS, "
        "so:FILE.so; all: every one that comes along, but aurora",
    )
    parser.add_argument(
        "--emulators",
        required=True,
        metavar="X,Y,...",
        help="groups and names of `ccgym emulators`, random:train:N, file:PATH",
    )
    parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="where the dataset goes")
    parser.add_argument(
        "--seed", type=seed, default=1, metavar="N", help="of random draws in the runs (default: 1)"
    )
    parser.add_argument(
        "--workers", type=count, metavar="N", help="runs at once (default: one for each core)"
    )
    add_ray_argument(parser)
    parser.add_argument("--json", action="store_true", help="print what was made as JSON")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Makes what is left of the dataset."""
    from ccgym.envs.specs.emulators import select_emulators
    from ccgym.evaluation.schemes import ALL, select_schemes, twin_schemes
    from ccgym.training.executors import check_cluster

    schemes = twin_schemes() if args.schemes.strip() == ALL else select_schemes(args.schemes)
    emulators = select_emulators(args.emulators)
    if args.ray is not None:
        check_cluster(args.ray)
    # Late: a mistake in the names is told before the oracle and the environments are imported.
    from ccgym.envs.host.progress_bar import progress_bar, progress_console
    from ccgym.evaluation.dataset.dataset import Request, make_dataset

    request = Request(schemes, emulators, args.emulators, args.seed)
    console = progress_console(stderr=True)
    with progress_bar("emulators", console) as bar:
        task = bar.add_task("", total=len(request.emulators))

        def show(done: int) -> None:
            bar.update(task, completed=done)
            if not console.is_terminal and (done % 100 == 0 or done == len(request.emulators)):
                console.print(f"[{done}/{len(request.emulators)}] emulators", markup=False)

        workers = args.workers or len(os.sched_getaffinity(0))
        made = make_dataset(request, args.out, workers, show, args.ray)
    if args.json:
        print(json.dumps({**vars(made), "folder": str(made.folder)}))
        return 0
    print(f"{made.folder}: {made.episodes} episodes, {made.steps} steps, sha256 {made.digest}")
    print(f"minari.MinariDataset({str(made.folder)!r}) opens it")
    return 0
