"""Behaviour cloning on episodes of other schemes: imitates the best of them.

    ccgym dataset --schemes copa,vegas,bbr,cubic --emulators random:train:150 --out episodes
    python examples/offline/behaviour_cloning.py episodes

Mean log power on the twelve links after 30 s of a core: -2.86. The schemes of the data have
-2.50 (Copa), -2.68 (Vegas), -3.12 (BBR) and -3.91 (Cubic).
"""

import argparse
import sys
from collections import defaultdict
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # where twelve_links is

import torch
from episodes import INPUTS, load, measure, perceptron


def main(folder: Path, steps: int) -> float:
    """Trains, and returns the policy's mean log power on the twelve links."""
    torch.manual_seed(1)
    torch.set_num_threads(1)
    episodes = load(folder)
    returns = defaultdict(list)
    for episode in episodes:
        returns[episode.scheme].append(float(episode.rewards.mean()))
    best = max(returns, key=lambda scheme: sum(returns[scheme]) / len(returns[scheme]))
    print(f"{best} is worth most in the data, and is cloned")
    states = torch.cat([episode.states for episode in episodes if episode.scheme == best])
    changes = torch.cat([episode.changes for episode in episodes if episode.scheme == best])
    scale = changes.std()
    policy = perceptron(INPUTS, 1)
    optimiser = torch.optim.Adam(policy.parameters(), lr=1e-3)
    slower = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.01, steps)
    for step in range(steps):
        rows = torch.randint(len(states), (512,))
        loss = (policy(states[rows]) - changes[rows] / scale).square().mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        slower.step()
        if step % 1000 == 999:
            print(f"step {step + 1}: loss {loss:.3f}", flush=True)
    return measure(lambda seen: scale * policy(seen), episodes)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="what `ccgym dataset` made")
    parser.add_argument("--steps", type=int, default=4000, help="default: 4000")
    arguments = parser.parse_args()
    main(arguments.folder, arguments.steps)
