"""Fitting: gradient steps on shuffled batches of sequences, through time from stored states."""

import math
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from ccgym.agents.lstm import LstmPolicy
from ccgym.agents.mlp import MlpPolicy
from ccgym.agents.stack import StackPolicy
from ccgym.training.config import TrainingConfig
from ccgym.training.dataset import Dataset, Sequences
from ccgym.training.device import CPU
from ccgym.training.own_network import load_network, unflat_state
from ccgym.training.tasks.task_distribution import FITTING
from numpy.typing import NDArray

from .action_sets import ACTION_SETS, ActionSet
from .adam import Adam
from .native_layers import lstm_outputs, mlp_outputs

GRADIENT_SHARDS = 2
"""Parts of a batch whose gradients are taken side by side. Fixed: results do not depend on the workers."""

# When an epoch counts as progress, and how long to wait for one: as in Indigo's training.
MIN_IMPROVEMENT = 0.001
MIN_PATIENCE_EPOCHS = 10
PATIENCE_SHARE = 0.2


@dataclass(frozen=True)
class Fit:
    """How one iteration's fitting went."""

    loss: float
    """Mean over the last epoch's batches, without the L2 term."""
    epochs: int
    learning_rate: float
    gradient_norm: float
    """Mean over the last epoch's batches, before clipping."""


def make_policy(config: TrainingConfig, inputs: int) -> torch.nn.Module:
    """The untrained network: a `PolicyModule`, or the user's own that is no stack of known layers."""
    outputs = ACTION_SETS[config.actions].outputs
    if config.network:
        return load_network(config.network, inputs, outputs, config.seed)
    generator = torch.Generator().manual_seed(config.seed)
    if config.architecture == "lstm":
        lstm = LstmPolicy(inputs, config.hidden[0], outputs)
        _initialise_lstm(lstm, generator)
        return lstm
    mlp = MlpPolicy(inputs, config.hidden, outputs)
    for name, parameter in mlp.named_parameters():
        if name.endswith("weight"):
            torch.nn.init.xavier_uniform_(parameter, generator=generator)
        else:
            torch.nn.init.zeros_(parameter)
    return mlp


def _initialise_lstm(policy: LstmPolicy, generator: torch.Generator) -> None:
    """Glorot-uniform weights, zero biases, forget gates open by 1, as in Indigo."""
    input_weight, recurrent_weight, bias, other_bias = policy.lstm.all_weights[0]
    hidden = policy.lstm.hidden_size
    # Indigo has one kernel of shape [inputs + H, 4 H] for inputs and state together.
    kernel_bound = math.sqrt(6 / (policy.lstm.input_size + hidden + 4 * hidden))
    head_bound = math.sqrt(6 / (hidden + policy.linear.out_features))
    with torch.no_grad():
        for weight, bound in (
            (input_weight, kernel_bound),
            (recurrent_weight, kernel_bound),
            (policy.linear.weight, head_bound),
        ):
            weight.uniform_(-bound, bound, generator=generator)
        for vector in (bias, other_bias, policy.linear.bias):
            vector.zero_()
        bias[hidden : 2 * hidden] = 1.0  # gates in the order i, f, g, o


def learnt_parameters(policy: torch.nn.Module) -> list[torch.nn.Parameter]:
    """All parameters but those that the user's own network has frozen."""
    return [parameter for parameter in policy.parameters() if parameter.requires_grad]


def learning_rate(config: TrainingConfig, iteration: int) -> float:
    """The rate of an iteration: half a cosine from the first to the last."""
    progress = iteration / max(1, config.iterations - 1)
    span = config.initial_learning_rate - config.final_learning_rate
    return config.final_learning_rate + span * (1 + math.cos(math.pi * progress)) / 2


def fit(
    policy: torch.nn.Module,
    optimiser: Adam,
    dataset: Dataset,
    config: TrainingConfig,
    iteration: int,
    executor: Executor,
    device: torch.device = CPU,
) -> Fit:
    """Fits `policy` in place to the dataset, for at most `max_epochs` epochs, on `device`."""
    generator = np.random.default_rng([config.seed, FITTING, iteration])
    optimiser.learning_rate = learning_rate(config, iteration)
    best_loss, best_epoch = math.inf, 0
    with _moved_to(device, policy, optimiser):
        for epoch in range(config.max_epochs):
            drawn = dataset.draw(config.epoch_sequences, iteration, generator)
            steps = [
                _gradient_step(policy, optimiser, dataset.rows(rows), config, executor)
                for rows in _batches(drawn, config.batch_sequences)
            ]
            losses, norms = zip(*steps, strict=True)
            if max(losses) < best_loss - MIN_IMPROVEMENT:
                best_loss, best_epoch = max(losses), epoch
            if epoch - best_epoch >= max(PATIENCE_SHARE * epoch, MIN_PATIENCE_EPOCHS):
                break
    return Fit(float(np.mean(losses)), epoch + 1, optimiser.learning_rate, float(np.mean(norms)))


@contextmanager
def _moved_to(device: torch.device, policy: torch.nn.Module, optimiser: Adam) -> Iterator[None]:
    """Policy and optimiser are on `device` while the context lasts; rollouts need them on the processor."""
    policy.to(device)
    optimiser.move(device)
    try:
        yield
    finally:
        policy.to(CPU)
        optimiser.move(CPU)


def _batches(rows: NDArray[np.intp], size: int) -> list[NDArray[np.intp]]:
    return np.array_split(rows, max(1, round(len(rows) / size)))


def _gradient_step(
    policy: torch.nn.Module,
    optimiser: Adam,
    batch: Sequences,
    config: TrainingConfig,
    executor: Executor,
) -> tuple[float, float]:
    """One step of the optimiser; the batch's loss and the norm of its gradient before clipping."""
    actions = ACTION_SETS[config.actions]
    shards = [
        batch.pick(rows) for rows in np.array_split(np.arange(len(batch)), min(GRADIENT_SHARDS, len(batch)))
    ]
    results = list(executor.map(lambda shard: _gradient(policy, shard, actions), shards))
    shares = [len(shard) / len(batch) for shard in shards]
    parameters = learnt_parameters(policy)
    for index, parameter in enumerate(parameters):
        parts = [share * gradients[index] for share, (_, gradients) in zip(shares, results, strict=True)]
        parameter.grad = torch.stack(parts).sum(dim=0)
    norm = torch.nn.utils.clip_grad_norm_(parameters, config.max_gradient_norm or math.inf)
    optimiser.step()
    return sum(share * loss for share, (loss, _) in zip(shares, results, strict=True)), float(norm)


def _gradient(
    policy: torch.nn.Module, sequences: Sequences, actions: ActionSet
) -> tuple[float, tuple[torch.Tensor, ...]]:
    """Loss of some sequences and its gradient for every parameter that is learnt."""
    device = next(policy.parameters()).device
    observations, states, labels = (
        torch.from_numpy(array).to(device)
        for array in (sequences.observations, sequences.states, sequences.labels)
    )
    outputs = _native_outputs if device == CPU else _outputs
    loss = actions.loss(outputs(policy, observations, states), labels)
    return loss.item(), torch.autograd.grad(loss, learnt_parameters(policy), materialize_grads=True)


def _native_outputs(
    policy: torch.nn.Module, observations: torch.Tensor, states: torch.Tensor
) -> torch.Tensor:
    """As `_outputs`, with our own kernels for our own networks."""
    if isinstance(policy, LstmPolicy):
        return lstm_outputs(policy, observations, states)
    if isinstance(policy, MlpPolicy):
        return mlp_outputs(policy, observations)
    return _outputs(policy, observations, states)


def _outputs(policy: torch.nn.Module, observations: torch.Tensor, states: torch.Tensor) -> torch.Tensor:
    """Outputs (B, T, O) for observations (B, T, I) from stored states (B, S)."""
    outputs: torch.Tensor
    if isinstance(policy, MlpPolicy):
        outputs = policy(observations)
    elif isinstance(policy, StackPolicy):
        outputs, _ = policy(observations, policy.split_state(states))
    elif not isinstance(policy, LstmPolicy):
        outputs = _unrolled(policy, observations, states)
    else:
        hidden, cell = states.chunk(2, dim=1)
        outputs, _ = policy(observations, (hidden[None].contiguous(), cell[None].contiguous()))
    return outputs


def _unrolled(network: Any, observations: torch.Tensor, states: torch.Tensor) -> torch.Tensor:
    """As `_outputs`, for a network that only has single steps."""
    state = unflat_state(network.initial_state(len(states)), states)
    outputs = []
    for step in range(observations.shape[1]):
        output, state = network.step(observations[:, step], state)
        outputs.append(output)
    return torch.stack(outputs, dim=1)
