"""DAgger with a visible loop: the learner runs, the oracle gives the right actions, PyTorch fits them.

Mean log power on the twelve links after 100 s of a core: -2.78; indigo2 has -2.40, random actions -5.76.
"""

import argparse

import gymnasium as gym
import numpy as np
import torch
from ccgym.oracle.ideal import STEP_MS, ideal_windows
from torch import nn
from twelve_links import mean_log_power

FLOWS, STEPS, KEPT = 96, 300, 12
MIDDLE = 0.5
"""From low delay (0) to full throughput (1)."""


def main(iterations: int) -> float:
    """Trains, and returns the policy's mean log power on the twelve links."""
    torch.manual_seed(1)
    network = nn.Sequential(nn.Linear(30, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))
    optimiser = torch.optim.Adam(network.parameters(), lr=3e-3)
    envs = gym.make_vec(
        "ccgym/Path-v0",
        num_envs=FLOWS,
        max_episode_steps=STEPS + 1,
        emulator="random:train",
        features="scale_free",
        actions="log_window",
        threads=2,
    )

    def act(seen: np.ndarray) -> np.ndarray:
        with torch.no_grad():
            return network(torch.from_numpy(seen)).clamp(-1, 1).numpy()

    data: list[tuple[torch.Tensor, torch.Tensor]] = []
    for iteration in range(iterations):
        for group in optimiser.param_groups:
            group["lr"] = 3e-3 * (1 - iteration / iterations) + 3e-5
        seen, _ = envs.reset(seed=iteration * FLOWS)

        # Collect: at first the expert runs, then the learner.
        engine = envs.unwrapped.engine
        ideal = np.array([ideal_windows(spec, MIDDLE, 3 * STEPS) for spec in engine.specs])
        time_ms = np.zeros(FLOWS)
        observations, labels = [], []
        for _ in range(STEPS):
            wanted = ideal[np.arange(FLOWS), np.minimum(time_ms / STEP_MS, 3 * STEPS - 1).astype(int)]
            right = np.log(np.maximum(wanted - 0.5, 0.5) / engine.cwnd_packets).clip(-1, 1).astype(np.float32)
            observations.append(torch.from_numpy(seen))
            labels.append(torch.from_numpy(right))
            seen, _, _, _, info = envs.step(right[:, None] if iteration == 0 else act(seen))
            time_ms = info["time_ms"]

        # Append to the dataset; the oldest part is dropped.
        data = [*data, (torch.cat(observations), torch.cat(labels))][-KEPT:]

        # Fit to random parts of the dataset.
        inputs, targets = (torch.cat(parts) for parts in zip(*data, strict=True))
        for rows in torch.randperm(len(inputs))[: 2 * FLOWS * STEPS].split(1024):
            loss = (network(inputs[rows])[:, 0] - targets[rows]).abs().mean()
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        if iteration % 10 == 9:
            print(f"iteration {iteration + 1}: distance {loss:.3f}", flush=True)

    power = mean_log_power(act, "scale_free", "log_window")
    print(f"mean log power {power:.2f}")
    return power


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--iterations", type=int, default=12, help="default: 12")
    main(parser.parse_args().iterations)
