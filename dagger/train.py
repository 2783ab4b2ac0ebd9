"""DAgger: the learner flies, the oracle says what would have been right, the learner is fitted to all of it.

One function, read from top to bottom: collect, label, append, fit, evaluate. Every iteration is a function of
(weights, optimiser, dataset, its number, the seed) alone, and the state after each is on disk, so a run that
was stopped or killed goes on to the same weights, bit for bit, as one that was not. What a run writes: see
run_directory.py.
"""

import math
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import torch
from ccgym.agents.lstm import LstmPolicy
from ccgym.agents.policy_file import PolicySpec, save_policy
from ccgym.envs import _core
from ccgym.envs.emulators import select_emulators
from ccgym.oracle.window import ideal_windows

from .action_sets import ACTION_SETS
from .collection import Crew, form_crews, to_sequences
from .config import TrainingConfig
from .dataset import Dataset
from .fitting import fit, initialise, make_optimiser
from .picture import draw_trials
from .progress import TrainingProgress
from .run_directory import REGRET, Checkpoint, RunDirectory
from .trial import fly_trials, mean_regret, summarise, trial_metrics
from .world import World, vary


def train(
    config: TrainingConfig,
    run: RunDirectory[TrainingConfig],
    *,
    resume: bool,
    workers: int,
    minutes: float = math.inf,
) -> None:
    """Trains until `config.iterations` are done or `minutes` are over.

    Args:
        config: of the run; with `resume`, the one it was begun with.
        run: must hold a run with `resume`, must not without.
        resume: go on with the run's last checkpoint.
        workers: threads. They change the speed, never the result.
        minutes: the iteration that passes this limit is the last one.

    Raises:
        InputError: an unknown emulator, or no run to resume, or a run in the way.
    """
    begin_s = time.monotonic()
    torch.set_num_threads(1)  # the workers are the parallelism; every sum keeps its order
    emulators, validation = select_emulators(config.emulators), select_emulators(config.validation)
    actions = ACTION_SETS[config.actions]
    policy = LstmPolicy(len(_core.POLICY_FEATURES[config.features]), config.hidden, actions.outputs)
    policy_spec = PolicySpec(feature_set=config.features, actions=config.actions)
    initialise(policy, config.seed)
    optimiser = make_optimiser(policy, config)
    dataset = Dataset(config.dataset_iterations, config.sequences_per_iteration)
    if resume:
        done = run.load()
        policy.load_state_dict(done.policy)
        optimiser.load_state_dict(done.optimiser)
        run.load_dataset(dataset, done.iterations, config.dataset_iterations)
    else:
        run.create(config)
        done = Checkpoint(0, policy.state_dict(), optimiser.state_dict(), best_regret=math.inf, decisions=0)
        run.save(done, None, config.dataset_iterations)
    run.open_logs(done.iterations)

    with (
        ThreadPoolExecutor(workers) as executor,
        TrainingProgress(done.iterations, config.iterations) as progress,
    ):
        varied = vary(config, [emulator.spec for emulator in emulators])
        progress.say(
            f"finding oracle windows: {len(emulators)} emulators, {len(varied)} like them, "
            f"{len(validation)} to validate"
        )
        tried = emulators + validation
        tried_windows = ideal_windows([emulator.spec for emulator in tried], executor)
        world = World(
            [emulator.spec for emulator in emulators] + varied,
            np.concatenate([tried_windows[: len(emulators)], ideal_windows(varied, executor)]),
        )
        crews = form_crews(config, world)

        for iteration in range(done.iterations, config.iterations):
            iteration_s = time.monotonic()

            # Collect: in iteration 0 the expert acts, from then on the learner.
            fly = partial(Crew.fly, policy=policy, iteration=iteration, expert_acts=iteration == 0)
            recordings = list(executor.map(fly, crews))
            collected_s = time.monotonic()

            # Label: what the expert would have done, wherever the learner went.
            labels = [actions.label(recording.cwnds, recording.windows[:, None]) for recording in recordings]

            # Append: the oldest iteration is dropped when the dataset is full.
            sequences = to_sequences(recordings, labels, config.sequence_steps)
            dataset.append(iteration, sequences)

            agreement = float(
                np.mean(
                    [
                        actions.agree(recording.acts, right).mean()
                        for recording, right in zip(recordings, labels, strict=True)
                    ]
                )
            )

            # Fit.
            fitted = fit(policy, optimiser, dataset, config, iteration, executor)
            fitted_s = time.monotonic()
            decisions = done.decisions + sequences.labels.size
            metrics = {
                "loss": fitted.loss,
                "agreement": agreement,
                "fit/epochs": fitted.epochs,
                "fit/learning_rate": fitted.learning_rate,
                "fit/gradient_norm": fitted.gradient_norm,
                "decisions": decisions,
                "speed/decisions_per_second": sequences.labels.size / (fitted_s - iteration_s),
                "speed/collect_seconds": collected_s - iteration_s,
                "speed/fit_seconds": fitted_s - collected_s,
            }

            # Evaluate: the exported policy flies in the twin as it will fly outside; the best one is kept.
            last = iteration + 1 == config.iterations or time.monotonic() - begin_s > 60 * minutes
            best_regret = done.best_regret
            pictures = {}
            if last or (iteration + 1) % config.evaluation_interval == 0:
                save_policy(
                    run.candidate_policy, policy, policy_spec, trained_on=_provenance(config, iteration)
                )
                fly_candidate = partial(fly_trials, run.candidate_policy, seconds=config.evaluation_seconds)
                trials = fly_candidate(tried, tried_windows, executor=executor)
                stalled = fly_candidate(
                    validation, tried_windows[len(emulators) :], executor=executor, stalling=True
                )
                regret = mean_regret(trials[len(emulators) :] + stalled)
                metrics |= trial_metrics(trials) | {REGRET: regret}
                pictures["trials"] = draw_trials(f"{config.name}, iteration {iteration + 1}", trials)
                progress.say(
                    f"iteration {iteration + 1}: {summarise(trials[: len(emulators)])}; "
                    f"validation regret {regret:.3f}"
                )
                if regret < best_regret:
                    best_regret = regret
                    run.candidate_policy.replace(run.best_policy)

            # Save: a run that ends here, however it ends, goes on from here.
            done = Checkpoint(
                iteration + 1, policy.state_dict(), optimiser.state_dict(), best_regret, decisions
            )
            run.log(iteration, metrics, pictures)
            run.save(done, sequences, config.dataset_iterations)
            progress.advance(
                iteration + 1,
                f"loss {fitted.loss:.4f}  agreement {agreement:.3f}  "
                f"{metrics['speed/decisions_per_second'] / 1000:.0f} k decisions/s",
            )
            if last:
                break
    run.close_logs()


def _provenance(config: TrainingConfig, iteration: int) -> str:
    """What the policy file says of its training: enough to repeat it."""
    command = f"ccgym train --config {config.name} --emulators {config.emulators} --seed {config.seed}"
    return f"{command}, iteration {iteration + 1}"
