"""What a policy may do to its window, seen from training: the expert's label, the act, the loss."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float32]
Windows: TypeAlias = NDArray[np.float64]

MAX_LOG_STEP = 1.0  # as the controller clips: cwnd *= exp(clip(y, -1, 1))
AGREEING_LOG_STEP = 0.05  # a window within 5 % of the expert's counts as agreement


@dataclass(frozen=True)
class ActionSet:
    """One way to act. Arrays of any shape; labels and acts are float32, as `PathBatch.step` takes them."""

    outputs: int
    """Width of the network's output."""
    label: Callable[[Windows, Windows], Floats]
    """The expert's act for (cwnd, ideal window), both in packets."""
    act: Callable[[torch.Tensor], Floats]
    """The learner's act for outputs (N, outputs) -> (N,), to the bit what the controller does with them."""
    loss: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
    """Mean loss of outputs (..., outputs) against labels (...)."""
    draw: Callable[[np.random.Generator, int], Floats]
    """Random acts (N,), to explore."""
    agree: Callable[[Floats, Floats], NDArray[np.bool_]]
    """Where the learner's acts are the expert's."""


def label_indigo(cwnd: Windows, ideal: Windows) -> Floats:
    """The class whose window lies nearest to the ideal one; ties go to the lowest class, as in Indigo."""
    outcomes = np.stack([cwnd / 2, cwnd - 10, cwnd, cwnd + 10, cwnd * 2])
    classes: NDArray[np.intp] = np.abs(outcomes - ideal).argmin(axis=0)
    return classes.astype(np.float32)


def label_log_window(cwnd: Windows, ideal: Windows) -> Floats:
    """The logarithm of what leads to the ideal window, within what one step may do.

    The sender rounds windows up to whole packets: the aim is the middle of those it rounds to the ideal one.
    """
    steps: Windows = np.clip(np.log((ideal - 0.5) / cwnd), -MAX_LOG_STEP, MAX_LOG_STEP)
    return steps.astype(np.float32)


def _cross_entropy(logits: torch.Tensor, classes: torch.Tensor) -> torch.Tensor:
    return torch.nn.functional.cross_entropy(logits.flatten(0, -2), classes.flatten().long())


def _absolute_error(outputs: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return (outputs.squeeze(-1) - labels).abs().mean()


ACTION_SETS: dict[str, ActionSet] = {
    "indigo": ActionSet(
        outputs=5,
        label=label_indigo,
        act=lambda outputs: outputs.argmax(dim=-1).float().numpy(),
        loss=_cross_entropy,
        draw=lambda generator, count: generator.integers(5, size=count).astype(np.float32),
        agree=lambda acts, labels: acts == labels,
    ),
    "log_window": ActionSet(
        outputs=1,
        label=label_log_window,
        act=lambda outputs: outputs.squeeze(-1).numpy(),
        loss=_absolute_error,
        draw=lambda generator, count: generator.uniform(-MAX_LOG_STEP, MAX_LOG_STEP, count).astype(
            np.float32
        ),
        agree=lambda acts, labels: np.abs(acts - labels) <= AGREEING_LOG_STEP,
    ),
}
