"""Whether the windows of many flows may fill the memory in the next step, and with them what is queued."""

from collections.abc import Callable
from typing import Any

import numpy as np
from ccgym.envs.gym.rewards import Floats
from ccgym.envs.host.memory import check_memory
from numpy.typing import NDArray

from .env_spaces import MOST_WINDOW_PACKETS

MANY_ROWS = 256
"""Fewer flows cannot fill a memory with their windows."""
PACKET_BYTES = 120
"""Of memory for each packet in flight, as measured."""
NEGLIGIBLE_BYTES = 5e7
"""Growth in a step that is not compared with the free memory: to look that up takes as long as a step."""
MOST_GROWTH, MOST_ADDED_PACKETS = np.e, 10.0
"""How far an action that does not set the window can raise it: so many times as much, or so many more."""


class WindowGrowth:
    """Follows what the windows of all rows together may have grown to since they were last looked at."""

    def __init__(self, rows: int, *, sets_window: bool) -> None:
        """`sets_window`: the first number of an action is the window itself."""
        self._rows = rows
        self._sets_window = sets_window
        self._most_packets = np.inf

    def forget(self) -> None:
        """The windows are others from now on."""
        self._most_packets = np.inf

    def check(self, actions: NDArray[Any], windows_packets: Callable[[], Floats]) -> None:
        """Compares what the windows may grow by in this step with the free memory.

        Args:
            actions: of the step, (rows, numbers).
            windows_packets: looks up the windows now, (rows,); called in few steps.

        Raises:
            InputError: there is too little memory.
        """
        if self._rows < MANY_ROWS:
            return
        if self._sets_window:
            total_packets = float(np.add.reduce(actions[:, 0]))
        else:
            total_packets = self._most_packets = self._grown(self._most_packets)
        if PACKET_BYTES * total_packets <= NEGLIGIBLE_BYTES:
            return  # in most steps; what follows would be a tenth of their time
        windows = windows_packets()
        if self._sets_window:
            most = actions[:, 0]
        else:
            most = np.maximum(MOST_GROWTH * windows, windows + MOST_ADDED_PACKETS)
            self._most_packets = self._grown(float(np.add.reduce(windows)))
        growth_packets = np.maximum(np.minimum(most, MOST_WINDOW_PACKETS) - windows, 0).sum()
        if PACKET_BYTES * growth_packets > NEGLIGIBLE_BYTES:
            check_memory(PACKET_BYTES * float(growth_packets), f"num_envs: windows of {self._rows} flows")

    def _grown(self, packets: float) -> float:
        """The most that windows of so many packets together may be after a step."""
        return MOST_GROWTH * packets + MOST_ADDED_PACKETS * self._rows
