"""The actions that a step is given: their shape and type, and whether they lie within the action space."""

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

_EXPECTED = {False: "one number for each flow", True: "window in packets and rate in Mbit/s for each flow"}


class GivenActions:
    """Checks the actions of so many rows; in every step, so by ufuncs without Python around them."""

    def __init__(self, space: spaces.Discrete | spaces.Box, rows: int) -> None:
        self._space = space
        self.shape = (rows, 1 if isinstance(space, spaces.Discrete) else space.shape[0])

    def checked(self, actions: Any) -> NDArray[Any]:
        """The actions, (rows, numbers), in the type that they were given in.

        Raises:
            ValueError: one lies outside the action space, or they have another shape or type.
        """
        given = self._shaped(np.array(actions))
        space = self._space
        if isinstance(space, spaces.Discrete):
            if given.dtype.kind not in "iu":
                raise ValueError(
                    f"actions must be whole numbers within [0, {int(space.n) - 1}], not {given.dtype}"
                )
            _check_within(given, 0, int(space.n) - 1)
        else:
            if given.dtype.kind not in "fiu":
                raise ValueError(f"actions must be numbers, not {given.dtype}")
            _check_within(given, space.low, space.high)
        return given

    def _shaped(self, given: NDArray[Any]) -> NDArray[Any]:
        """Takes single numbers in place of arrays of one, and the action of a single row as it is."""
        rows, numbers = self.shape
        if given.shape == self.shape:
            return given
        flat = numbers == 1 and given.shape == (rows,)
        single = rows == 1 and given.shape in ((), (1,), (numbers,)) and given.size == numbers
        if not flat and not single:
            wanted = self.shape if rows > 1 else self.shape[1:]
            raise ValueError(f"actions of shape {given.shape}, should be {wanted}: {_EXPECTED[numbers > 1]}")
        return given.reshape(self.shape)


def _check_within(given: NDArray[Any], low: NDArray[Any] | int, high: NDArray[Any] | int) -> None:
    within = (given >= low) & (given <= high)  # so that nan fails too
    if np.logical_and.reduce(within, axis=None):
        return
    with np.errstate(over="ignore"):  # as the space holds its bounds: 0.001 is a little more there
        rounded = given.astype(np.float32)
    within = (rounded >= low) & (rounded <= high)
    if not within.all():
        flow, number = np.argwhere(~within)[0].tolist()
        least, most = (np.broadcast_to(bound, given.shape)[flow, number] for bound in (low, high))
        raise ValueError(f"action {given[flow, number]} of flow {flow} is not within [{least:g}, {most:g}]")
