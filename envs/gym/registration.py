"""Registers the environments: `import ccgym.envs` calls it, and Gymnasium's entry point `gymnasium.envs`."""

import gymnasium

PATH_ENV_ID = "ccgym/Path-v0"
EPISODE_STEPS = 1000  # decisions, as in Indigo's training: at least 10 s


def register_environments() -> None:
    """Registers each environment, once. The classes are imported when one is made."""
    if PATH_ENV_ID not in gymnasium.registry:
        gymnasium.register(
            id=PATH_ENV_ID,
            entry_point="ccgym.envs.gym.path_env:PathEnv",
            vector_entry_point="ccgym.envs.gym.vector_env:PathVectorEnv",
            max_episode_steps=EPISODE_STEPS,
        )
