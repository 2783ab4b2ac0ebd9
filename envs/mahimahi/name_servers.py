"""Each of mahimahi's shells starts a name server, and gives up where it does not answer within 0.2 s.

A busy machine takes longer now and then; shells that gave up for that are started again.
"""

from collections.abc import Callable
from typing import TypeVar

from ccgym.envs.errors import OutsideError

Started = TypeVar("Started")

MOST_STARTS = 5
"""Were a quarter of the starts too late, five in a row would be once in a thousand times."""

_LATE = "dnsmasq: did not start"
"""What mahimahi 0.98 says after 20 attempts, 10 ms apart."""


def until_name_servers_answer(start: Callable[[], Started]) -> Started:
    """What `start` gives, which starts shells; a failure says what the shells complained of.

    Raises:
        OutsideError: `start` failed for another reason, or `MOST_STARTS` times for this one.
    """
    for _ in range(MOST_STARTS - 1):
        try:
            return start()
        except OutsideError as error:
            if _LATE not in str(error):
                raise
    return start()
