"""The training loop: run, learn from it, evaluate.

Every iteration is a function of (weights, optimiser, its number, the seed) alone, and the state after each
is on disk: a run that was stopped or killed goes on to the same weights, bit for bit, as one that was not.
The run directory is that of imitation training: ccgym.training.runs.run_directory.
"""

import math
import time
from concurrent.futures import Executor

import numpy as np
import torch
from ccgym.agents.policy_file import PolicyModule, save_policy
from ccgym.agents.seen_links import SeenLinks, read_seen_links
from ccgym.agents.shipped import policy_path
from ccgym.envs import _core
from ccgym.envs.errors import InputError
from ccgym.envs.gym.engine.env_spaces import inputs_of
from ccgym.envs.specs.emulator_spec import EmulatorSpec
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
from stable_baselines3.common.utils import set_random_seed

from .actor import as_actor
from .agent import Model, let_learn, make_model, to_policy
from .config import RlConfig
from .episodes import EPISODE, UNSEEN, Episodes, Validator, try_out, validation_links
from .shape import find_shape

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
    rate = config.learning_rate * (1 - iteration / config.iterations)
    model.lr_schedule = lambda _: rate
    begin_s = time.monotonic()
    _learn_from_all(model, config)
    decisions = config.environments * config.episode_steps
    told = model.logger.name_to_value
    return {
        "reward": float(np.mean([sampled["r"] for sampled in model.ep_info_buffer or []]))
        / config.episode_steps,
        "loss": told["train/loss"],
        "fit/value_loss": told["train/value_loss"],
        "fit/explained_variance": float(told["train/explained_variance"]),
        "fit/policy_divergence": float(told["train/approx_kl"]),
        "fit/entropy": -float(told["train/entropy_loss"]),
        "fit/learning_rate": rate,
        "speed/decisions_per_second": decisions / (time.monotonic() - begin_s),
    }


def _learn_from_all(model: Model, config: RlConfig) -> None:
    """Raises InputError: the networks give NaN or infinity."""
    try:
        model.learn(config.environments * config.episode_steps)
    except ValueError as error:
        if not any(told in str(error) for told in _TOLD_OF_NAN):
            raise
        raise InputError(_diverged(config)) from error
    if not all(bool(parameter.isfinite().all()) for parameter in model.policy.parameters()):
        raise InputError(_diverged(config))


_TOLD_OF_NAN = ("to satisfy the constraint", "action nan")
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

    Args:
        config: of the run; with `resume`, the one it was begun with.
        run: must hold a run with `resume`, must not without.
        resume: go on with the run's last checkpoint.
        workers: threads. They change the speed, never the result.
        minutes: the iteration that passes this limit is the last one.
        ray_address: of a Ray cluster that runs the flows that are learnt from; it changes no bit.
        device: where the networks learn, and act while they do.

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
    emulators, validation = links_to_train_on(config), links_to_validate_on("validation", config.validation)
    for emulator in emulators:
        refuse_dead(emulator.spec)
    for emulator in validation:
        refuse_unsearchable(emulator.spec)
    seen = _seen_links(config, [emulator.spec for emulator in emulators])
    try_out(config, shape, [emulator.spec for emulator in emulators])
    episodes = Episodes(config, shape, [emulator.spec for emulator in emulators], workers, rollout_workers)
    validator = Validator(config, shape, split=Split.VALIDATION, seed=config.seed + UNSEEN, threads=workers)
    model = make_model(config, shape, episodes.envs, device)
    native = shape.features in _core.POLICY_FEATURES
    pinned = pins(emulators, validation)
    if resume:
        run.check_origin(pinned)
        done = run.resume(NEGATIVE_REWARD)
        model.policy.load_state_dict(done.policy)
        model.policy.optimizer.load_state_dict(done.optimiser)
    else:
        run.create(config, pinned)
        done = Checkpoint(0, *_state(model), best_criterion=math.inf, decisions=0, criterion=NEGATIVE_REWARD)
        run.save(done, None, 0)
    run.open_logs(done.iterations, NEGATIVE_REWARD)
    earlier_s = max((seconds for seconds, _ in run.history(SECONDS)), default=0.0)

    with TrainingProgress(done.iterations, config.iterations) as progress:
        progress.say(f"finding oracle windows: {len(validation)} emulators to validate")
        windows = find_windows([emulator.spec for emulator in validation], rollout_workers)

        for iteration in range(done.iterations, config.iterations):
            # Run and learn.
            metrics = learn(model, episodes, config, iteration)
            metrics["decisions"] = done.decisions + config.environments * config.episode_steps

            # Evaluate: the exported policy runs in the twin as it will run outside; the best one is kept.
            last = iteration + 1 == config.iterations or time.monotonic() - begin_s > 60 * minutes
            best_criterion = done.best_criterion
            figures = {}
            if last or (iteration + 1) % config.evaluation_interval == 0:
                module, spec = to_policy(model, shape)
                reward = validator.mean_reward(as_actor(module, shape.actions))
                metrics |= {"validation/reward": reward, NEGATIVE_REWARD: -reward}
                said = f"iteration {iteration + 1}: validation reward {reward:.4f}"
                is_native = False
                if native and isinstance(module, PolicyModule):
                    is_native = True
                    made = trained_on(config, iteration)
                    save_policy(run.candidate_policy, module, spec, trained_on=made, seen=seen)
                    rollouts = make_rollouts(
                        run.candidate_policy, validation, windows, config.evaluation_seconds, threads
                    )
                    metrics |= rollout_metrics(rollouts)
                    figures["rollouts"] = draw_rollouts(f"{config.name}, iteration {iteration + 1}", rollouts)
                    said += f"; {summarise(rollouts)}"
                else:  # features or a network in Python: no controller runs them
                    names = {"network": shape.network, "features": shape.features}
                    save_tensors({**names, "weights": module.state_dict()}, run.candidate_policy)
                progress.say(said)
                if -reward < best_criterion:
                    best_criterion = -reward
                    run.candidate_policy.replace(run.best_policy if is_native else run.best_network)

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


def _seen_links(config: RlConfig, trained_on: list[EmulatorSpec]) -> SeenLinks | None:
    """What this training sees, and what the policy has seen that it starts from; None: that does not say."""
    seen = seen_links(trained_on, validation_links(config, Split.VALIDATION))
    if not config.init:
        return seen
    before = read_seen_links(policy_path(config.init))
    return None if before is None else seen.with_those_of(before)


def _state(model: Model) -> tuple[dict[str, torch.Tensor], dict[str, object]]:
    return model.policy.state_dict(), model.policy.optimizer.state_dict()
