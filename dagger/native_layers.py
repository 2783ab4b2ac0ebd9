"""Layers of a network in training, computed by our own kernels: the same bits on every machine.

PyTorch takes its matrix products from MKL or oneDNN, whose order of summation depends on the processor and
its vendor. Sums and element-wise operations that are left to PyTorch here follow `agents/arithmetic.py`.
"""

from typing import Any

import torch
from ccgym.agents.lstm import LstmPolicy
from ccgym.agents.mlp import MlpPolicy
from ccgym.envs import _core


def lstm_outputs(policy: LstmPolicy, observations: torch.Tensor, states: torch.Tensor) -> torch.Tensor:
    """Outputs (B, T, O) for observations (B, T, I) from stored states (B, 2 H)."""
    hidden, cell = states.chunk(2, dim=1)
    hidden_states = _Lstm.apply(observations, hidden, cell, *policy.lstm.all_weights[0])
    return _linear(hidden_states, policy.linear)


def mlp_outputs(policy: MlpPolicy, observations: torch.Tensor) -> torch.Tensor:
    """Outputs (B, T, O) for observations (B, T, I)."""
    *inner, last = policy.layers
    for layer in inner:
        observations = _Tanh.apply(_linear(observations, layer))
    return _linear(observations, last)


def _linear(inputs: torch.Tensor, layer: torch.nn.Module) -> torch.Tensor:
    rows = _Product.apply(inputs.flatten(0, -2), layer.weight)
    outputs: torch.Tensor = rows.unflatten(0, inputs.shape[:-1]) + layer.bias
    return outputs


def _product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return torch.from_numpy(_core.matrix_product(a.detach().numpy(), b.detach().numpy()))


class _Product(torch.autograd.Function):
    """Rows (N, I) and a weight (O, I) to (N, O)."""

    @staticmethod
    def forward(context: Any, rows: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        context.save_for_backward(rows, weight)
        return _product(rows, weight.T)

    @staticmethod
    def backward(context: Any, *by_outputs: torch.Tensor) -> tuple[torch.Tensor | None, torch.Tensor]:
        (by_output,) = by_outputs
        rows, weight = context.saved_tensors
        by_rows = _product(by_output, weight) if context.needs_input_grad[0] else None
        return by_rows, _product(by_output.T, rows)


class _Tanh(torch.autograd.Function):
    @staticmethod
    def forward(context: Any, values: torch.Tensor) -> torch.Tensor:
        results = torch.from_numpy(_core.tanh(values.detach().flatten().numpy())).view(values.shape)
        context.save_for_backward(results)
        return results

    @staticmethod
    def backward(context: Any, *by_outputs: torch.Tensor) -> torch.Tensor:
        (by_output,), (results,) = by_outputs, context.saved_tensors
        gradient: torch.Tensor = by_output * (1 - results * results)
        return gradient


class _Lstm(torch.autograd.Function):
    """Observations (N, T, I) from hidden state and cell (N, H) to hidden states (N, T, H)."""

    @staticmethod
    def forward(context: Any, *inputs: torch.Tensor) -> torch.Tensor:
        context.run = _core.LstmPass.run(*(each.detach().contiguous().numpy() for each in inputs))
        return torch.from_numpy(context.run.outputs())

    @staticmethod
    def backward(context: Any, *by_outputs: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        weight_ih, weight_hh, bias = map(
            torch.from_numpy, context.run.gradient(by_outputs[0].contiguous().numpy())
        )
        return None, None, None, weight_ih, weight_hh, bias, bias
