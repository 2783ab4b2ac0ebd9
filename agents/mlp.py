"""Aurora's network: linear layers with tanh between them (Jay et al., ICML 2019, section 3.2)."""

from collections.abc import Sequence
from itertools import pairwise

import torch


class MlpPolicy(torch.nn.Module):
    """Maps observations to outputs: logits of the actions or one real number, by the policy's action set."""

    def __init__(self, inputs: int, hidden: Sequence[int], outputs: int) -> None:
        super().__init__()
        self.hidden = list(hidden)
        sizes = [inputs, *hidden, outputs]
        self.layers = torch.nn.ModuleList(torch.nn.Linear(before, after) for before, after in pairwise(sizes))

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """Observations (..., I) to outputs (..., O)."""
        *inner, last = self.layers
        for layer in inner:
            observations = torch.tanh(layer(observations))
        outputs: torch.Tensor = last(observations)
        return outputs

    def initial_state(self, _flows: int) -> tuple[()]:
        """The empty state of a network without memory."""
        return ()

    def step(self, observation: torch.Tensor, state: tuple[()]) -> tuple[torch.Tensor, tuple[()]]:
        """One decision of N flows: observation (N, I) to outputs (N, O)."""
        return self.forward(observation), state
