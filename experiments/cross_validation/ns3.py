"""Our schemes beside ns-3's, over the same dumbbells: ours in the twin, in continuous time."""

import argparse
from collections.abc import Sequence

import numpy as np
from ccgym.bench.ns3 import Dumbbell, Ns3
from ccgym.configs.arguments import seconds
from ccgym.envs import _core
from ccgym.envs.logs.link_log import TUN_HEADER_BYTES
from ccgym.envs.specs.emulator_spec import LinkSpec

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
"""Slow enough for a queue of Vegas's two to four packets to last for ms."""

MARKING_BOUNDS = Bounds(throughput_share=0.05, delay_share=0.05)


def _red(least: int, most: int, probability: float) -> dict[str, str | float]:
    thresholds = {"min_threshold_packets": least, "max_threshold_packets": most}
    return {"queue": "red", **thresholds, "max_probability": probability, "weight": 0.002}


MARKING_CASES = (
    ("dctcp", Dumbbell(20, 10, 200, {"queue": "step", "threshold_packets": 20})),
    ("dctcp", Dumbbell(50, 5, 200, {"queue": "step", "threshold_packets": 30})),
    ("reno", Dumbbell(10, 20, 200, _red(10, 30, 0.1))),
    ("reno", Dumbbell(20, 20, 200, _red(20, 60, 0.05))),
    ("cubic", Dumbbell(10, 20, 200, _red(10, 30, 0.1))),
    ("cubic", Dumbbell(20, 20, 200, _red(20, 60, 0.05))),
)
"""DCTCP on the switches it was made for; what is older on RED."""

MARKING_RUNS = 8
"""Whom RED marks is chance: one run of Cubic differs by a tenth of the queue from the next."""


def compare_with_ns3(seconds: float) -> list[Comparison]:
    """Every scheme over every dumbbell for `seconds`, of which the first half warms up."""
    return _compare([(scheme, dumbbell) for dumbbell in DUMBBELLS for scheme in SCHEMES], seconds)


def compare_marking_with_ns3(seconds: float) -> list[Comparison]:
    """The flows that answer marks, each for `seconds`, of which the first half warms up; means of runs."""
    return _compare(MARKING_CASES, seconds)


def _compare(cases: Sequence[tuple[str, Dumbbell]], seconds: float) -> list[Comparison]:
    rows = []
    with Ns3() as ns3:
        for scheme, dumbbell in cases:
            runs = range(1, 1 + (MARKING_RUNS if dumbbell.marking.get("queue") == "red" else 1))
            theirs = [_run_ns3(ns3, scheme, dumbbell, seconds, run) for run in runs]
            ours = [_run_twin(scheme, dumbbell, seconds, run) for run in runs]
            reference_mbps, reference_ms = np.mean(theirs, axis=0).tolist()
            mbps, queueing_ms = np.mean(ours, axis=0).tolist()
            rows.append(Comparison(dumbbell.label, scheme, mbps, reference_mbps, queueing_ms, reference_ms))
    return rows


def _run_ns3(ns3: Ns3, scheme: str, dumbbell: Dumbbell, seconds: float, run: int) -> tuple[float, float]:
    figures = ns3.run(REFERENCES[scheme], dumbbell, seconds, seconds / 2, run)
    return figures.throughput_mbps, figures.mean_queueing_ms


def _run_twin(scheme: str, dumbbell: Dumbbell, seconds: float, run: int) -> tuple[float, float]:
    """Mbit/s of IP bytes and the mean ms in the link after the warm-up, as of ns-3."""
    warm_up_s = seconds / 2
    uplink = {"rate_mbps": dumbbell.rate_mbps, "packets": dumbbell.queue_packets, "queue": "droptail"}
    ecn = {"ecn": True} if dumbbell.marking.get("queue") == "red" else {}
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
    "NewReno's congestion avoidance. Beside these, flows that answer marks: DCTCP where a queue marks by a "
    "step, NewReno and Cubic where RED marks, held to 5 % of both; with RED each figure is the mean of "
    f"{MARKING_RUNS} runs. Cubic at 10 Mbit/s is a known miss of the queue, by a third: there RFC 9438's "
    "Reno-friendly window decides (section 4.3), which ns-3 has from 3.41 on (its issue 1001)."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """How long to run."""
    parser.add_argument(
        "--seconds", type=seconds, default=120.0, metavar="S", help="of a flow (default: 120)"
    )


def run(args: argparse.Namespace) -> int:
    """Runs every scheme over every dumbbell, in both."""
    rows, marked = compare_with_ns3(args.seconds), compare_marking_with_ns3(args.seconds)
    heads = {"reference": "ns-3", "delay": "queue ms"}
    tables = {"the twin": (rows, NS3_BOUNDS), "the twin, with marks": (marked, MARKING_BOUNDS)}
    print_comparisons(tables, heads, as_json=args.json)
    return 0 if all(row.agrees(bounds) for rows, bounds in tables.values() for row in rows) else 1
