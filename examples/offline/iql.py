"""Implicit Q-learning (Kostrikov, Nair, Levine, ICLR 2022) on episodes of other schemes, good and bad.

    ccgym dataset --schemes copa,vegas,bbr,cubic --emulators random:train:150 --out episodes
    python examples/offline/iql.py episodes

Mean log power on the twelve links after 90 s of a core: -2.77. The schemes of the data have
-2.50 (Copa), -2.68 (Vegas), -3.12 (BBR) and -3.91 (Cubic).
"""

import argparse
import copy
import sys
from collections import defaultdict
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1]))  # where twelve_links is

import torch
from episodes import INPUTS, Episode, load, measure, perceptron

DISCOUNT, EXPECTILE, SHARPNESS, FOLLOW, BATCH = 0.97, 0.8, 1.0, 0.005, 512
MOST_WEIGHT, MOST_CHANGE = 20.0, 3.0


def beside_others(episodes: list[Episode]) -> torch.Tensor:
    """Rewards minus the mean of all episodes over the same link, which leaves the scheme's contribution."""
    of_link = defaultdict(list)
    for episode in episodes:
        of_link[episode.emulator].append(episode.rewards.mean())
    return torch.cat(
        [episode.rewards - torch.stack(of_link[episode.emulator]).mean() for episode in episodes]
    )


def main(folder: Path, steps: int) -> float:
    """Trains, and returns the policy's mean log power on the twelve links."""
    torch.manual_seed(1)
    torch.set_num_threads(1)
    episodes = load(folder)
    states, later = (torch.cat(each) for each in zip(*((f.states, f.later) for f in episodes), strict=True))
    changes, rewards = torch.cat([episode.changes for episode in episodes]), beside_others(episodes)
    scale = changes.std()
    policy, value = perceptron(INPUTS, 1), perceptron(INPUTS, 1)
    critics = torch.nn.ModuleList([perceptron(INPUTS + 1, 1) for _ in range(2)])
    targets = copy.deepcopy(critics)
    networks = torch.nn.ModuleList([policy, value, critics])
    optimiser = torch.optim.Adam(networks.parameters(), lr=1e-3)
    slower = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.01, steps)
    for step in range(steps):
        rows = torch.randint(len(states), (BATCH,))
        seen, acted = states[rows], changes[rows] / scale
        pair = torch.cat([seen, acted.clamp(-MOST_CHANGE, MOST_CHANGE)], dim=1)
        with torch.no_grad():
            worth = torch.min(targets[0](pair), targets[1](pair))[:, 0]
            wanted = (1 - DISCOUNT) * rewards[rows] + DISCOUNT * value(later[rows])[:, 0]

        # The value: an expectile of the worth of the data's actions, so nearly that of the best one.
        ahead = worth - value(seen)[:, 0]
        value_loss = (torch.where(ahead > 0, EXPECTILE, 1 - EXPECTILE) * ahead.square()).mean()

        # The critics: the reward plus the value of the next state. They see only actions of the data.
        critic_loss = sum((critic(pair)[:, 0] - wanted).square().mean() for critic in critics)

        # The policy: cloning, weighted by how much better an action was than its state's value.
        weights = (SHARPNESS * ahead.detach() / ahead.detach().std()).exp().clamp(max=MOST_WEIGHT)
        policy_loss = (weights * (policy(seen) - acted)[:, 0].square()).mean()

        optimiser.zero_grad()
        (value_loss + critic_loss + policy_loss).backward()
        optimiser.step()
        slower.step()
        with torch.no_grad():
            for target, critic in zip(targets.parameters(), critics.parameters(), strict=True):
                target.lerp_(critic, FOLLOW)
        if step % 1000 == 999:
            print(f"step {step + 1}: value {value_loss:.5f}  critics {critic_loss:.5f}", flush=True)
    return measure(lambda seen: scale * policy(seen), episodes)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="what `ccgym dataset` made")
    parser.add_argument("--steps", type=int, default=6000, help="default: 6000")
    arguments = parser.parse_args()
    main(arguments.folder, arguments.steps)
