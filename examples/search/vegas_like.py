"""A controller after Vegas with three parameters; the search writes them over these."""

from typing import Any

LOW_PACKETS, HIGH_PACKETS, BACKOFF = 2.0, 4.0, 0.5


class VegasLike:
    """Keeps between LOW_PACKETS and HIGH_PACKETS of its own in the queue, as far as its RTTs tell."""

    def __init__(self, packet_bytes: int) -> None:  # noqa: ARG002
        self.cwnd_packets, self.pacing_mbps = 10.0, None
        self.slow_start = True
        self.round_ends_at, self.least_rtt_ms = 0, 0.0

    def on_ack(self, now_ms: float, ack: Any) -> None:  # noqa: ARG002
        """Once a round trip: one packet more, one less, or twice as many."""
        if ack.lost:
            self.cwnd_packets = max(2.0, self.cwnd_packets * BACKOFF)
            self.slow_start = False
        if not ack.acked:
            return
        self.least_rtt_ms = min(self.least_rtt_ms or ack.rtt_ms, ack.rtt_ms)
        if ack.acked[-1].seq < self.round_ends_at:
            return
        queued_packets = self.cwnd_packets * (1 - ack.min_rtt_ms / self.least_rtt_ms)
        self.round_ends_at, self.least_rtt_ms = ack.next_seq, 0.0
        if queued_packets > HIGH_PACKETS:
            self.slow_start = False
            self.cwnd_packets = max(2.0, self.cwnd_packets - 1)
        elif queued_packets < LOW_PACKETS:
            self.cwnd_packets *= 2 if self.slow_start else 1
            self.cwnd_packets += 0 if self.slow_start else 1

    def on_timeout(self, now_ms: float, timeout: Any) -> None:  # noqa: ARG002
        """Begins anew."""
        self.cwnd_packets, self.slow_start = 2.0, True
