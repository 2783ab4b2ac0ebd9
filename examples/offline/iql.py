"""Implicit Q-learning (Kostrikov, Nair, Levine, ICLR 2022) on flights of others, good and bad.

    ccgym dataset --schemes copa,vegas,bbr,cubic --emulators random:train:60 --out flights
    python examples/offline/iql.py flights

Mean log power on the twelve links after 120 s of a core: -4.37; of Copa, the best of the data, -2.50.
"""

import argparse
import copy
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # where twelve_links is

import torch
from flights import INPUTS, load, measure, perceptron

DISCOUNT, EXPECTILE, SHARPNESS, FOLLOW, BATCH = 0.97, 0.8, 3.0, 0.005, 512
MOST_WEIGHT = 100.0


def main(folder: Path, steps: int) -> float:
    """Trains, and says what came of it."""
    torch.manual_seed(1)
    torch.set_num_threads(1)
    episodes = load(folder)
    states, later, actions, rewards = (
        torch.cat(parts)
        for parts in zip(
            *(
                (each["states"][:-1], each["states"][1:], each["actions"], each["rewards"])
                for each in episodes
            ),
            strict=True,
        )
    )
    policy, value = perceptron(INPUTS, 1), perceptron(INPUTS, 1)
    critics = torch.nn.ModuleList([perceptron(INPUTS + 1, 1) for _ in range(2)])
    targets = copy.deepcopy(critics)
    networks = torch.nn.ModuleList([policy, value, critics])
    optimiser = torch.optim.Adam(networks.parameters(), lr=1e-3)
    for step in range(steps):
        rows = torch.randint(len(states), (BATCH,))
        seen, acted = states[rows], actions[rows]
        pair = torch.cat([seen, acted], dim=1)
        with torch.no_grad():
            worth = torch.min(targets[0](pair), targets[1](pair))[:, 0]
            wanted = rewards[rows] + DISCOUNT * value(later[rows])[:, 0]

        # The value: an expectile of what actions of the data are worth, so nearly the best of them.
        ahead = worth - value(seen)[:, 0]
        value_loss = (torch.where(ahead > 0, EXPECTILE, 1 - EXPECTILE) * ahead.square()).mean()

        # The critics: a reward and the value after it. No action is asked that is not in the data.
        critic_loss = sum((critic(pair)[:, 0] - wanted).square().mean() for critic in critics)

        # The policy: cloning, the more the better an action was than its state.
        weights = (SHARPNESS * ahead.detach()).exp().clamp(max=MOST_WEIGHT)
        policy_loss = (weights * (policy(seen) - acted)[:, 0].square()).mean()

        optimiser.zero_grad()
        (value_loss + critic_loss + policy_loss).backward()
        optimiser.step()
        with torch.no_grad():
            for target, critic in zip(targets.parameters(), critics.parameters(), strict=True):
                target.lerp_(critic, FOLLOW)
        if step % 1000 == 999:
            print(f"step {step + 1}: value {value_loss:.3f}  critics {critic_loss:.3f}", flush=True)
    return measure(policy, {str(each["scheme"]) for each in episodes})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="what `ccgym dataset` made")
    parser.add_argument("--steps", type=int, default=10000, help="default: 10000")
    arguments = parser.parse_args()
    main(arguments.folder, arguments.steps)
