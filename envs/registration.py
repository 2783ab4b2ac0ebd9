"""Registers the environments with Gymnasium, which since 1.0 no longer reads the entry points of packages.

It is done as soon as Gymnasium is loaded, and does not load it: a command that needs none starts fast. An
installed ccgym is imported at the start of Python (etc/ccgym-environments.pth), so the user imports nothing.
"""

import importlib.util
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

PATH_ENV_ID = "ccgym/Path-v0"
EPISODE_STEPS = 1000  # decisions, as in Indigo's training: at least 10 s

_GYMNASIUM = "gymnasium"


def register_environments() -> None:
    """Registers each environment, once."""
    import gymnasium

    if PATH_ENV_ID not in gymnasium.registry:
        gymnasium.register(
            id=PATH_ENV_ID,
            entry_point="ccgym.envs.path_env:PathEnv",
            vector_entry_point="ccgym.envs.vector_env:PathVectorEnv",
            max_episode_steps=EPISODE_STEPS,
        )


def register_when_gymnasium_is_loaded() -> None:
    """Registers the environments now if Gymnasium is loaded, else right after whoever imports it first."""
    if _GYMNASIUM in sys.modules:
        register_environments()
    elif not any(isinstance(finder, _GymnasiumFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _GymnasiumFinder())


class _GymnasiumFinder:
    """Finds Gymnasium as ever, but has it followed by the registration."""

    def find_spec(
        self, name: str, _path: Sequence[str] | None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != _GYMNASIUM:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            load = spec.loader.exec_module

            def load_and_register(module: ModuleType) -> None:
                load(module)
                register_environments()

            spec.loader.exec_module = load_and_register  # type: ignore[method-assign]
        return spec
