"""The action sets, as training needs them: exploration, loss, agreement.

What the acts do to the window, and which act an expert would choose, is in C++: agents/policy.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float32]

_NO_CLASS = -100
AGREEING_LOG_STEP = 0.05  # a window within 5 % of the expert's counts as agreement


@dataclass(frozen=True)
class ActionSet:
    """One way to act. Arrays of any shape; labels and acts are float32."""

    outputs: int
    """Width of the network's output."""
    loss: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
    """Mean loss of outputs (..., outputs) against labels (...), NaN where nothing was decided."""
    draw: Callable[[np.random.Generator, int], Floats]
    """Random acts (N,), to explore."""
    agree: Callable[[Floats, Floats], NDArray[np.bool_]]
    """Whether the learner's acts agree with the expert's, for each."""


def _cross_entropy(logits: torch.Tensor, classes: torch.Tensor) -> torch.Tensor:
    targets = classes.flatten().nan_to_num(_NO_CLASS).long()
    errors = torch.nn.functional.cross_entropy(
        logits.flatten(0, -2), targets, ignore_index=_NO_CLASS, reduction="sum"
    )
    return errors / (targets != _NO_CLASS).sum().clamp_min(1)


def _absolute_error(outputs: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    decided = labels.isfinite()
    errors = torch.where(decided, outputs.squeeze(-1) - labels.nan_to_num(), 0)
    return errors.abs().sum() / decided.sum().clamp_min(1)


ACTION_SETS: dict[str, ActionSet] = {
    "indigo": ActionSet(
        outputs=5,
        loss=_cross_entropy,
        draw=lambda generator, count: generator.integers(5, size=count).astype(np.float32),
        agree=lambda acts, labels: acts == labels,
    ),
    "log_window": ActionSet(
        outputs=1,
        loss=_absolute_error,
        draw=lambda generator, count: generator.uniform(-1, 1, count).astype(np.float32),
        agree=lambda acts, labels: np.abs(acts - labels) <= AGREEING_LOG_STEP,
    ),
}
