"""What the offline examples share: flights of a dataset as ratios, and how a policy is measured."""

from collections.abc import Callable
from pathlib import Path

import minari
import numpy as np
import torch
from ccgym.envs import _core
from ccgym.envs.specs.emulators import select_emulators
from ccgym.training.rollouts import fly_measured
from torch import nn
from twelve_links import LINKS, mean_log_power

INPUTS = 9
NAMES = _core.RAW_FEATURES


def ratios(raw: np.ndarray) -> np.ndarray:
    """Raw features (n, 24) as numbers without a scale (n, INPUTS), which carry over to other links."""
    see = {name: raw[..., place].astype(np.float64) for place, name in enumerate(NAMES)}
    least = np.maximum(see["least_rtt_ms"], 1)
    bdp = np.maximum(see["delivery_rate_mbps"] * least * 1e3 / (8 * 1464), 1)
    answered = see["acks"] > 0
    columns = [
        np.log(np.maximum(see["window_packets"], 1) / bdp),
        np.log(np.maximum(see["inflight_packets"], 1) / bdp),
        np.log(np.where(answered, np.maximum(see["mean_rtt_ms"], 1), least) / least),
        np.log(np.maximum(see["smoothed_rtt_ms"], 1) / least),
        np.log(np.maximum(see["send_rate_mbps"], 0.01) / np.maximum(see["delivery_rate_mbps"], 0.01)),
        see["lost_packets"] / np.maximum(see["acked_packets"] + see["lost_packets"], 1),
        np.log(bdp) / 4,
        np.log(least) / 4,
        answered,
    ]
    return np.stack(columns, axis=-1).clip(-3, 3).astype(np.float32)


def load(folder: Path) -> list[dict[str, torch.Tensor | str]]:
    """Each episode: states (n + 1, INPUTS), actions (n, 1) as the logarithm of a factor on the window."""
    dataset = minari.MinariDataset(folder / "data")
    told = dataset.storage.get_episode_metadata(range(dataset.total_episodes))
    episodes = []
    for episode, named in zip(dataset, told, strict=True):
        before = np.maximum(episode.observations[:-1, NAMES.index("window_packets")], 1)
        factors = np.log(np.maximum(episode.actions[:, 0], 1) / before).clip(-1, 1)
        episodes.append(
            {
                "scheme": str(named["scheme"]),
                "states": torch.from_numpy(ratios(episode.observations)),
                "actions": torch.from_numpy(factors.astype(np.float32))[:, None],
                "rewards": torch.from_numpy(episode.rewards),
            }
        )
    return episodes


def perceptron(inputs: int, outputs: int) -> nn.Sequential:
    """Two hidden layers."""
    return nn.Sequential(
        nn.Linear(inputs, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, outputs)
    )


def measure(act: Callable[[torch.Tensor], torch.Tensor], schemes: set[str]) -> float:
    """Prints what a policy reaches on the twelve links, beside the best scheme of the data."""
    links = select_emulators(LINKS)
    reached = {}
    for scheme in schemes:
        flown = [fly_measured(link, scheme, 10) for link in links]
        powers = [np.log(max(each.throughput_mbps, 1e-3) / each.p95_delay_ms) for each in flown]
        reached[scheme] = float(np.mean(powers))
    best = max(reached, key=reached.__getitem__)
    print(f"best scheme of the data, flown alike: {best}, {reached[best]:.2f}")

    def answer(raw: np.ndarray) -> np.ndarray:
        with torch.no_grad():
            return act(torch.from_numpy(ratios(raw))).clamp(-1, 1).numpy()

    power = mean_log_power(answer, "raw", "log_window")
    print(f"mean log power {power:.2f}")
    return power
