"""Common parts of the offline examples: a dataset as input of networks, and the measurement of a policy."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import minari
import numpy as np
import torch
from ccgym.envs import _core
from ccgym.envs.gym.own_features import ScaleFreeFeatures
from ccgym.envs.specs.emulators import select_emulators
from ccgym.training.rollouts import run_measured
from torch import nn
from twelve_links import LINKS, mean_log_power

INPUTS = ScaleFreeFeatures.size
PREVIOUS_ACTION = 19
"""The input that is left out: a network that sees it learns only to repeat it."""
AHEAD = 10
"""Steps over which changes are averaged. A window is the sum of all earlier changes, with their errors: ten
steps show the aim of a scheme and its effect; a single step shows hardly more than noise."""
NAMES = _core.RAW_FEATURES


@dataclass
class Episode:
    """An episode of n steps."""

    scheme: str
    emulator: str
    states: torch.Tensor
    """(n, INPUTS)"""
    later: torch.Tensor
    """(n, INPUTS): the states ten steps on, or the last one."""
    changes: torch.Tensor
    """(n, 1): logarithms of the factors on the window, means of the next ten steps."""
    rewards: torch.Tensor
    """(n,): means of the next ten steps."""


def load(folder: Path) -> list[Episode]:
    """All episodes of a dataset."""
    dataset = minari.MinariDataset(folder / "data")
    told = dataset.storage.get_episode_metadata(range(dataset.total_episodes))
    episodes = list(dataset)
    changes = [_changes(episode.observations, episode.actions) for episode in episodes]
    states = _scale_free([episode.observations for episode in episodes], changes)
    loaded = []
    for number, (episode, named) in enumerate(zip(episodes, told, strict=True)):
        steps = len(episode.actions)
        seen = torch.from_numpy(states[: steps + 1, number].copy())
        later = seen[torch.clamp(torch.arange(steps) + AHEAD, max=steps)]
        ahead = _ahead(changes[number])[:, None], _ahead(episode.rewards)
        loaded.append(Episode(str(named["scheme"]), str(named["emulator"]), seen[:-1], later, *ahead))
    return loaded


def _changes(raw: np.ndarray, actions: np.ndarray) -> np.ndarray:
    before = np.maximum(raw[:-1, NAMES.index("window_packets")], 1)
    return np.log(np.maximum(actions[:, 0], 1) / before).clip(-1, 1)


def _ahead(values: np.ndarray) -> torch.Tensor:
    """The mean of each value and those of the next steps, as far as there are any."""
    sums = np.concatenate([[0.0], np.cumsum(values, dtype=np.float64)])
    first = np.arange(len(values))
    last = np.minimum(first + AHEAD, len(values))
    return torch.from_numpy(((sums[last] - sums[first]) / (last - first)).astype(np.float32))


def _scale_free(raws: list[np.ndarray], changes: list[np.ndarray]) -> np.ndarray:
    """Observations as of an environment with `features="scale_free"`, (steps, episodes, INPUTS)."""
    features, longest = ScaleFreeFeatures(len(raws)), max(len(raw) for raw in raws)
    seen = np.zeros((longest, len(raws), INPUTS), np.float32)
    for step in range(longest):
        rows = np.stack([raw[min(step, len(raw) - 1)] for raw in raws]).astype(np.float64)
        before = [each[min(step, len(each)) - 1] if step else 0.0 for each in changes]
        seen[step] = features.observe(dict(zip(NAMES, rows.T, strict=True)), np.array(before)[:, None])
    seen[:, :, PREVIOUS_ACTION] = 0
    return seen


def perceptron(inputs: int, outputs: int) -> nn.Sequential:
    """Two hidden layers."""
    return nn.Sequential(
        nn.Linear(inputs, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, outputs)
    )


def measure(act: Callable[[torch.Tensor], torch.Tensor], loaded: list[Episode]) -> float:
    """Prints a policy's mean log power on the twelve links beside those of the data's schemes; returns it."""
    links = select_emulators(LINKS)
    for scheme in sorted({one.scheme for one in loaded}):
        measured = [run_measured(link, scheme, 10) for link in links]
        powers = [np.log(max(each.throughput_mbps, 1e-3) / each.p95_delay_ms) for each in measured]
        print(f"{scheme}, run alike: {np.mean(powers):.2f}")

    def answer(seen: np.ndarray) -> np.ndarray:
        shown = torch.from_numpy(seen)
        shown[:, PREVIOUS_ACTION] = 0
        with torch.no_grad():
            return act(shown).clamp(-1, 1).numpy()

    power = mean_log_power(answer, "scale_free", "log_window")
    print(f"mean log power {power:.2f}")
    return power
