"""Starts mahimahi's shells again when a start fails by chance.

Each shell starts a name server, and gives up if that does not answer within 0.2 s; a busy machine sometimes
takes longer. And now and then a start hangs for ever, on a quiet machine as well: one of 84 that were
counted.
"""

from collections.abc import Callable
from typing import TypeVar

from ccgym.envs.errors import OutsideError

Started = TypeVar("Started")

MOST_STARTS = 5
"""If a quarter of the starts were too late, five in a row would be so once in a thousand times."""

STILL = "do not stand"
"""The message of the caller when a shell is not ready in time."""
_LATE = "dnsmasq: did not start"
"""What mahimahi 0.98 says after 20 attempts, 10 ms apart."""


def until_shells_stand(start: Callable[[], Started]) -> Started:
    """Returns what `start` returns, which starts shells; repeats it when it fails by chance.

    Failures are told by the shells' own message, or by STILL.

    Raises:
        OutsideError: `start` failed for another reason, or `MOST_STARTS` times for one of these.
    """
    for _ in range(MOST_STARTS - 1):
        try:
            return start()
        except OutsideError as error:
            if _LATE not in str(error) and STILL not in str(error):
                raise
    return start()
