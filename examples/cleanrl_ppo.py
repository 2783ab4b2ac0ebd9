"""PPO in one file, in the manner of CleanRL: nothing but PyTorch and the vector environment.

Mean log power on the twelve links after 40 s of a core: -2.59; indigo2 has -2.40, random actions -5.76.
"""

import argparse

import gymnasium as gym
import numpy as np
import torch
from sb3_ppo import reward
from torch import nn
from torch.distributions import Normal
from twelve_links import mean_log_power

FLOWS, STEPS, EPISODE_STEPS, INPUTS = 96, 200, 400, 30
GAMMA, LAMBDA, CLIP, EPOCHS, BATCHES = 0.97, 0.95, 0.2, 5, 8


def perceptron(outputs: int, last_gain: float) -> nn.Sequential:
    """Two hidden layers."""
    layers = [nn.Linear(INPUTS, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, outputs)]
    nn.init.orthogonal_(layers[-1].weight, last_gain)
    return nn.Sequential(*layers)


def main(iterations: int) -> float:
    """Trains, and returns the policy's mean log power on the twelve links."""
    torch.manual_seed(1)
    envs = gym.make_vec(
        "ccgym/Path-v0",
        num_envs=FLOWS,
        max_episode_steps=EPISODE_STEPS,
        emulator="random:train",
        features="scale_free",
        actions="log_window",
        reward=reward,
        threads=2,
        autoreset_mode="SameStep",
    )
    actor, critic = perceptron(1, 0.01), perceptron(1, 1.0)
    log_std = nn.Parameter(torch.full((1,), -1.5))
    optimiser = torch.optim.Adam([*actor.parameters(), *critic.parameters(), log_std], lr=5e-4, eps=1e-5)
    seen = torch.from_numpy(envs.reset(seed=1)[0])
    for iteration in range(iterations):
        observations = torch.zeros(STEPS, FLOWS, INPUTS)
        actions, log_probs, rewards, ends, values = (torch.zeros(STEPS, FLOWS) for _ in range(5))
        for step in range(STEPS):
            with torch.no_grad():
                chance = Normal(actor(seen)[:, 0], log_std.exp())
                action = chance.sample()
                observations[step], actions[step], values[step] = seen, action, critic(seen)[:, 0]
                log_probs[step] = chance.log_prob(action)
            new, worth, _, over, _ = envs.step(action.clamp(-1, 1)[:, None].numpy())
            rewards[step], ends[step] = torch.from_numpy(worth), torch.from_numpy(over)
            seen = torch.from_numpy(new)
        with torch.no_grad():
            later, advantage = critic(seen)[:, 0], torch.zeros(FLOWS)
            advantages = torch.zeros(STEPS, FLOWS)
            for step in reversed(range(STEPS)):
                going_on = 1 - ends[step]
                delta = rewards[step] + GAMMA * later * going_on - values[step]
                advantage = delta + GAMMA * LAMBDA * going_on * advantage
                advantages[step], later = advantage, values[step]
            returns = advantages + values
        flat = [each.flatten(0, 1) for each in (observations, actions, log_probs, advantages, returns)]
        for _ in range(EPOCHS):
            for rows in torch.randperm(STEPS * FLOWS).chunk(BATCHES):
                saw, acted, before, gain, target = (each[rows] for each in flat)
                gain = (gain - gain.mean()) / (gain.std() + 1e-8)
                ratio = (Normal(actor(saw)[:, 0], log_std.exp()).log_prob(acted) - before).exp()
                surrogate = torch.min(gain * ratio, gain * ratio.clamp(1 - CLIP, 1 + CLIP)).mean()
                loss = 0.5 * (critic(saw)[:, 0] - target).square().mean() - surrogate
                optimiser.zero_grad()
                loss.backward()
                nn.utils.clip_grad_norm_([*actor.parameters(), *critic.parameters(), log_std], 0.5)
                optimiser.step()
        if iteration % 10 == 9:
            print(f"iteration {iteration + 1}: reward {rewards.mean():.3f}", flush=True)

    def act(observed: np.ndarray) -> np.ndarray:
        with torch.no_grad():
            return actor(torch.from_numpy(observed)).clamp(-1, 1).numpy()

    power = mean_log_power(act, "scale_free", "log_window")
    print(f"mean log power {power:.2f}")
    return power


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--iterations", type=int, default=24, help="default: 24")
    main(parser.parse_args().iterations)
