"""Registers the environments with Gymnasium, which calls this itself: no import is needed.

Gymnasium loads this module whenever it is imported, so nothing heavy may be imported here.
"""

import gymnasium

PATH_ENV_ID = "ccgym/Path-v0"
EPISODE_STEPS = 1000  # decisions, as in Indigo's training: at least 10 s


def register_environments() -> None:
    """Registers each environment, once."""
    if PATH_ENV_ID not in gymnasium.registry:
        gymnasium.register(
            id=PATH_ENV_ID,
            entry_point="ccgym.envs.path_env:PathEnv",
            vector_entry_point="ccgym.envs.vector_env:PathVectorEnv",
            max_episode_steps=EPISODE_STEPS,
        )
