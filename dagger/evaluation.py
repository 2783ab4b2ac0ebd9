"""How good the policy in training is: on links that it does not learn from, and at last on those it does."""

from concurrent.futures import Executor
from dataclasses import dataclass

import numpy as np
from ccgym.agents.seen_links import SeenLinks
from ccgym.oracle.window import find_windows
from ccgym.training.config import TrainingConfig, trained_on
from ccgym.training.rollouts import Rollout, mean_regret, rollout_metrics, summarise
from ccgym.training.runs.monitoring import window_metrics
from ccgym.training.runs.plots import draw_curves, draw_quality, draw_rollouts, draw_windows
from ccgym.training.tasks.links import seen_links
from ccgym.training.tasks.task_distribution import validation_tasks
from matplotlib.figure import Figure
from numpy.typing import NDArray

from .collection import Collector
from .learner import NativeLearner, PythonLearner
from .links import TrainingLinks

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


@dataclass(frozen=True)
class Evaluated:
    """What the evaluation of the candidate has given."""

    metrics: dict[str, float]
    figures: dict[str, Figure]
    summary: str


@dataclass(frozen=True)
class Evaluation:
    """Measures the learner's policy on links that it does not learn from, and at last on those it does."""

    config: TrainingConfig
    learner: NativeLearner | PythonLearner
    links: TrainingLinks
    windows: NDArray[np.float64]
    """The oracle's, of each emulator to validate on."""
    validator: Collector | None
    """Of random emulators that training never sees; None: it has no random ones."""
    seen: SeenLinks
    threads: Executor
    rollout_workers: Executor

    def evaluate(self, iteration: int) -> Evaluated:
        """Makes the present policy the learner's candidate and measures it."""
        self.learner.make_candidate(trained_on(self.config, iteration), self.seen)
        rollouts = self._validation_rollouts()
        regret = mean_regret(rollouts + self._validation_rollouts(jitter=True))
        metrics = {REGRET: regret} | self._distance(regret)
        windows = self.learner.windows(self.links.monitored, MONITORED_SECONDS, self.threads)
        metrics |= rollout_metrics(rollouts) | window_metrics(windows)
        title = f"{self.config.name}, iteration {iteration + 1}"
        figures = {"rollouts": draw_rollouts(title, rollouts), "windows": draw_windows(title, windows)}
        return Evaluated(metrics, figures, f"{summarise(rollouts)}; validation regret {regret:.3f}")

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


def make_evaluation(
    config: TrainingConfig,
    learner: NativeLearner | PythonLearner,
    links: TrainingLinks,
    memory: int,
    threads: Executor,
    rollout_workers: Executor,
) -> Evaluation:
    """Finds the oracle's windows of the validation emulators; `memory`: numbers in the network's state."""
    windows = find_windows([emulator.spec for emulator in links.validation], rollout_workers)
    unseen = validation_tasks(config)
    validator = Collector(config, unseen, memory) if config.random_emulators else None
    seen = seen_links(
        [spec for specs in links.tasks.groups.values() for spec in specs],
        [*(emulator.spec for emulator in links.validation + links.monitored), *unseen.groups["random"]],
    )
    return Evaluation(config, learner, links, windows, validator, seen, threads, rollout_workers)
