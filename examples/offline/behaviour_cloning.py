"""Behaviour cloning on flights of others: answer as the best of them did.

    ccgym dataset --schemes copa,vegas,bbr,cubic --emulators random:train:60 --out flights
    python examples/offline/behaviour_cloning.py flights

Mean log power on the twelve links after 30 s of a core: -3.71; of Copa, the best of the data, -2.50.
"""

import argparse
import sys
from collections import defaultdict
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # where twelve_links is

import torch
from flights import INPUTS, load, measure, perceptron


def main(folder: Path, steps: int) -> float:
    """Trains, and says what came of it."""
    torch.manual_seed(1)
    torch.set_num_threads(1)
    episodes = load(folder)
    returns = defaultdict(list)
    for episode in episodes:
        returns[episode["scheme"]].append(float(episode["rewards"].mean()))
    best = max(returns, key=lambda scheme: sum(returns[scheme]) / len(returns[scheme]))
    print(f"{best} is worth most in the data, and is cloned")
    cloned = [episode for episode in episodes if episode["scheme"] == best]
    states = torch.cat([episode["states"][:-1] for episode in cloned])
    actions = torch.cat([episode["actions"] for episode in cloned])
    policy = perceptron(INPUTS, 1)
    optimiser = torch.optim.Adam(policy.parameters(), lr=1e-3)
    for step in range(steps):
        rows = torch.randint(len(states), (1024,))
        loss = (policy(states[rows]) - actions[rows]).square().mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        if step % 1000 == 999:
            print(f"step {step + 1}: loss {loss:.4f}", flush=True)
    return measure(policy, set(returns))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="what `ccgym dataset` made")
    parser.add_argument("--steps", type=int, default=5000, help="default: 5000")
    arguments = parser.parse_args()
    main(arguments.folder, arguments.steps)
