"""Checks of arguments that the environments share."""

import operator
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, TypeVar

import numpy as np
from ccgym.envs.errors import InputError, excerpt
from numpy.typing import NDArray

_KNOWN = TypeVar("_KNOWN")


def known(argument: str, name: str, table: Mapping[str, _KNOWN]) -> _KNOWN:
    """The entry of a table by its name.

    Raises:
        InputError: there is none; it lists those that there are.
    """
    if not isinstance(name, str) or name not in table:
        raise InputError(f"{argument}: {excerpt(name)!r} is unknown; known are {', '.join(table)}")
    return table[name]


def whole_seed(seed: Any) -> int:
    """A seed as Python's own integer, which has no bounds; NumPy's integers are taken too.

    Raises:
        InputError: it is no whole number from 0.
    """
    with suppress(TypeError):
        if (whole := operator.index(seed)) >= 0:
            return whole
    raise InputError(f"seed: {excerpt(seed)!r} is not a whole number from 0")


def oracle_windows(given: Sequence[float]) -> NDArray[np.float64]:
    """Ideal windows in packets, (rows,); NaN where one is not known.

    Raises:
        InputError: one is not above 0.
    """
    for window in given:
        if not isinstance(window, float | int | np.number) or window <= 0 or window == np.inf:
            raise InputError(f"oracle_cwnd_packets: {excerpt(window)!r} is not a number above 0")
    return np.array(given, dtype=np.float64)
