"""Our schemes beside ns-3's, over the same dumbbells: ours in the twin, in continuous time."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from ccgym.bench.ns3 import Dumbbell, Ns3
from ccgym.configs.arguments import seconds
from ccgym.envs import _core
from ccgym.envs.logs.link_log import TUN_HEADER_BYTES
from ccgym.envs.specs.emulator_spec import LinkSpec
from ccgym.evaluation.metrics.intervals import Interval, ratio_interval
from numpy.typing import NDArray

from .comparison import Bounds, Comparison, print_comparisons

NS3_BOUNDS = Bounds(throughput_share=0.03, delay_share=0.10)
SCHEMES = ("reno", "cubic", "vegas")
REFERENCES = {"reno": "TcpNewReno", "cubic": "TcpCubic", "vegas": "TcpVegas", "dctcp": "TcpDctcp"}
DUMBBELLS = (
    Dumbbell(2, 20, 14),
    Dumbbell(5, 20, 34),
    Dumbbell(12, 20, 42),
    Dumbbell(20, 40, 150),
)
"""Slow enough for the two to four packets that Vegas keeps in the queue to take several ms."""

MARKING_BOUNDS = Bounds(throughput_share=0.05, delay_share=0.05)


def _step(threshold_packets: int) -> dict[str, str | float]:
    return {"queue": "step", "threshold_packets": threshold_packets}


def _red(least: int, most: int, probability: float) -> dict[str, str | float]:
    thresholds = {"min_threshold_packets": least, "max_threshold_packets": most}
    return {"queue": "red", **thresholds, "max_probability": probability, "weight": 0.002}


_CODEL: dict[str, str | float] = {"queue": "codel", "target_ms": 5, "interval_ms": 100}

MARKING_CASES = (
    ("dctcp", Dumbbell(20, 10, 200, _step(20))),
    ("dctcp", Dumbbell(50, 5, 200, _step(30))),
    ("reno", Dumbbell(20, 20, 200, _step(40))),
    ("reno", Dumbbell(10, 20, 200, _red(10, 30, 0.1))),
    ("reno", Dumbbell(20, 20, 200, _red(20, 60, 0.05))),
    ("reno", Dumbbell(20, 20, 200, _CODEL)),
    ("cubic", Dumbbell(50, 40, 500, _step(60))),
    ("cubic", Dumbbell(50, 40, 500, _red(50, 150, 0.02))),
)
"""Cases in which both implementations follow the same law: DCTCP (RFC 8257) on the switches it was made for;
NewReno, which halves its window once a round trip on marks (RFC 3168); Cubic where the cubic function exceeds
the Reno-friendly window. With W packets at the cut and an RTT of R seconds, the Reno-friendly window regains
W after 0.57 W R s, the function after (0.75 W)^(1/3) s: at 50 Mbit/s and 40 ms each way, after 22 s and 7
s."""

INCOMPARABLE_CASES = (
    ("cubic", Dumbbell(10, 20, 200, _red(10, 30, 0.1))),
    ("cubic", Dumbbell(20, 20, 200, _red(20, 60, 0.05))),
)
"""Cases in which the Reno-friendly window (RFC 9438, section 4.3) decides, which ns-3 has from 3.41 on. PIE
is in no list: the twin's changes its probability by mahimahi's steps, ns-3's by those of RFC 8033."""

MARKING_RUNS = 8
"""Runs of each case, because RED marks packets at random: Cubic's queue varies by a tenth between runs."""


@dataclass(frozen=True)
class MarkingComparison(Comparison):
    """A comparison of means over runs, with 95 % intervals of the errors."""

    throughput_interval: Interval | None
    """None: the case has no randomness and runs once."""
    delay_interval: Interval | None

    def remark(self, bounds: Bounds) -> str:
        """The intervals and the remark of a comparison."""
        if self.throughput_interval is None or self.delay_interval is None:
            return f"  one run{super().remark(bounds)}"
        held = (self.throughput_interval, self.delay_interval)
        told = ", ".join(f"{each.low:+.1%} to {each.high:+.1%}" for each in held)
        return f"  {told}{super().remark(bounds)}"


def compare_with_ns3(ns3: Ns3, seconds: float) -> list[Comparison]:
    """Compares every scheme over every dumbbell for `seconds`; the first half is warm-up."""
    rows = []
    for dumbbell in DUMBBELLS:
        for scheme in SCHEMES:
            reference_mbps, reference_ms = _run_ns3(ns3, scheme, dumbbell, seconds, 1)
            mbps, queueing_ms = _run_twin(scheme, dumbbell, seconds, 1)
            label = dumbbell.label
            rows.append(Comparison(label, scheme, mbps, reference_mbps, queueing_ms, reference_ms))
    return rows


def compare_marking(ns3: Ns3, scheme: str, dumbbell: Dumbbell, seconds: float) -> MarkingComparison:
    """Compares means over runs of a flow that responds to marks; the first half of `seconds` is warm-up."""
    runs = range(1, 1 + (MARKING_RUNS if dumbbell.marking.get("queue") == "red" else 1))
    theirs = np.array([_run_ns3(ns3, scheme, dumbbell, seconds, run) for run in runs])
    ours = np.array([_run_twin(scheme, dumbbell, seconds, run) for run in runs])
    reference_mbps, reference_ms = theirs.mean(axis=0).tolist()
    mbps, queueing_ms = ours.mean(axis=0).tolist()
    return MarkingComparison(
        dumbbell.label,
        scheme,
        mbps,
        reference_mbps,
        queueing_ms,
        reference_ms,
        error_interval(ours[:, 0], theirs[:, 0]),
        error_interval(ours[:, 1], theirs[:, 1]),
    )


def error_interval(ours: NDArray[np.float64], theirs: NDArray[np.float64]) -> Interval | None:
    """Interval of the relative difference of our mean from ns-3's; None: there is one run only."""
    ratio = ratio_interval(ours.tolist(), theirs.tolist())
    return None if ratio is None else Interval(ratio.low - 1, ratio.high - 1)


def _run_ns3(ns3: Ns3, scheme: str, dumbbell: Dumbbell, seconds: float, run: int) -> tuple[float, float]:
    figures = ns3.run(REFERENCES[scheme], dumbbell, seconds, seconds / 2, run)
    return figures.throughput_mbps, figures.mean_queueing_ms


def _run_twin(scheme: str, dumbbell: Dumbbell, seconds: float, run: int) -> tuple[float, float]:
    """Mbit/s of IP bytes and mean ms in the link after the warm-up, as ns-3 gives them."""
    warm_up_s = seconds / 2
    uplink = {"rate_mbps": dumbbell.rate_mbps, "packets": dumbbell.queue_packets, "queue": "droptail"}
    ecn = {"ecn": True} if dumbbell.marking.get("queue") in ("red", "codel") else {}
    link = LinkSpec.model_validate({**uplink, **dumbbell.marking, **ecn})
    links = link.to_link(), link.mirrored().to_link()
    record = _core.simulate(
        _core.Path(dumbbell.delay_ms, *links, timing="continuous"), scheme, seconds=seconds, seed=run
    )
    warm = record.departure_ms >= warm_up_s * 1e3
    ip_bytes = np.sum(record.departure_bytes[warm] - TUN_HEADER_BYTES)
    return float(ip_bytes) * 8e-6 / (seconds - warm_up_s), float(np.mean(record.departure_delay_ms[warm]))


DESCRIPTION = (
    "Runs our schemes in the twin, in continuous time, and ns-3's over the same dumbbells; the first "
    "half warms up. Exit code 1: one of ours differs by more than 3 % of throughput or 10 % of mean "
    "queueing delay. Vegas settles at a queue of two to four packets; where in that range is decided "
    "by the end of its slow start. ns-3's LEDBAT is no reference: the bound it sets on its window is the "
    "window itself, so that it never grows after slow start, and without TCP timestamps it runs "
    "NewReno's congestion avoidance. Beside these, flows that answer marks, held to 5 % of both where the "
    "same law decides in both: DCTCP and NewReno, and Cubic where its function is ahead of its Reno-friendly "
    f"window; with RED, which marks by chance, each figure is the mean of {MARKING_RUNS} runs, and its error "
    "has an interval of 95 %. Cubic over RED at 50 Mbit/s is a known miss, likely of "
    "ns-3: in windows beyond some 55 packets a product in its PRR exceeds 32 bits; its sender would fall "
    "silent until its window is reached, and the queue, empty by then, spare it the second cut that RED's "
    "lagging mean brings. With the same cut to 32 bits ours is within 4 % of ns-3's; that ns-3 with 64 bits "
    "is where ours is has not been shown. The last table decides nothing: "
    "Cubic where RFC 9438's Reno-friendly window does (section 4.3), which ns-3 has from 3.41 on (its issue "
    "1001)."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the argument: how long to run."""
    parser.add_argument(
        "--seconds", type=seconds, default=120.0, metavar="S", help="length of a flow (default: 120)"
    )


def run(args: argparse.Namespace) -> int:
    """Runs every scheme over every dumbbell, in both."""
    with Ns3() as ns3:
        plain = compare_with_ns3(ns3, args.seconds)
        marked = [compare_marking(ns3, *case, args.seconds) for case in MARKING_CASES]
        incomparable = [compare_marking(ns3, *case, args.seconds) for case in INCOMPARABLE_CASES]
    heads = {"reference": "ns-3", "delay": "queue ms"}
    tables: dict[str, tuple[Sequence[Comparison], Bounds]] = {
        "the twin": (plain, NS3_BOUNDS),
        "the twin, with marks": (marked, MARKING_BOUNDS),
        "the twin, with marks, where another law decides": (incomparable, MARKING_BOUNDS),
    }
    print_comparisons(tables, heads, as_json=args.json)
    agree = [row.agrees(NS3_BOUNDS) for row in plain] + [row.agrees(MARKING_BOUNDS) for row in marked]
    return 0 if all(agree) else 1
