"""The training loop: run, learn from it, evaluate.

Every iteration is a function of (weights, optimiser, its number, the seed) alone, and the state after each
is on disk: a run that was stopped or killed goes on to the same weights, bit for bit, as one that was not.
The run directory is that of imitation training: ccgym.training.runs.run_directory.
"""

import math
import time
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from ccgym.agents.policy_file import PolicyModule, save_policy
from ccgym.agents.seen_links import SeenLinks, read_seen_links
from ccgym.agents.shipped import policy_path
from ccgym.envs import _core
from ccgym.envs.errors import InputError
from ccgym.envs.gym.engine.env_spaces import inputs_of
from ccgym.envs.specs.emulator_spec import EmulatorSpec
from ccgym.envs.specs.emulators import NamedEmulator
from ccgym.envs.specs.splits import Split
from ccgym.oracle.window import find_windows, refuse_dead, refuse_unsearchable
from ccgym.training.config import check_rollout_memory, trained_on
from ccgym.training.device import CPU
from ccgym.training.executors import open_executors
from ccgym.training.rollouts import make_rollouts, rollout_metrics, summarise
from ccgym.training.runs.plots import draw_rollouts
from ccgym.training.runs.progress import TrainingProgress
from ccgym.training.runs.run_directory import SECONDS, Checkpoint, RunDirectory
from ccgym.training.runs.tensor_file import save_tensors
from ccgym.training.tasks.links import links_to_train_on, links_to_validate_on, pins, seen_links
from matplotlib.figure import Figure
from numpy.typing import NDArray
from stable_baselines3.common.utils import set_random_seed

from .actor import as_actor
from .agent import Model, let_learn, make_model, to_policy
from .config import RlConfig
from .episodes import EPISODE, UNSEEN, Episodes, Validator, try_out, validation_links
from .shape import Shape, find_shape

NEGATIVE_REWARD = "validation/negative_reward"
"""The metric that the best policy has least of: the mean reward of a decision on unseen flows, times -1."""


def learn(model: Model, episodes: Episodes, config: RlConfig, iteration: int) -> dict[str, float]:
    """One iteration: every flow runs an episode, then the networks learn from all of them.

    Raises:
        InputError: the networks give NaN or infinity.
    """
    episodes.sample(iteration)
    stream = np.random.SeedSequence([config.seed, EPISODE, iteration])
    set_random_seed(int(stream.generate_state(1)[0]))
    let_learn(model, acting=iteration >= config.value_iterations)
    learning_rate = config.learning_rate * (1 - iteration / config.iterations)
    model.lr_schedule = lambda _: learning_rate
    begin_s = time.monotonic()
    _learn_from_all(model, config)
    decisions = config.environments * config.episode_steps
    logged = model.logger.name_to_value
    return {
        "reward": float(np.mean([episode["r"] for episode in model.ep_info_buffer or []]))
        / config.episode_steps,
        "loss": logged["train/loss"],
        "fit/value_loss": logged["train/value_loss"],
        "fit/explained_variance": float(logged["train/explained_variance"]),
        "fit/policy_divergence": float(logged["train/approx_kl"]),
        "fit/entropy": -float(logged["train/entropy_loss"]),
        "fit/learning_rate": learning_rate,
        "speed/decisions_per_second": decisions / (time.monotonic() - begin_s),
    }


def _learn_from_all(model: Model, config: RlConfig) -> None:
    """Raises InputError: the networks give NaN or infinity."""
    try:
        model.learn(config.environments * config.episode_steps)
    except ValueError as error:
        if not any(message in str(error) for message in _NAN_MESSAGES):
            raise
        raise InputError(_diverged(config)) from error
    if not all(bool(parameter.isfinite().all()) for parameter in model.policy.parameters()):
        raise InputError(_diverged(config))


_NAN_MESSAGES = ("to satisfy the constraint", "action nan")
"""What PyTorch's distributions and the environment say when a network gives it."""


def _diverged(config: RlConfig) -> str:
    return (
        f"learning_rate ({config.learning_rate:g}): the networks give NaN or infinity: did it diverge? "
        "give a lower one, or smaller rewards by reward_scale"
    )


def train(
    config: RlConfig,
    run: RunDirectory[RlConfig],
    *,
    resume: bool,
    workers: int,
    minutes: float = math.inf,
    ray_address: str | None = None,
    device: torch.device = CPU,
) -> None:
    """Trains until `config.iterations` are done or `minutes` are over.

    The arguments are those of `ccgym.dagger.train.train`. A cluster runs the flows that are learnt from; on
    `device` the networks learn, and act while they do.

    Raises:
        InputError: an unknown emulator, a policy to start from that does not fit, no run to resume, a run in
            the way, or no cluster.
    """
    with open_executors(workers, ray_address) as (threads, rollout_workers):
        _train(
            config,
            run,
            threads,
            rollout_workers,
            resume=resume,
            workers=workers,
            minutes=minutes,
            device=device,
        )


def _train(
    config: RlConfig,
    run: RunDirectory[RlConfig],
    threads: Executor,
    rollout_workers: Executor,
    *,
    resume: bool,
    workers: int,
    minutes: float,
    device: torch.device,
) -> None:
    """See `train`; `rollout_workers`: the threads, or a cluster."""
    begin_s = time.monotonic()
    torch.set_num_threads(1)  # sums keep their order on any machine
    shape = find_shape(config)
    check_rollout_memory(config, inputs_of(shape.features))
    emulators, validation = _find_links(config)
    specs = [emulator.spec for emulator in emulators]
    seen = _seen_links(config, specs)
    try_out(config, shape, specs)
    episodes = Episodes(config, shape, specs, workers, rollout_workers)
    validator = Validator(config, shape, split=Split.VALIDATION, seed=config.seed + UNSEEN, threads=workers)
    model = make_model(config, shape, episodes.envs, device)
    done = _begin(config, run, model, pins(emulators, validation), resume=resume)
    run.open_logs(done.iterations, NEGATIVE_REWARD)
    earlier_s = max((seconds for seconds, _ in run.history(SECONDS)), default=0.0)

    with TrainingProgress(done.iterations, config.iterations) as progress:
        progress.say(f"finding oracle windows: {len(validation)} emulators to validate")
        windows = find_windows([emulator.spec for emulator in validation], rollout_workers)
        evaluation = _Evaluation(config, run, shape, validator, validation, windows, seen, threads)

        for iteration in range(done.iterations, config.iterations):
            # Run and learn.
            metrics = learn(model, episodes, config, iteration)
            metrics["decisions"] = done.decisions + config.environments * config.episode_steps

            # Evaluate: the best policy is kept.
            last = iteration + 1 == config.iterations or time.monotonic() - begin_s > 60 * minutes
            best_criterion = done.best_criterion
            figures: dict[str, Figure] = {}
            if last or (iteration + 1) % config.evaluation_interval == 0:
                evaluated = evaluation.evaluate(model, iteration)
                metrics |= evaluated.metrics
                figures = evaluated.figures
                progress.say(f"iteration {iteration + 1}: {evaluated.summary}")
                if metrics[NEGATIVE_REWARD] < best_criterion:
                    best_criterion = metrics[NEGATIVE_REWARD]
                    run.candidate_policy.replace(evaluated.place_of_best)

            # Save: a run that ends here, however it ends, goes on from here.
            decisions = int(metrics["decisions"])
            done = Checkpoint(iteration + 1, *_state(model), best_criterion, decisions, NEGATIVE_REWARD)
            metrics[SECONDS] = earlier_s + time.monotonic() - begin_s
            run.log(iteration, metrics, figures)
            run.save(done, None, 0)
            progress.advance(
                iteration + 1,
                f"reward {metrics['reward']:.3f}  loss {metrics['loss']:.4f}  "
                f"{metrics['speed/decisions_per_second'] / 1000:.0f} k decisions/s",
            )
            if last:
                break
    run.close_logs()


def _find_links(config: RlConfig) -> tuple[list[NamedEmulator], list[NamedEmulator]]:
    """To train on and to validate on. Raises InputError: one is unknown, or nothing can be run over it."""
    emulators, validation = links_to_train_on(config), links_to_validate_on("validation", config.validation)
    for emulator in emulators:
        refuse_dead(emulator.spec)
    for emulator in validation:
        refuse_unsearchable(emulator.spec)
    return emulators, validation


def _begin(
    config: RlConfig, run: RunDirectory[RlConfig], model: Model, pinned: dict[str, str], *, resume: bool
) -> Checkpoint:
    """Begins the run, or gives the model the state in which the run goes on."""
    if resume:
        run.check_origin(pinned)
        return run.resume(NEGATIVE_REWARD, model.policy, model.policy.optimizer)
    run.create(config, pinned)
    done = Checkpoint(0, *_state(model), best_criterion=math.inf, decisions=0, criterion=NEGATIVE_REWARD)
    run.save(done, None, 0)
    return done


@dataclass(frozen=True)
class _Evaluated:
    """What the evaluation of a policy has given; the policy is the run's candidate."""

    metrics: dict[str, float]
    figures: dict[str, Figure]
    summary: str
    place_of_best: Path
    """Where the candidate belongs if it is the best one so far."""


@dataclass(frozen=True)
class _Evaluation:
    """Measures the policy that a model has become, on links that it does not learn from."""

    config: RlConfig
    run: RunDirectory[RlConfig]
    shape: Shape
    validator: Validator
    emulators: Sequence[NamedEmulator]
    windows: NDArray[np.float64]
    """The oracle's, of each emulator."""
    seen: SeenLinks | None
    threads: Executor

    def evaluate(self, model: Model, iteration: int) -> _Evaluated:
        """Where a controller can run it, the exported policy runs in the twin as it will run outside."""
        module, spec = to_policy(model, self.shape)
        reward = self.validator.mean_reward(as_actor(module, self.shape.actions))
        metrics = {"validation/reward": reward, NEGATIVE_REWARD: -reward}
        summary = f"validation reward {reward:.4f}"
        if self.shape.features in _core.POLICY_FEATURES and isinstance(module, PolicyModule):
            made = trained_on(self.config, iteration)
            save_policy(self.run.candidate_policy, module, spec, trained_on=made, seen=self.seen)
            rollouts = make_rollouts(
                self.run.candidate_policy,
                self.emulators,
                self.windows,
                self.config.evaluation_seconds,
                self.threads,
            )
            metrics |= rollout_metrics(rollouts)
            figures = {"rollouts": draw_rollouts(f"{self.config.name}, iteration {iteration + 1}", rollouts)}
            return _Evaluated(metrics, figures, f"{summary}; {summarise(rollouts)}", self.run.best_policy)
        # Features or a network in Python: no controller runs them.
        names = {"network": self.shape.network, "features": self.shape.features}
        save_tensors({**names, "weights": module.state_dict()}, self.run.candidate_policy)
        return _Evaluated(metrics, {}, summary, self.run.best_network)


def _seen_links(config: RlConfig, trained_on: list[EmulatorSpec]) -> SeenLinks | None:
    """What this training sees, and what the policy has seen that it starts from; None: that does not say."""
    seen = seen_links(trained_on, validation_links(config, Split.VALIDATION))
    if not config.init:
        return seen
    before = read_seen_links(policy_path(config.init))
    return None if before is None else seen.with_those_of(before)


def _state(model: Model) -> tuple[dict[str, torch.Tensor], dict[str, object]]:
    return model.policy.state_dict(), model.policy.optimizer.state_dict()
