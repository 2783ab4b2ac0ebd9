"""What mahimahi's shells fail with by chance when they start: those are started again.

Each starts a name server, and gives up where it does not answer within 0.2 s; a busy machine takes longer now
and then. And a start now and then stands still for ever, on a quiet machine as well: one of 84 that were
counted.
"""

from collections.abc import Callable
from typing import TypeVar

from ccgym.envs.errors import OutsideError

Started = TypeVar("Started")

MOST_STARTS = 5
"""Were a quarter of the starts too late, five in a row would be once in a thousand times."""

STILL = "do not stand"
"""What who starts them says where none is ready in time."""
_LATE = "dnsmasq: did not start"
"""What mahimahi 0.98 says after 20 attempts, 10 ms apart."""


def until_shells_stand(start: Callable[[], Started]) -> Started:
    """What `start` gives, which starts shells.

    A failure says what the shells complained of, or that they stand STILL.

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
