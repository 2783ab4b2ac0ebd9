"""DAgger: the learner runs, the oracle labels what it meets, and the learner is fitted to all labels so far.

`train` is read from top to bottom: collect, label, append, fit, evaluate. Every iteration is a function of
(weights, optimiser, dataset, its number, the seed) alone, and the state after each is on disk, so a run that
was stopped or killed continues to the same weights, bit for bit. What a run writes: see run_directory.py.
"""

import math
import time
from concurrent.futures import Executor
from contextlib import ExitStack
from dataclasses import dataclass

import numpy as np
import torch
from ccgym.agents.seen_links import SeenLinks
from ccgym.envs.gym.engine.env_spaces import inputs_of
from ccgym.envs.specs.emulators import NamedEmulator
from ccgym.oracle.ideal import refuse_unread
from ccgym.oracle.window import find_windows, refuse_unsearchable
from ccgym.training.config import TrainingConfig, check_rollout_memory, trained_on
from ccgym.training.dataset import Dataset
from ccgym.training.device import CPU
from ccgym.training.executors import open_executors
from ccgym.training.own_network import state_size
from ccgym.training.rollouts import Rollout, mean_regret, rollout_metrics, summarise
from ccgym.training.runs.monitoring import window_metrics
from ccgym.training.runs.plots import draw_curves, draw_quality, draw_rollouts, draw_windows
from ccgym.training.runs.progress import TrainingProgress
from ccgym.training.runs.run_directory import SECONDS, Checkpoint, RunDirectory
from ccgym.training.tasks.links import links_to_train_on, links_to_validate_on, pins, seen_links
from ccgym.training.tasks.task_distribution import TaskDistribution, training_tasks, validation_tasks
from matplotlib.figure import Figure
from numpy.typing import NDArray

from .adam import Adam
from .collection import Collector
from .fitting import Fit, fit, learnt_parameters, make_policy
from .learner import NativeLearner, PythonLearner, make_learner

FINAL_SECONDS = 30.0
"""Length of the rollouts of the best policy over the emulators it was trained for."""
MONITORED_SECONDS = 25.0
"""Length of the rollouts whose windows are drawn: varying/rate-steps has its steps by then."""

REGRET = "validation/regret"
"""See `ccgym.training.rollouts.mean_regret`: shares of the oracle's throughput and delay."""
REGRET_AND_DISTANCE = "validation/regret_and_distance"
"""The regret plus the mean distance of the learner's windows from the ideal ones, |ln(window / ideal)|."""


def criterion_of(config: TrainingConfig) -> str:
    """The metric that the best policy minimises.

    Regret is measured on the named validation emulators only, and is hardly above 0 where they are easy. So
    when random emulators are trained on, the distance on unseen ones is added. Both are dimensionless: a
    missing share of throughput or an excess share of delay is, to first order, ln of a ratio to the oracle's
    figure, and the distance is ln of a ratio to its window. Acts of other action sets than `log_window` are
    no logarithms: there it is the regret alone.
    """
    both = config.random_emulators and config.actions == "log_window"
    return REGRET_AND_DISTANCE if both else REGRET


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
    links = _find_links(config)
    policy = make_policy(config, inputs)
    learner = make_learner(config, run, policy)
    learner.try_out(links.validation)
    optimiser = Adam(learnt_parameters(policy), weight_decay=config.l2)
    dataset = Dataset(config.kept_iterations, config.sequences_per_iteration)
    criterion = criterion_of(config)
    with ExitStack() as stack:
        threads, rollout_workers = stack.enter_context(open_executors(workers, ray_address))
        if resume:
            done = _resume(config, run, policy, optimiser, dataset, links)
        else:
            done = _begin(config, run, policy, optimiser, links)
        run.open_logs(done.iterations, criterion)
        earlier_s = max((seconds for seconds, _ in run.history(SECONDS)), default=0.0)

        def elapsed_s() -> float:
            return earlier_s + time.monotonic() - begin_s

        progress = stack.enter_context(TrainingProgress(done.iterations, config.iterations))
        sizes = ", ".join(f"{len(specs)} {group}" for group, specs in links.tasks.groups.items())
        progress.say(f"training on emulators: {sizes}; validating on {len(links.validation)} others")
        memory = state_size(policy)
        evaluation = _make_evaluation(config, learner, links, memory, threads, rollout_workers)
        collector = Collector(config, links.tasks, memory)

        for iteration in range(done.iterations, config.iterations):
            iteration_s = time.monotonic()

            # Collect and label: the learner runs, in the first iterations the expert; the expert labels.
            learner.collect(collector, iteration, rollout_workers)
            collected_s = time.monotonic()

            # Append: the oldest iteration is dropped when the dataset is full.
            sequences = collector.sequences()
            dataset.append(iteration, sequences)

            # Fit.
            fitted = fit(policy, optimiser, dataset, config, iteration, threads, device)
            fitted_s = time.monotonic()
            decisions = done.decisions + sequences.labels.size
            metrics = {
                **_learning_metrics(collector, fitted),
                "decisions": decisions,
                "speed/decisions_per_second": sequences.labels.size / (fitted_s - iteration_s),
                "speed/collect_seconds": collected_s - iteration_s,
                "speed/fit_seconds": fitted_s - collected_s,
            }

            # Evaluate: the exported policy runs in the twin as when deployed; the best one is kept.
            last = iteration + 1 == config.iterations or time.monotonic() - begin_s > 60 * minutes
            best_criterion = done.best_criterion
            figures: dict[str, Figure] = {}
            if last or (iteration + 1) % config.evaluation_interval == 0:
                evaluated = evaluation.evaluate(iteration)
                metrics |= evaluated.metrics
                figures |= evaluated.figures
                progress.say(f"iteration {iteration + 1}: {evaluated.summary}")
                if metrics[criterion] < best_criterion:
                    best_criterion = metrics[criterion]
                    learner.keep_candidate()
            if last:
                metrics |= evaluation.final_metrics()
                history = [*run.history(criterion), (elapsed_s(), metrics[criterion])]
                figures |= evaluation.final_figures(history)

            # Save: a run that ends after this continues from here.
            done = Checkpoint(iteration + 1, *_state(policy, optimiser), best_criterion, decisions, criterion)
            metrics[SECONDS] = elapsed_s()
            run.log(iteration, metrics, figures)
            run.save(done, sequences, config.dataset_iterations)
            progress.advance(
                iteration + 1,
                f"loss {fitted.loss:.4f}  agreement {collector.agreement():.3f}  "
                f"{metrics['speed/decisions_per_second'] / 1000:.0f} k decisions/s",
            )
            if last:
                break
    run.close_logs()


@dataclass(frozen=True)
class _Links:
    """The emulators of a training, by what they are for."""

    named: list[NamedEmulator]
    """To train on, by the configuration's selection."""
    tasks: TaskDistribution
    """To train on: variations of those named, and the random ones."""
    validation: list[NamedEmulator]
    monitored: list[NamedEmulator]

    @property
    def pinned(self) -> dict[str, str]:
        """What may not change while the run is interrupted."""
        return pins(self.named, self.validation, self.monitored)


def _find_links(config: TrainingConfig) -> _Links:
    """Raises InputError: one is unknown, of another split, or of a kind that the oracle does not read."""
    named, validation = links_to_train_on(config), links_to_validate_on("validation", config.validation)
    monitored = links_to_validate_on("monitored", config.monitored)
    tasks = training_tasks(config, [emulator.spec for emulator in named])
    for emulator in monitored:
        refuse_unread(emulator.spec, shared=True)
    for emulator in validation:
        refuse_unsearchable(emulator.spec)
    return _Links(named, tasks, validation, monitored)


def _resume(
    config: TrainingConfig,
    run: RunDirectory[TrainingConfig],
    policy: torch.nn.Module,
    optimiser: Adam,
    dataset: Dataset,
    links: _Links,
) -> Checkpoint:
    """Gives policy, optimiser and dataset the state in which the run goes on."""
    run.check_origin(links.pinned)
    done = run.resume(criterion_of(config), policy, optimiser)
    run.load_dataset(dataset, done.iterations, config.dataset_iterations)
    return done


def _begin(
    config: TrainingConfig,
    run: RunDirectory[TrainingConfig],
    policy: torch.nn.Module,
    optimiser: Adam,
    links: _Links,
) -> Checkpoint:
    run.create(config, links.pinned)
    state = _state(policy, optimiser)
    done = Checkpoint(0, *state, best_criterion=math.inf, decisions=0, criterion=criterion_of(config))
    run.save(done, None, config.dataset_iterations)
    return done


def _state(policy: torch.nn.Module, optimiser: Adam) -> tuple[dict[str, torch.Tensor], dict[str, object]]:
    return policy.state_dict(), optimiser.state_dict()


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


@dataclass(frozen=True)
class _Evaluated:
    """What the evaluation of the candidate has given."""

    metrics: dict[str, float]
    figures: dict[str, Figure]
    summary: str


@dataclass(frozen=True)
class _Evaluation:
    """Measures the learner's policy on links that it does not learn from, and at last on those it does."""

    config: TrainingConfig
    learner: NativeLearner | PythonLearner
    links: _Links
    windows: NDArray[np.float64]
    """The oracle's, of each emulator to validate on."""
    validator: Collector | None
    """Of random emulators that training never sees; None: it has no random ones."""
    seen: SeenLinks
    threads: Executor
    rollout_workers: Executor

    def evaluate(self, iteration: int) -> _Evaluated:
        """Makes the present policy the learner's candidate and measures it."""
        self.learner.make_candidate(trained_on(self.config, iteration), self.seen)
        rollouts = self._validation_rollouts()
        regret = mean_regret(rollouts + self._validation_rollouts(jitter=True))
        metrics = {REGRET: regret} | self._distance(regret)
        windows = self.learner.windows(self.links.monitored, MONITORED_SECONDS, self.threads)
        metrics |= rollout_metrics(rollouts) | window_metrics(windows)
        title = f"{self.config.name}, iteration {iteration + 1}"
        figures = {"rollouts": draw_rollouts(title, rollouts), "windows": draw_windows(title, windows)}
        return _Evaluated(metrics, figures, f"{summarise(rollouts)}; validation regret {regret:.3f}")

    def _validation_rollouts(self, *, jitter: bool = False) -> list[Rollout]:
        seconds = self.config.evaluation_seconds
        return self.learner.rollouts(
            self.links.validation, self.windows, seconds, self.threads, jitter=jitter
        )

    def _distance(self, regret: float) -> dict[str, float]:
        """Of the candidate's windows from the ideal ones on random emulators, and the sum with the regret."""
        if self.validator is None:
            return {}
        self.learner.validate(self.validator, self.config.expert_iterations, self.rollout_workers)
        distance = self.validator.distance()
        metrics = {"validation/distance": distance}
        if criterion_of(self.config) == REGRET_AND_DISTANCE:
            metrics[REGRET_AND_DISTANCE] = regret + distance
        return metrics

    def final_metrics(self) -> dict[str, float]:
        """Of the best policy over the emulators that it was trained for."""
        ideal = find_windows([emulator.spec for emulator in self.links.named], self.rollout_workers)
        final = self.learner.rollouts(self.links.named, ideal, FINAL_SECONDS, self.threads, best=True)
        return rollout_metrics(final)

    def final_figures(self, history: list[tuple[float, float]]) -> dict[str, Figure]:
        """Of the best policy, its curves, and how the criterion has changed: (seconds, value)."""
        figures = {}
        seconds = self.config.evaluation_seconds
        curves = self.learner.curves(
            self.links.monitored, self.config.preference_points, seconds, self.threads
        )
        if curves:
            figures["curves"] = draw_curves(f"{self.config.name}, the best policy", curves)
        figures["quality"] = draw_quality(self.config.name, criterion_of(self.config), history)
        return figures


def _make_evaluation(
    config: TrainingConfig,
    learner: NativeLearner | PythonLearner,
    links: _Links,
    memory: int,
    threads: Executor,
    rollout_workers: Executor,
) -> _Evaluation:
    """Finds the oracle's windows of the validation emulators; `memory`: numbers in the network's state."""
    windows = find_windows([emulator.spec for emulator in links.validation], rollout_workers)
    unseen = validation_tasks(config)
    validator = Collector(config, unseen, memory) if config.random_emulators else None
    seen = seen_links(
        [spec for specs in links.tasks.groups.values() for spec in specs],
        [*(emulator.spec for emulator in links.validation + links.monitored), *unseen.groups["random"]],
    )
    return _Evaluation(config, learner, links, windows, validator, seen, threads, rollout_workers)
