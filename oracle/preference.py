"""The preference between low delay (0) and full throughput (1), and what it lets an oracle do."""

DEFAULT_PREFERENCE = 0.5
PREFERENCES = (0.2, 0.35, 0.5, 0.65, 0.8, 0.9)
"""At which a policy's curve between throughput and delay is measured."""
DOUBLINGS = 6.0
"""The allowance doubles so many times from preference 0 to 1; the companion (companion.cc) has it too."""


def allowance(preference: float) -> float:
    """Factor on the standing queue that an oracle may keep: 1 at the default preference.

    >>> [allowance(preference) for preference in (0.0, 0.5, 1.0)]
    [0.125, 1.0, 8.0]
    """
    return float(2.0 ** (DOUBLINGS * (preference - DEFAULT_PREFERENCE)))
