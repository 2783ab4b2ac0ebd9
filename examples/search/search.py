"""A search over the parameters of a controller with `ccgym score`, offline: a (1+2) evolution strategy.

    python examples/search/search.py --generations 50 --out found.py

Each generation writes two variants of vegas_like.py and scores both at once; the best of the three survives.
The search uses links of the split `train`; the result is scored at the end on the default links, which are
new to it.
"""

import argparse
import random
import re
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ccgym.evaluation.isolation import CandidateError
from ccgym.evaluation.score import score
from matplotlib.figure import Figure

TEMPLATE = Path(__file__).with_name("vegas_like.py").read_text()
PARAMETERS = re.compile(r"^LOW_PACKETS, HIGH_PACKETS, BACKOFF = .*$", re.MULTILINE)
LOWEST, HIGHEST = (0.5, 1.0, 0.3), (50.0, 100.0, 0.95)
FAILED = -1000.0


def source(parameters: tuple[float, ...]) -> str:
    """The controller with these parameters."""
    values = ", ".join(f"{value:.4g}" for value in parameters)
    return PARAMETERS.sub(f"LOW_PACKETS, HIGH_PACKETS, BACKOFF = {values}", TEMPLATE)


def mutated(parameters: tuple[float, ...], spread: float, draw: random.Random) -> tuple[float, ...]:
    """Each parameter times a random factor around 1, within its bounds; the lower mark below the upper."""
    low, high, backoff = (
        min(most, max(least, value * draw.lognormvariate(0, spread)))
        for value, least, most in zip(parameters, LOWEST, HIGHEST, strict=True)
    )
    return min(low, high), high, backoff


def fitness(file: Path, parameters: tuple[float, ...], links: str) -> float:
    """The log power; a variant that crashes or hangs is the worst, and the search goes on."""
    file.write_text(source(parameters))
    try:
        return score(f"python:{file}:VegasLike", links).log_power
    except CandidateError as error:
        print(f"{parameters}: {error}")
        return FAILED


def search(generations: int, links: str, seed: int) -> tuple[tuple[float, ...], list[float]]:
    """The best parameters, and the best log power on these links after each generation."""
    draw, spread = random.Random(seed), 0.5
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as executor:
        files = [Path(folder) / f"variant_{index}.py" for index in range(2)]
        best: tuple[float, ...] = (2.0, 4.0, 0.5)
        best_fitness = fitness(files[0], best, links)
        history = []
        for generation in range(1, generations + 1):
            variants = [mutated(best, spread, draw) for _ in files]
            scored = list(executor.map(fitness, files, variants, [links] * len(files)))
            better = max(scored) > best_fitness
            if better:
                best_fitness = max(scored)
                best = variants[scored.index(best_fitness)]
            history.append(best_fitness)
            spread = min(1.0, max(0.05, spread * (1.3 if better else 0.9)))
            print(f"generation {generation}: log power {best_fitness:.3f} with {best}", flush=True)
    return best, history


def draw(history: list[float], file: Path) -> None:
    """The best log power over the generations."""
    figure = Figure(figsize=(7, 3), layout="tight")
    axes = figure.add_subplot()
    axes.step(range(1, len(history) + 1), history, where="post")
    axes.set(xlabel="generation", ylabel="log power of the best")
    axes.grid(alpha=0.3)
    figure.savefig(file, metadata={"Date": None} if file.suffix == ".svg" else None)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--generations", type=int, default=50)
    parser.add_argument("--links", default="random:train:24")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("found.py"))
    parser.add_argument("--figure", type=Path, help="the course of the search as a figure: SVG, PNG")
    args = parser.parse_args()
    found, reached = search(args.generations, args.links, args.seed)
    args.out.write_text(source(found))
    if args.figure:
        draw(reached, args.figure)
    unseen = score(f"python:{args.out}:VegasLike").log_power
    print(f"{args.out}: log power {unseen:.3f} on links not searched on")
