"""Where ccgym keeps what it can make again."""

import os
from pathlib import Path


def user_cache(name: str) -> Path:
    """$XDG_CACHE_HOME/ccgym/NAME, by default under ~/.cache; it may not exist yet."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ccgym" / name
