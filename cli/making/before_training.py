"""Checks of a training that need no PyTorch: they fail before its import, which takes seconds."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ccgym.training.config import RunConfig


def check_training(config: "RunConfig") -> None:
    """Checks the links, the user's own code, the policy to start from and the memory that is needed.

    Raises:
        InputError: one of them is wrong.
    """
    from ccgym.envs.gym.engine.env_spaces import inputs_of
    from ccgym.rl.config import RlConfig
    from ccgym.rl.shape import find_shape
    from ccgym.training.config import TrainingConfig, check_rollout_memory, load_own_code
    from ccgym.training.tasks.links import links_to_train_on, links_to_validate_on

    links_to_train_on(config)
    links_to_validate_on("validation", config.validation)
    load_own_code(config)
    if isinstance(config, TrainingConfig):
        links_to_validate_on("monitored", config.monitored)
        check_rollout_memory(config, inputs_of(config.features), config.kept_iterations)
    elif isinstance(config, RlConfig):
        check_rollout_memory(config, inputs_of(find_shape(config).features))


def check_folder(folder: Path, config: "RunConfig", *, resume: bool) -> None:
    """Raises InputError if there is nothing to resume, or if the folder holds a run of other settings."""
    from ccgym.training.config import (
        check_resumable,
        check_unused,
        checkpoint_of_run,
        config_file_of_run,
        load_config,
    )

    if resume:
        check_resumable(folder)
    elif checkpoint_of_run(folder).exists():
        before = load_config(config_file_of_run(folder), {}, type(config))
        if before != config:
            check_unused(folder)
