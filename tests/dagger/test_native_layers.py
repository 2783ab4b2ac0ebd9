"""The kernels that training fits with: PyTorch's results and gradients, summed in an order of our own."""

import numpy as np
import pytest
import torch
from ccgym.agents.lstm import LstmPolicy
from ccgym.agents.mlp import MlpPolicy
from ccgym.dagger.native_layers import lstm_outputs, mlp_outputs
from ccgym.envs import _core

FLOWS, STEPS, INPUTS = 7, 5, 11


def gradients(policy: torch.nn.Module, outputs: torch.Tensor) -> list[torch.Tensor]:
    loss = (outputs * torch.linspace(-1, 1, outputs.numel()).view_as(outputs)).sum()
    return list(torch.autograd.grad(loss, list(policy.parameters())))


@pytest.mark.parametrize("outputs", [1, 5])
def test_an_lstm_is_pytorchs(outputs: int) -> None:
    torch.manual_seed(1)
    policy = LstmPolicy(INPUTS, 12, outputs)
    observations, states = torch.randn(FLOWS, STEPS, INPUTS), torch.randn(FLOWS, 24)
    hidden, cell = states.chunk(2, dim=1)
    theirs, _ = policy(observations, (hidden[None].contiguous(), cell[None].contiguous()))
    ours = lstm_outputs(policy, observations, states)
    torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-6)
    for one, other in zip(gradients(policy, ours), gradients(policy, theirs), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("hidden", [[9], [32, 16]])
def test_an_mlp_is_pytorchs(hidden: list[int]) -> None:
    torch.manual_seed(2)
    policy = MlpPolicy(INPUTS, hidden, 3)
    observations = torch.randn(FLOWS, STEPS, INPUTS)
    theirs, ours = policy(observations), mlp_outputs(policy, observations)
    torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-6)
    for one, other in zip(gradients(policy, ours), gradients(policy, theirs), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)


def test_a_product_is_one_sum_in_order() -> None:
    rng = np.random.default_rng(3)
    a, b = (rng.normal(size=shape).astype(np.float32) for shape in ((13, 301), (301, 18)))
    in_order = np.zeros((13, 18), np.float32)
    for k in range(301):
        in_order = in_order + a[:, k : k + 1] * b[k : k + 1]
    np.testing.assert_array_equal(_core.matrix_product(a, b), in_order)
    np.testing.assert_array_equal(_core.matrix_product(np.asfortranarray(a), b), in_order)


def test_sizes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="a has 2 columns, b 3 rows"):
        _core.matrix_product(np.zeros((1, 2), np.float32), np.zeros((3, 4), np.float32))
    arrays = [np.zeros(shape, np.float32) for shape in ((2, 3, 4), (2, 5), (2, 5), (20, 4), (20, 5), 20, 19)]
    with pytest.raises(ValueError, match="bias_hh has 19 entries, should have 20"):
        _core.LstmPass.run(*arrays)
