"""Indigo's network: one LSTM layer and a linear head (Pantheon, USENIX ATC 2018, section 6)."""

import torch

LstmState = tuple[torch.Tensor, torch.Tensor]
"""Hidden and cell state, each of shape (1, B, H); for a single step, (B, H)."""


class LstmPolicy(torch.nn.Module):
    """Maps observations to outputs: logits of the actions or one real number, by the policy's action set."""

    def __init__(self, inputs: int, hidden: int, outputs: int) -> None:
        super().__init__()
        self.lstm = torch.nn.LSTM(inputs, hidden, batch_first=True)
        self.linear = torch.nn.Linear(hidden, outputs)

    def forward(
        self, observations: torch.Tensor, state: LstmState | None = None
    ) -> tuple[torch.Tensor, LstmState]:
        """One or more steps of B flows.

        Args:
            observations: (B, T, I).
            state: the state before the first step; None: zero, as at the start of a flow.

        Returns:
            Outputs (B, T, O) and the state after the last step.
        """
        hidden, next_state = self.lstm(observations, state)
        return self.linear(hidden), next_state

    def initial_state(self, flows: int) -> LstmState:
        """Hidden and cell state at the start of `flows` flows, each (N, H)."""
        zeros = self.linear.weight.new_zeros(flows, self.lstm.hidden_size)
        return zeros, zeros.clone()

    def step(self, observation: torch.Tensor, state: LstmState) -> tuple[torch.Tensor, LstmState]:
        """One decision of N flows: observation (N, I) and state to outputs (N, O) and the next state."""
        hidden, cell = state
        outputs, (hidden, cell) = self.forward(observation[:, None], (hidden[None], cell[None]))
        return outputs[:, 0], (hidden[0], cell[0])
