"""Searches by evolution for the links and rivals on which a scheme does worst, and shows them.

A search is an Optuna study with a genetic algorithm (NSGA-II; Deb et al., IEEE TEC 6(2), 2002, with one
objective). Its proposals depend only on its seed and on the deficits found so far. A search that was stopped
therefore reaches the same answer: it proposes all cases again from the start, but runs none of them twice.
"""

import argparse
import math
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import optuna
import yaml
from ccgym.configs.arguments import add_ray_argument, count, seed
from ccgym.envs.errors import InputError
from ccgym.envs.outside_files import read_json, replace_file
from ccgym.evaluation.schemes import IN_TWIN, Scheme, select_schemes
from ccgym.evaluation.sessions.executors import open_executor
from ccgym.experiments.json_text import json_text
from optuna.samplers import NSGAIISampler
from optuna.trial import FrozenTrial

from .hostile_cases import TERRAINS, Case, Terrain

POPULATION = 40
SHOWN = 10
ALIKE_FACTOR = 2.0
"""A case is left out if a worse one has the same rivals and a rate, delay and queue within this factor."""


@dataclass(frozen=True)
class Found:
    """A case and the deficit of the scheme on it."""

    case: Case
    deficit: float
    """See `hostile_cases`."""


@dataclass(frozen=True)
class Answer:
    """The result of a search."""

    scheme: str
    terrain: str
    at_random: float
    """Mean deficit of the first generation, which is drawn at random."""
    worst: list[Found]
    """The worst cases, worst first, no two alike."""

    @property
    def mean_worst(self) -> float:
        """Mean deficit of the worst cases."""
        return float(np.mean([found.deficit for found in self.worst]))


def search(
    scheme: Scheme,
    terrain: Terrain,
    file: Path,
    *,
    generations: int,
    seed: int,
    executor: Executor,
    say: Callable[[str], None],
) -> Answer:
    """Evolves cases; goes on where a search of the same scheme, terrain and seed was stopped.

    Args:
        scheme: a scheme that runs in the twin.
        terrain: the cases that may be chosen.
        file: where the deficits are kept after each generation.
        generations: number of generations, of POPULATION cases each.
        seed: seed of the search.
        executor: runs cases side by side.
        say: is called with the state after each generation that is run.

    Raises:
        InputError: the file belongs to another search.
    """
    kept = _Deficits(file, {"scheme": scheme.fingerprint(), "terrain": terrain.name, "seed": seed})
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    sampler = NSGAIISampler(population_size=POPULATION, seed=seed)
    study = optuna.create_study(sampler=sampler, direction="maximize")
    for generation in range(generations):
        born = [study.ask(dict(terrain.distributions)) for _ in range(POPULATION)]
        if len(kept.values) <= generation:
            cases = [terrain.case(trial.params) for trial in born]
            kept.add(list(executor.map(terrain.deficit, [scheme.controller] * len(cases), cases)))
            worst = max(zip(kept.values[-1], cases, strict=True), key=lambda pair: pair[0])
            found = f"{worst[0]:+.2f}: {worst[1].text}"
            say(f"{scheme.label}, {terrain.name}, generation {generation + 1} of {generations}: {found}")
        for trial, deficit in zip(born, kept.values[generation], strict=True):
            study.tell(trial, deficit)
    at_random = float(np.mean(kept.values[0]))
    return Answer(scheme.label, terrain.name, at_random, worst_of(study.trials, terrain))


class _Deficits:
    """The deficits of each generation of a search, kept on disk."""

    def __init__(self, file: Path, search: dict[str, Any]) -> None:
        """Reads the file if there is one. Raises InputError if it is not a file of this search."""
        self._file, self._search = file, search
        self.values: list[list[float]] = []
        if not file.exists():
            return
        before = read_json(file, "the search")
        if not isinstance(before, dict) or before.get("search") != search:
            raise InputError(f"{file}: of another search, or version of the scheme: choose another --out")
        self.values = before.get("deficits", [])
        if not _are_generations(self.values):
            raise InputError(f"{file}: damaged: deficits are not {POPULATION} numbers for each generation")

    def add(self, deficits: list[float]) -> None:
        """Adds the deficits of the next generation."""
        self.values.append(deficits)
        text = json_text({"search": self._search, "deficits": self.values})
        replace_file(self._file, lambda fresh: fresh.write_text(text))


def _are_generations(values: object) -> bool:
    return isinstance(values, list) and all(
        isinstance(each, list) and len(each) == POPULATION and all(isinstance(one, float) for one in each)
        for each in values
    )


def worst_of(trials: Sequence[FrozenTrial], terrain: Terrain) -> list[Found]:
    """The SHOWN worst cases, no two alike."""
    kept: list[FrozenTrial] = []
    for trial in sorted(trials, key=lambda trial: -(trial.value or 0.0)):
        if len(kept) < SHOWN and not any(_alike(trial, other) for other in kept):
            kept.append(trial)
    return [Found(terrain.case(trial.params), trial.value or 0.0) for trial in kept]


def _alike(one: FrozenTrial, other: FrozenTrial) -> bool:
    if any(one.params.get(name) != other.params.get(name) for name in ("rival", "flows")):
        return False
    close = (
        abs(math.log(one.params[name] / other.params[name])) <= math.log(ALIKE_FACTOR)
        for name in ("rate_mbps", "delay_ms", "queue_bdp")
    )
    return all(close)


def stem_of(scheme: Scheme, terrain: Terrain, seed: int) -> str:
    """The common part of the names of a search's files."""
    return f"{scheme.label}-{terrain.name.replace(' ', '-')}-{seed}"


def write_emulators(answer: Answer, file: Path) -> None:
    """The cases as emulators, for `--emulators file:PATH`."""
    specs = [found.case.to_emulator(f"worst-{i}") for i, found in enumerate(answer.worst, start=1)]
    entries = [spec.model_dump(mode="json", exclude_defaults=True) for spec in specs]
    text = yaml.safe_dump({"emulators": entries}, sort_keys=False)
    replace_file(file, lambda fresh: fresh.write_text(text))


def as_json(answer: Answer) -> dict[str, Any]:
    """The answer for `--json`, with the cases as emulators."""
    worst = [
        {"deficit": found.deficit, "emulator": found.case.to_emulator("case").model_dump(mode="json")}
        for found in answer.worst
    ]
    return {**vars(answer), "worst": worst}


def table(answers: Sequence[Answer]) -> str:
    """A Markdown table of all searches."""
    head = f"| scheme | | at random | worst {SHOWN} | worst | where |\n|---|---|---|---|---|---|"
    rows = (
        f"| {each.scheme} | {each.terrain} | {each.at_random:+.2f} | {each.mean_worst:+.2f} | "
        f"{each.worst[0].deficit:+.2f} | {each.worst[0].case.text} |"
        for each in answers
    )
    return "\n".join([head, *rows])


DESCRIPTION = (
    "Searches, by evolution, for links and rivals on which a scheme does worst in the twin: alone, where "
    "another scheme has the largest multiple of its power (throughput / p95 delay); beside others, where it "
    "gets least of its fair share or leaves them least of theirs. Deficits are natural logarithms: +0.69 is "
    "a factor of two. Prints the worst cases, and writes them as emulators for --emulators file:PATH. The "
    "same seed finds the same cases."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments: which schemes, and how many generations."""
    parser.add_argument(
        "--scheme",
        default="indigo2",
        metavar="A,B,...",
        help="schemes that run in the twin (default: indigo2)",
    )
    parser.add_argument(
        "--generations",
        type=count,
        default=30,
        metavar="N",
        help=f"generations of {POPULATION} cases, in each of two searches (default: 30, 10 min on 2 cores)",
    )
    parser.add_argument("--seed", type=seed, default=1, metavar="N", help="seed of the searches (default: 1)")
    parser.add_argument(
        "--out",
        required=True,
        type=Path,
        metavar="DIR",
        help="folder of the searches, which go on where they stopped",
    )
    add_ray_argument(parser)


def _schemes(selection: str) -> list[Scheme]:
    """The schemes of the list. Raises InputError if one is unknown or does not run in the twin."""
    schemes = select_schemes(selection)
    for scheme in schemes:
        if scheme.kind not in IN_TWIN:
            raise InputError(f"--scheme {scheme.label}: does not run in the twin, as copa and indigo2 do")
    return schemes


def run(args: argparse.Namespace) -> int:
    """Searches against one scheme after the other."""
    schemes = _schemes(args.scheme)

    def say(text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    answers = []
    with open_executor(args.ray) as executor:
        for scheme, terrain in product(schemes, TERRAINS):
            stem = stem_of(scheme, terrain, args.seed)
            answer = search(
                scheme,
                terrain,
                args.out / f"{stem}.json",
                generations=args.generations,
                seed=args.seed,
                executor=executor,
                say=say,
            )
            answers.append(answer)
            file = args.out / f"{stem}.yaml"
            write_emulators(answer, file)
            if not args.json:
                print(f"{answer.scheme}, {answer.terrain}: {file}")
                print("\n".join(f"{each.deficit:+.2f}  {each.case.text}" for each in answer.worst))
    if args.json:
        print(json_text({"seed": args.seed, "answers": [as_json(answer) for answer in answers]}))
    else:
        print(table(answers))
    return 0
