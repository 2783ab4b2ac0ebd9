"""When one run is clearly better than another, at any preference."""

CLEARLY = 0.02
"""By this share the throughput must be more and the delay less."""


def clearly_beats(
    throughput_mbps: float, p95_delay_ms: float, other_throughput_mbps: float, other_p95_delay_ms: float
) -> bool:
    """Whether one has both clearly more throughput and clearly less p95 delay than the other."""
    faster = throughput_mbps >= (1 + CLEARLY) * other_throughput_mbps
    return faster and p95_delay_ms <= (1 - CLEARLY) * other_p95_delay_ms
