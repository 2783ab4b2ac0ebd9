"""What `ccgym reproduce --json` prints."""

import json
from typing import Any

import numpy as np


def json_text(answer: Any) -> str:
    """The answer as one line of JSON; figures may be NumPy's."""
    return json.dumps(answer, default=_plain)


def _plain(value: object) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is no figure")
