"""The policy in training as it is flown: by the native controller, or in Python what that does not know."""

import copy
from collections.abc import Sequence
from concurrent.futures import Executor
from typing import Any

import torch
from ccgym.agents.lstm import LstmPolicy
from ccgym.agents.mlp import MlpPolicy
from ccgym.agents.policy_file import PolicyModule, PolicySpec, save_policy
from ccgym.agents.seen_links import SeenLinks
from ccgym.agents.stack import StackPolicy
from ccgym.envs import _core
from ccgym.envs.errors import InputError
from ccgym.envs.specs.emulators import NamedEmulator
from ccgym.training.batch_flights import BatchPolicy, fly_rollouts_in_batch, fly_windows_in_batch
from ccgym.training.config import TrainingConfig
from ccgym.training.rollouts import Rollout, fly_rollouts
from ccgym.training.runs.monitoring import Curves, WindowTrace, fly_curves, fly_windows
from ccgym.training.runs.run_directory import RunDirectory
from numpy.typing import NDArray

from .collection import Collector

_TRIED_SECONDS = 0.2


class Natively:
    """Every flight is one of a policy file."""

    def __init__(
        self, config: TrainingConfig, run: RunDirectory[TrainingConfig], policy: PolicyModule
    ) -> None:
        self._run = run
        self._policy = policy
        self._spec = PolicySpec(config.features, config.actions, companion=config.has_companion)

    def try_out(self, _emulators: Sequence[NamedEmulator]) -> None:
        """See `InPython`; nothing here is from outside but a network, which has been tried."""

    def collect(self, collector: Collector, iteration: int, flyers: Executor) -> None:
        """Flies the flights of an iteration."""
        save_policy(self._run.learner_policy, self._policy, self._spec, trained_on="")
        collector.fly(self._run.learner_policy, iteration, flyers)

    def examine(self, validator: Collector, iteration: int, flyers: Executor) -> None:
        """Flies the candidate over links that training never sees."""
        validator.fly(self._run.candidate_policy, iteration, flyers)

    def make_candidate(self, trained_on: str, seen: SeenLinks) -> None:
        """What has been learnt so far, to be validated."""
        save_policy(self._run.candidate_policy, self._policy, self._spec, trained_on=trained_on, seen=seen)

    def keep_candidate(self) -> None:
        """The candidate is the best one from now on."""
        self._run.candidate_policy.replace(self._run.best_policy)

    def rollouts(
        self,
        emulators: Sequence[NamedEmulator],
        windows: NDArray[Any],
        seconds: float,
        threads: Executor,
        *,
        best: bool = False,
        stalling: bool = False,
    ) -> list[Rollout]:
        """The candidate, or the best one, over every emulator."""
        file = self._run.best_policy if best else self._run.candidate_policy
        return fly_rollouts(file, emulators, windows, seconds, threads, stalling=stalling)

    def windows(
        self, emulators: Sequence[NamedEmulator], seconds: float, threads: Executor
    ) -> list[WindowTrace]:
        """The candidate's windows over every emulator."""
        return fly_windows(self._run.candidate_policy, emulators, seconds, threads)

    def curves(
        self,
        emulators: Sequence[NamedEmulator],
        preferences: Sequence[float],
        seconds: float,
        threads: Executor,
    ) -> list[Curves]:
        """What the best one reaches at every preference."""
        return fly_curves(self._run.best_policy, emulators, preferences, seconds, threads)


class InPython:
    """Every flight goes through the vector environment; the best one is kept as PyTorch's weights."""

    def __init__(
        self, config: TrainingConfig, run: RunDirectory[TrainingConfig], policy: torch.nn.Module
    ) -> None:
        self._config = config
        self._run = run
        self._policy = policy

    def _inference_policy(self, network: torch.nn.Module) -> BatchPolicy:
        return BatchPolicy(network, self._config.features, self._config.actions, self._config.has_companion)

    def try_out(self, emulators: Sequence[NamedEmulator]) -> None:
        """A moment in the air, before a run begins: raises InputError for features or a network that fail."""
        fly_windows_in_batch(self._inference_policy(self._policy), emulators[:1], _TRIED_SECONDS)

    def collect(self, collector: Collector, iteration: int, _flyers: Executor) -> None:
        """See `Natively`."""
        collector.fly_in_batch(self._inference_policy(self._policy), iteration)

    def examine(self, validator: Collector, iteration: int, _flyers: Executor) -> None:
        """See `Natively`."""
        validator.fly_in_batch(self._inference_policy(self._policy), iteration)

    def make_candidate(self, trained_on: str, _seen: SeenLinks) -> None:
        """See `Natively`."""
        names = {"network": self._config.network, "features": self._config.features, "trained_on": trained_on}
        torch.save({**names, "weights": self._policy.state_dict()}, self._run.candidate_policy)

    def keep_candidate(self) -> None:
        """See `Natively`."""
        self._run.candidate_policy.replace(self._run.best_network)

    def rollouts(
        self,
        emulators: Sequence[NamedEmulator],
        windows: NDArray[Any],
        seconds: float,
        _threads: Executor,
        *,
        best: bool = False,
        stalling: bool = False,
    ) -> list[Rollout]:
        """See `Natively`."""
        network = self._best() if best else self._policy
        return fly_rollouts_in_batch(
            self._inference_policy(network), emulators, windows, seconds, stalling=stalling
        )

    def _best(self) -> torch.nn.Module:
        best = copy.deepcopy(self._policy)
        best.load_state_dict(torch.load(self._run.best_network, weights_only=True)["weights"])
        return best

    def windows(
        self, emulators: Sequence[NamedEmulator], seconds: float, _threads: Executor
    ) -> list[WindowTrace]:
        """See `Natively`; only where a flow is alone."""
        return fly_windows_in_batch(self._inference_policy(self._policy), emulators, seconds)

    def curves(
        self,
        _emulators: Sequence[NamedEmulator],
        _preferences: Sequence[float],
        _seconds: float,
        _threads: Executor,
    ) -> list[Curves]:
        """None: they are drawn of policy files."""
        return []


def as_flown(
    config: TrainingConfig, run: RunDirectory[TrainingConfig], policy: torch.nn.Module, *, cluster: bool
) -> Natively | InPython:
    """How `policy` flies under `config`; `cluster`: whether a Ray cluster was asked for.

    Raises:
        InputError: it flies in this process alone, and a cluster was asked for.
    """
    native = config.features in _core.POLICY_FEATURES
    if native and isinstance(policy, (LstmPolicy, MlpPolicy, StackPolicy)):
        return Natively(config, run, policy)
    if cluster:
        raise InputError("--ray: features and networks in Python fly in this process; leave it out")
    return InPython(config, run, policy)
