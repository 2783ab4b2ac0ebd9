"""The policy in training: run by the native controller, or in Python if that does not know its parts."""

import copy
from collections.abc import Sequence
from concurrent.futures import Executor
from typing import Any

import torch
from ccgym.agents.lstm import LstmPolicy
from ccgym.agents.mlp import MlpPolicy
from ccgym.agents.policy_file import PolicyModule, save_policy
from ccgym.agents.policy_header import PolicySpec
from ccgym.agents.seen_links import SeenLinks
from ccgym.agents.stack import StackPolicy
from ccgym.envs import _core
from ccgym.envs.errors import InputError
from ccgym.envs.specs.emulators import NamedEmulator
from ccgym.training.batch_rollouts import BatchPolicy, make_rollouts_in_batch, trace_windows_in_batch
from ccgym.training.config import TrainingConfig
from ccgym.training.rollouts import Rollout, make_rollouts
from ccgym.training.runs.monitoring import Curves, WindowTrace, trace_curves, trace_windows
from ccgym.training.runs.run_directory import RunDirectory
from ccgym.training.runs.tensor_file import load_tensors, save_tensors
from numpy.typing import NDArray

from .collection import Collector

_TRIED_SECONDS = 0.2


class NativeLearner:
    """Runs every rollout with a policy file, in the native controller."""

    def __init__(
        self, config: TrainingConfig, run: RunDirectory[TrainingConfig], policy: PolicyModule
    ) -> None:
        self._run = run
        self._policy = policy
        self._spec = PolicySpec(config.features, config.actions, companion=config.has_companion)

    def try_out(self, _emulators: Sequence[NamedEmulator]) -> None:
        """See `PythonLearner`. Nothing to do: only the network can be the user's, and it has been tried."""

    def collect(self, collector: Collector, iteration: int, executor: Executor) -> None:
        """Runs the rollouts of an iteration."""
        save_policy(self._run.learner_policy, self._policy, self._spec, trained_on="")
        collector.roll_out(self._run.learner_policy, iteration, executor)

    def validate(self, validator: Collector, iteration: int, executor: Executor) -> None:
        """Runs the candidate over links that training never sees."""
        validator.roll_out(self._run.candidate_policy, iteration, executor)

    def make_candidate(self, trained_on: str, seen: SeenLinks) -> None:
        """Writes the present weights as the candidate to be validated."""
        save_policy(self._run.candidate_policy, self._policy, self._spec, trained_on=trained_on, seen=seen)

    def keep_candidate(self) -> None:
        """Makes the candidate the best policy."""
        self._run.candidate_policy.replace(self._run.best_policy)

    def rollouts(
        self,
        emulators: Sequence[NamedEmulator],
        windows: NDArray[Any],
        seconds: float,
        threads: Executor,
        *,
        best: bool = False,
        jitter: bool = False,
    ) -> list[Rollout]:
        """Runs the candidate, or the best policy, over every emulator."""
        file = self._run.best_policy if best else self._run.candidate_policy
        return make_rollouts(file, emulators, windows, seconds, threads, jitter=jitter)

    def windows(
        self, emulators: Sequence[NamedEmulator], seconds: float, threads: Executor
    ) -> list[WindowTrace]:
        """The candidate's windows over every emulator."""
        return trace_windows(self._run.candidate_policy, emulators, seconds, threads)

    def curves(
        self,
        emulators: Sequence[NamedEmulator],
        preferences: Sequence[float],
        seconds: float,
        threads: Executor,
    ) -> list[Curves]:
        """What the best policy reaches at every preference."""
        return trace_curves(self._run.best_policy, emulators, preferences, seconds, threads)


class PythonLearner:
    """Runs every rollout through the vector environment; the best network is kept as PyTorch's weights."""

    def __init__(
        self, config: TrainingConfig, run: RunDirectory[TrainingConfig], policy: torch.nn.Module
    ) -> None:
        self._config = config
        self._run = run
        self._policy = policy

    def _inference_policy(self, network: torch.nn.Module) -> BatchPolicy:
        return BatchPolicy(network, self._config.features, self._config.actions, self._config.has_companion)

    def try_out(self, emulators: Sequence[NamedEmulator]) -> None:
        """Makes a short rollout before a run begins.

        Raises:
            InputError: features or a network fail, or a link has flows of its own.
        """
        for emulator in emulators:
            if emulator.spec.flows:
                raise InputError(
                    f"validation: {emulator.label} has flows of its own: a network and features in Python "
                    "are validated alone"
                )
        trace_windows_in_batch(self._inference_policy(self._policy), emulators[:1], _TRIED_SECONDS)

    def collect(self, collector: Collector, iteration: int, executor: Executor) -> None:
        """See `NativeLearner`."""
        collector.roll_out_in_batch(self._inference_policy(self._policy), iteration, executor)

    def validate(self, validator: Collector, iteration: int, executor: Executor) -> None:
        """See `NativeLearner`."""
        validator.roll_out_in_batch(self._inference_policy(self._policy), iteration, executor)

    def make_candidate(self, trained_on: str, _seen: SeenLinks) -> None:
        """See `NativeLearner`."""
        names = {"network": self._config.network, "features": self._config.features, "trained_on": trained_on}
        save_tensors({**names, "weights": self._policy.state_dict()}, self._run.candidate_policy)

    def keep_candidate(self) -> None:
        """See `NativeLearner`."""
        self._run.candidate_policy.replace(self._run.best_network)

    def rollouts(
        self,
        emulators: Sequence[NamedEmulator],
        windows: NDArray[Any],
        seconds: float,
        _threads: Executor,
        *,
        best: bool = False,
        jitter: bool = False,
    ) -> list[Rollout]:
        """See `NativeLearner`."""
        network = self._best() if best else self._policy
        return make_rollouts_in_batch(
            self._inference_policy(network), emulators, windows, seconds, jitter=jitter
        )

    def _best(self) -> torch.nn.Module:
        best = copy.deepcopy(self._policy)
        best.load_state_dict(load_tensors(self._run.best_network, "the best network")["weights"])
        return best

    def windows(
        self, emulators: Sequence[NamedEmulator], seconds: float, _threads: Executor
    ) -> list[WindowTrace]:
        """See `NativeLearner`; only on emulators on which a flow is alone."""
        return trace_windows_in_batch(self._inference_policy(self._policy), emulators, seconds)

    def curves(
        self,
        _emulators: Sequence[NamedEmulator],
        _preferences: Sequence[float],
        _seconds: float,
        _threads: Executor,
    ) -> list[Curves]:
        """None: curves are drawn from policy files only."""
        return []


def make_learner(
    config: TrainingConfig, run: RunDirectory[TrainingConfig], policy: torch.nn.Module
) -> NativeLearner | PythonLearner:
    """The learner that runs `policy` under `config`."""
    native = config.features in _core.POLICY_FEATURES
    if native and isinstance(policy, (LstmPolicy, MlpPolicy, StackPolicy)):
        return NativeLearner(config, run, policy)
    return PythonLearner(config, run, policy)
