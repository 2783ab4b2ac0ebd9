"""The ideal fixed window of a link with Poisson opportunities: an expectation over all seeds, in closed form.

Under a window of W packets the path is a closed queueing network: one exponential server of rate mu, and a
delay D that any number of packets spend at once. By its product form the packets within the delay are
Poisson(mu D), cut off at W, and what is left of W waits at the link (Baskett et al., Open, closed, and mixed
networks of queues, JACM 1975). Sums over that distribution are incomplete gamma functions.
"""

import math

import numpy as np
from scipy.special import gammainc, gammaincc, gammaincinv, gammaln

GRID = 96
LEAST_WINDOW = 2.0
TAILS = 6.0
"""With so many standard deviations below the mean the link is certainly idle."""
REACH = 4.0
"""Windows are tried up to this multiple of the packets within the delay, and REACH_PACKETS more."""
REACH_PACKETS = 24
P95 = 0.95


def poisson_window(
    packets_per_ms: float, round_trip_ms: float, queue_packets: float, *, free_ms: float, delay_weight: float
) -> float:
    """The window in packets with the greatest ln(throughput) - delay_weight ln(max(p95 delay, free_ms)).

    Args:
        packets_per_ms: mean rate of the link.
        round_trip_ms: from a packet's departure to its ACK.
        queue_packets: the limit of the queue; infinite for none.
        free_ms: delays, from arrival at the link to arrival at the receiver, that cost nothing.
        delay_weight: weight of the delay beside the throughput.
    """
    within = packets_per_ms * round_trip_ms
    lowest = max(LEAST_WINDOW, within - TAILS * math.sqrt(within))
    highest = max(lowest, min(REACH * within + REACH_PACKETS, within + queue_packets + 1))
    windows = np.exp(np.linspace(math.log(lowest), math.log(highest), GRID))
    probability = np.exp(windows * math.log(within) - within - gammaln(windows + 1))
    idle = probability / gammaincc(windows + 1, within)  # Erlang's loss formula
    throughput = packets_per_ms * (1 - idle)
    all_within = gammainc(windows, within)
    sojourn_ms = (gammaincinv(windows, P95 * (1 - all_within) + all_within) - within) / packets_per_ms
    delay_ms = round_trip_ms / 2 + np.clip(sojourn_ms, 0, queue_packets / packets_per_ms)
    score = np.log(throughput) - delay_weight * np.log(np.maximum(delay_ms, free_ms))
    return float(windows[int(score.argmax())])
