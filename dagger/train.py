"""DAgger: the learner runs, the oracle labels what it meets, and the learner is fitted to all labels so far.

`_Training.iterate` is one iteration: collect and label, append, fit, evaluate, save. Each is a function of
(weights, optimiser, dataset, its number, the seed) alone, and the state after it is on disk, so a run that
was stopped or killed continues to the same weights, bit for bit. What a run writes: see run_directory.py.
"""

import math
import time
from concurrent.futures import Executor
from contextlib import ExitStack
from dataclasses import dataclass

import torch
from ccgym.envs.gym.engine.env_spaces import inputs_of
from ccgym.training.config import TrainingConfig, check_rollout_memory
from ccgym.training.dataset import Dataset, Sequences
from ccgym.training.device import CPU
from ccgym.training.executors import open_executors
from ccgym.training.own_network import state_size
from ccgym.training.runs.progress import TrainingProgress
from ccgym.training.runs.run_directory import SECONDS, Checkpoint, RunDirectory
from matplotlib.figure import Figure

from .adam import Adam
from .collection import Collector
from .evaluation import Evaluation, criterion_of, make_evaluation
from .fitting import Fit, fit, learnt_parameters, make_policy
from .learner import NativeLearner, PythonLearner, make_learner
from .links import TrainingLinks, find_links


def train(
    config: TrainingConfig,
    run: RunDirectory[TrainingConfig],
    *,
    resume: bool,
    workers: int,
    minutes: float = math.inf,
    ray_address: str | None = None,
    device: torch.device = CPU,
) -> None:
    """Trains until `config.iterations` are done or `minutes` are over.

    Args:
        config: of the run; with `resume`, the one that the run began with.
        run: its folder must hold a run with `resume`, and none without.
        resume: continue from the run's last checkpoint.
        workers: threads. They change the speed, never the result.
        minutes: the iteration that passes this limit is the last one.
        ray_address: of a Ray cluster for the oracle's searches and the rollouts; it changes no bit.
        device: where the network is fitted; it runs on the processor.

    Raises:
        InputError: an unknown emulator, no run to resume, a run in the way, or no cluster.
    """
    begin_s = time.monotonic()
    torch.set_num_threads(1)  # parallel are the workers only, so that every sum keeps its order
    inputs = inputs_of(config.features)
    check_rollout_memory(config, inputs, config.kept_iterations)
    links = find_links(config)
    policy = make_policy(config, inputs)
    learner = make_learner(config, run, policy)
    learner.try_out(links.validation)
    learnt = _Learnt(
        policy,
        Adam(learnt_parameters(policy), weight_decay=config.l2),
        Dataset(config.kept_iterations, config.sequences_per_iteration),
    )
    with ExitStack() as stack:
        threads, rollout_workers = stack.enter_context(open_executors(workers, ray_address))
        done = (_resume if resume else _begin)(config, run, learnt, links)
        run.open_logs(done.iterations, done.criterion)
        clock = _Clock(begin_s, max((seconds for seconds, _ in run.history(SECONDS)), default=0.0), minutes)
        progress = stack.enter_context(TrainingProgress(done.iterations, config.iterations))
        sizes = ", ".join(f"{len(specs)} {group}" for group, specs in links.tasks.groups.items())
        progress.say(f"training on emulators: {sizes}; validating on {len(links.validation)} others")
        memory = state_size(policy)
        evaluation = make_evaluation(config, learner, links, memory, threads, rollout_workers)
        collector = Collector(config, links.tasks, memory)
        training = _Training(
            config,
            run,
            learner,
            learnt,
            collector,
            evaluation,
            clock,
            progress,
            device,
            threads,
            rollout_workers,
        )
        while done.iterations < config.iterations:
            done, last = training.iterate(done)
            if last:
                break
    run.close_logs()


@dataclass(frozen=True)
class _Learnt:
    """What iterations change."""

    policy: torch.nn.Module
    optimiser: Adam
    dataset: Dataset

    def checkpoint(
        self, iterations: int, best_criterion: float, decisions: int, criterion: str
    ) -> Checkpoint:
        state = self.policy.state_dict(), self.optimiser.state_dict()
        return Checkpoint(iterations, *state, best_criterion, decisions, criterion)


def _resume(
    config: TrainingConfig, run: RunDirectory[TrainingConfig], learnt: _Learnt, links: TrainingLinks
) -> Checkpoint:
    """Gives policy, optimiser and dataset the state in which the run goes on."""
    run.check_origin(links.pinned)
    done = run.resume(criterion_of(config), learnt.policy, learnt.optimiser)
    run.load_dataset(learnt.dataset, done.iterations, config.dataset_iterations)
    return done


def _begin(
    config: TrainingConfig, run: RunDirectory[TrainingConfig], learnt: _Learnt, links: TrainingLinks
) -> Checkpoint:
    run.create(config, links.pinned)
    done = learnt.checkpoint(0, math.inf, 0, criterion_of(config))
    run.save(done, None, config.dataset_iterations)
    return done


@dataclass(frozen=True)
class _Clock:
    """Of a run that may have been interrupted."""

    begin_s: float
    earlier_s: float
    """What the run had taken before it was interrupted."""
    minutes: float
    """How long it may go on."""

    def elapsed_s(self) -> float:
        return self.earlier_s + time.monotonic() - self.begin_s

    def is_over(self) -> bool:
        return time.monotonic() - self.begin_s > 60 * self.minutes


@dataclass(frozen=True)
class _Training:
    """A run from its beginning, or from where it was interrupted, iteration by iteration."""

    config: TrainingConfig
    run: RunDirectory[TrainingConfig]
    learner: NativeLearner | PythonLearner
    learnt: _Learnt
    collector: Collector
    evaluation: Evaluation
    clock: _Clock
    progress: TrainingProgress
    device: torch.device
    """Where the network is fitted."""
    threads: Executor
    rollout_workers: Executor

    def iterate(self, done: Checkpoint) -> tuple[Checkpoint, bool]:
        """Runs the iteration after `done`; returns the state after it, and whether it was the last one."""
        iteration = done.iterations
        metrics, sequences = self._learn(iteration)
        decisions = done.decisions + sequences.labels.size
        metrics["decisions"] = decisions
        last = iteration + 1 == self.config.iterations or self.clock.is_over()
        figures: dict[str, Figure] = {}
        best_criterion = done.best_criterion
        if last or (iteration + 1) % self.config.evaluation_interval == 0:
            figures |= self._evaluate(iteration, metrics)
            if metrics[done.criterion] < best_criterion:
                best_criterion = metrics[done.criterion]
                self.learner.keep_candidate()
        if last:
            figures |= self._evaluate_best(metrics, done.criterion)
        done = self.learnt.checkpoint(iteration + 1, best_criterion, decisions, done.criterion)
        self._save(done, sequences, metrics, figures)
        return done, last

    def _learn(self, iteration: int) -> tuple[dict[str, float], Sequences]:
        """Collects, labels, appends and fits; returns metrics and the labelled decisions.

        In the first iterations the expert runs in place of the learner. The oldest iteration is dropped when
        the dataset is full.
        """
        begin_s = time.monotonic()
        self.learner.collect(self.collector, iteration, self.rollout_workers)
        collected_s = time.monotonic()
        sequences = self.collector.sequences()
        policy, optimiser, dataset = self.learnt.policy, self.learnt.optimiser, self.learnt.dataset
        dataset.append(iteration, sequences)
        fitted = fit(policy, optimiser, dataset, self.config, iteration, self.threads, self.device)
        fitted_s = time.monotonic()
        metrics = _learning_metrics(self.collector, fitted) | {
            "speed/decisions_per_second": sequences.labels.size / (fitted_s - begin_s),
            "speed/collect_seconds": collected_s - begin_s,
            "speed/fit_seconds": fitted_s - collected_s,
        }
        return metrics, sequences

    def _evaluate(self, iteration: int, metrics: dict[str, float]) -> dict[str, Figure]:
        """Runs the exported policy in the twin, as when deployed; adds to `metrics` and returns figures."""
        evaluated = self.evaluation.evaluate(iteration)
        metrics |= evaluated.metrics
        self.progress.say(f"iteration {iteration + 1}: {evaluated.summary}")
        return evaluated.figures

    def _evaluate_best(self, metrics: dict[str, float], criterion: str) -> dict[str, Figure]:
        """Adds to `metrics` what the best policy does at the end, and returns figures."""
        metrics |= self.evaluation.final_metrics()
        history = [*self.run.history(criterion), (self.clock.elapsed_s(), metrics[criterion])]
        return self.evaluation.final_figures(history)

    def _save(
        self, done: Checkpoint, sequences: Sequences, metrics: dict[str, float], figures: dict[str, Figure]
    ) -> None:
        """A run that ends after this continues from here."""
        metrics[SECONDS] = self.clock.elapsed_s()
        self.run.log(done.iterations - 1, metrics, figures)
        self.run.save(done, sequences, self.config.dataset_iterations)
        self.progress.advance(
            done.iterations,
            f"loss {metrics['loss']:.4f}  agreement {metrics['agreement']:.3f}  "
            f"{metrics['speed/decisions_per_second'] / 1000:.0f} k decisions/s",
        )


def _learning_metrics(collector: Collector, fitted: Fit) -> dict[str, float]:
    """How far the learner was from the expert in the iteration's rollouts, and how the fit went."""
    return {
        "loss": fitted.loss,
        "distance": collector.distance(),
        "agreement": collector.agreement(),
        **{f"agreement/{group}": share for group, share in collector.agreement_by_group().items()},
        "fit/epochs": fitted.epochs,
        "fit/learning_rate": fitted.learning_rate,
        "fit/gradient_norm": fitted.gradient_norm,
    }
