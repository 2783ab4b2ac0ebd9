"""Adam (Kingma and Ba 2015) over PyTorch's fused kernel: its other kernels take square roots from MKL."""

from collections.abc import Iterable
from typing import Any

import torch
from ccgym.envs.errors import InputError
from torch.optim.adam import adam

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-8
"""Constants of the paper, section 2."""


class Adam:
    """The optimiser of one network.

    `torch.optim.Adam` steps to the same bits, but imports PyTorch's compiler first, which takes longer than a
    short training.
    """

    def __init__(self, parameters: Iterable[torch.nn.Parameter], weight_decay: float) -> None:
        self.learning_rate = 0.0
        self._parameters = list(parameters)
        self._weight_decay = weight_decay
        """Factor of the gradient of the L2 term."""
        self._steps = [torch.zeros(()) for _ in self._parameters]
        self._means = [torch.zeros_like(parameter) for parameter in self._parameters]
        self._squares = [torch.zeros_like(parameter) for parameter in self._parameters]

    def step(self) -> None:
        """Moves every parameter against its gradient; each must have one."""
        gradients = [parameter.grad for parameter in self._parameters if parameter.grad is not None]
        assert len(gradients) == len(self._parameters)
        adam(
            list(self._parameters),
            gradients,
            self._means,
            self._squares,
            [],
            self._steps,
            fused=True,
            amsgrad=False,
            beta1=BETA1,
            beta2=BETA2,
            lr=self.learning_rate,
            weight_decay=self._weight_decay,
            eps=EPSILON,
            maximize=False,
        )

    def move(self, device: torch.device) -> None:
        """Follows the network to another device; the count of steps stays where the kernel wants it."""
        self._means = [mean.to(device) for mean in self._means]
        self._squares = [square.to(device) for square in self._squares]

    def state_dict(self) -> dict[str, Any]:
        """The state for a checkpoint: after `load_state_dict`, the next step is the same."""
        return {"steps": self._steps, "means": self._means, "squares": self._squares}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Restores what `state_dict` returned. Raises InputError: it is of another optimiser."""
        if state.keys() != self.state_dict().keys():
            raise InputError("the checkpoint is of another optimiser: begin another run with --out")
        self._steps, self._means, self._squares = state["steps"], state["means"], state["squares"]
