"""The dial between low delay (0) and full throughput (1), in what it lets an oracle do."""

DEFAULT_PREFERENCE = 0.5
DIAL = (0.2, 0.35, 0.5, 0.65, 0.8, 0.9)
"""The places at which a policy's curve between throughput and delay is measured."""
DOUBLINGS = 6.0
"""From one end of the dial to the other the allowance doubles so many times."""


def allowance(preference: float) -> float:
    """Factor on the standing queue that an oracle may keep: 1 at the default, in the middle of the dial."""
    return float(2.0 ** (DOUBLINGS * (preference - DEFAULT_PREFERENCE)))
