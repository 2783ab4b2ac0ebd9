"""The folder of ccgym's caches."""

import os
from pathlib import Path

_NOWHERE = Path(os.devnull)
"""Nothing is under it, and nothing can be made there."""


def user_cache(name: str) -> Path:
    """$XDG_CACHE_HOME/ccgym/NAME, by default under ~/.cache; it may not exist, nor be possible to make."""
    cache = os.environ.get("XDG_CACHE_HOME")
    return (Path(cache) if cache else _home() / ".cache") / "ccgym" / name


def _home() -> Path:
    try:
        return Path.home()
    except RuntimeError:  # without HOME, and of a user whom the system does not know
        return _NOWHERE
