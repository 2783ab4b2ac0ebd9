"""ccperf's replay-rate-trace experiment 79: NewReno with PRR over a Poisson link, all metrics of its page.

The link has 0.57 Mbit/s with Poisson arrivals, an RTT of 56 ms, a queue of 14 packets and 4.77 % loss, for 15
s; ACKs take a fast path back. The published run is a single one of ns-3. Ours are many draws in the twin and,
if it is installed, in ns-3: metrics that differ in the twin only do so because of its transport, which
retransmits nothing.
"""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from ccgym.bench.ns3 import Ns3Replay
from ccgym.envs import _core
from ccgym.envs.errors import InputError, excerpt
from ccgym.envs.specs.emulator_spec import EmulatorSpec, LinkSpec
from ccgym.envs.specs.emulators import NamedEmulator
from ccgym.envs.specs.link_spec import DATA_IP_BYTES
from ccgym.envs.specs.schedules import opportunities_through
from ccgym.evaluation.metrics.endpoint_metrics import EndpointMetrics, endpoint_metrics
from ccgym.evaluation.schemes import IN_TWIN, Scheme, select_schemes
from ccgym.experiments.cross_validation.ns3 import REFERENCES
from matplotlib.figure import Figure

from .command import add_backend_argument, add_common_arguments, description_of, run_reproduction
from .reproduction import Line, Reproduction, ReproductionOptions, evaluate, mean_text

TITLE, DOCUMENT = "ccperf: replay rate trace, experiment 79", "document 003"
SECONDS, DELAY_MS = 15.0, 28
RUNS, QUICK_RUNS = 60, 20
SCHEME = "reno"
MARGIN = 0.15
SPREAD = (2.5, 97.5)
TOLERANCE = f"theirs within 95 % of our draws, or {100 * MARGIN:.0f} %"
NO_APPLICATION = "our sender has no buffer of an application in front of it"

_PAGE: dict[str, tuple[float, str | None, str]] = {
    "cov_in_flight_l4": (0.55, "cov_in_flight", ""),
    "cov_throughput_l4": (0.70, "cov_throughput", "bins of 100 ms; the page does not say its own"),
    "flow_completion_time_l4 (s)": (14.93, "completion_s", ""),
    "mean_cwnd_l4 (packets)": (6.46, "mean_cwnd_packets", ""),
    "mean_delivery_rate_l4 (Mbit/s)": (0.41, "mean_delivery_rate_mbps", ""),
    "mean_est_qdelay_l4 (ms)": (87.63, "mean_queueing_delay_ms", "ns-3 here has 64 ms, on the same draws"),
    "mean_idt_ewma_l4 (ms)": (25.81, "mean_interdelivery_ms", ""),
    "mean_in_flight_l4 (packets)": (6.10, "mean_in_flight_packets", ""),
    "mean_network_power_l4 (Mbit/s per s)": (3.12, "network_power", "a mean of ratios: depends on the bins"),
    "mean_one_way_delay_l7 (ms)": (7346.27, None, NO_APPLICATION),
    "mean_recovery_time_l4 (ms)": (360.92, "mean_recovery_ms", "the page does not define it"),
    "mean_sending_rate_l4 (Mbit/s)": (0.44, "mean_sending_rate_mbps", ""),
    "mean_sending_rate_l7 (Mbit/s)": (2.55, None, NO_APPLICATION),
    "mean_srtt_l4 (ms)": (143.63, "mean_srtt_ms", ""),
    "mean_throughput_l4 (Mbit/s)": (0.41, "mean_throughput_mbps", ""),
    "mean_throughput_l7 (Mbit/s)": (0.41, "mean_throughput_mbps", ""),
    "mean_utility_mpdf_l4": (-2.73, "utility_minimum_delay", "mean of -1 / x: depends on the bins"),
    "mean_utility_pf_l4": (-0.86, "utility_proportional", ""),
    "mean_utilization_bdp_l4": (float("inf"), None, "theirs has no rate to divide by"),
    "mean_utilization_bw_l4": (float("inf"), None, "theirs has no rate to divide by"),
    "total_retransmissions_l4": (25, "given_up_packets", "ours gives up, and never repeats"),
    "total_rtos_l4": (2, "timeouts", "theirs follow lost retransmissions; ours repeats nothing"),
}
"""By the published name: its figure, our metric for it, and what differs."""
_OF_TRANSPORT = {"total_retransmissions_l4", "total_rtos_l4"}
"""Metrics in which the twin differs because of its transport; ns-3 does not differ in them."""
_UNDEFINED = {"mean_recovery_time_l4 (ms)", "mean_utility_mpdf_l4"}


def reproduce(options: ReproductionOptions) -> Reproduction:
    """Runs the draws and compares every metric of the page with them."""
    scheme = options.scheme or SCHEME
    controller = _scheme_of_twin(scheme).controller
    spec = _spec(options)
    runs = QUICK_RUNS if options.quick else RUNS
    drawn = [spec.drawn(options.seed + run, begins=True) for run in range(runs)]
    records = [
        _core.simulate(each.to_path(), controller, seconds=SECONDS, seed=options.seed + run)
        for run, each in enumerate(drawn)
    ]
    metrics = _metrics(records, scheme, options.trace)
    theirs_replayed = options.trace is None and scheme == SCHEME
    lines = [_line(name, *published, metrics, checked=theirs_replayed) for name, published in _PAGE.items()]
    notes = [f"ours: {runs} draws of {scheme} in the twin, mean with its 95 % interval"]
    try:
        lines += _ns3_lines(scheme, drawn, options.trace, checked=theirs_replayed)
        notes.append("in ns-3 here: the same draws; it repeats what is lost, as theirs did")
    except InputError as error:
        notes.append(f"in ns-3 here: not run: {error}")
    if options.backend == "mahimahi":
        lines.append(_line_of_real_mahimahi(options, scheme, spec))
    return Reproduction(TITLE, DOCUMENT, lines, {"replay-rate-trace": _figure(records[0])}, notes)


def _scheme_of_twin(name: str) -> Scheme:
    """Raises InputError: the twin has no such scheme, or there are several."""
    scheme, *others = select_schemes(name)
    if others:
        raise InputError(f"--scheme {excerpt(name)}: the experiment runs one scheme: name a single one")
    if scheme.kind not in IN_TWIN:
        raise InputError(
            f"--scheme {scheme.label}: the experiment runs in the twin, which has no such scheme"
        )
    return scheme


def _line_of_real_mahimahi(options: ReproductionOptions, scheme: str, spec: EmulatorSpec) -> Line:
    emulators = [NamedEmulator("published/nepal", spec)]
    evaluation = evaluate(options, "replay", emulators, options.kernels([scheme]), 3, SECONDS)
    throughputs_mbps = [run.total.throughput_mbps for run in evaluation.scenarios[0].runs]
    name = "mean_throughput_l4 (Mbit/s)"
    return Line(
        f"{name}, in real mahimahi here",
        f"{_PAGE[name][0]:g}",
        mean_text(throughputs_mbps),
        why="the kernel's TCP, which repeats what is lost sooner than theirs",
    )


def _metrics(records: Sequence[Any], scheme: str, trace: Path | None) -> list[EndpointMetrics]:
    """The metrics of every draw.

    Raises:
        InputError: a draw has nothing to measure, because its trace lets hardly a packet through.
    """
    try:
        return [endpoint_metrics(record, DELAY_MS, SECONDS) for record in records]
    except ValueError as error:
        where = f"--trace {excerpt(trace)}" if trace else f"--scheme {excerpt(scheme)}"
        raise InputError(f"{where}: {error} in {SECONDS:g} s: choose another") from None


def _ns3_lines(
    scheme: str, drawn: Sequence[EmulatorSpec], trace: Path | None, *, checked: bool
) -> list[Line]:
    """The lines of ns-3 over the same draws.

    Raises:
        InputError: ns-3 is not installed, has no such scheme, or delivered nothing.
    """
    if scheme not in REFERENCES:
        raise InputError(f"ns-3 has no {scheme}")
    with Ns3Replay() as ns3:
        records = [
            ns3.run(
                REFERENCES[scheme],
                each,
                opportunities_through(each.uplink.schedule(), 1000 * SECONDS),
                SECONDS,
                run,
            )
            for run, each in enumerate(drawn, 1)
        ]
    metrics = [
        replace(each, timeouts=record.timeouts)
        for each, record in zip(_metrics(records, scheme, trace), records, strict=True)
    ]
    return [
        replace(
            _line(name, theirs, ours, "" if name in _OF_TRANSPORT else why, metrics, checked=checked),
            what=f"{name}, in ns-3 here",
        )
        for name, (theirs, ours, why) in _PAGE.items()
        if ours is not None
    ]


def _spec(options: ReproductionOptions) -> EmulatorSpec:
    timing = {"trace": str(options.trace)} if options.trace else {"rate_mbps": 0.57}
    arrivals = {} if options.trace else {"arrivals": "poisson"}
    uplink = LinkSpec.model_validate(
        {**timing, **arrivals, "loss": 0.0477, "queue": "droptail", "packets": 14}
    )
    return EmulatorSpec(name="nepal", delay_ms=DELAY_MS, uplink=uplink, downlink=LinkSpec(rate_mbps=1000.0))


def _line(
    name: str, theirs: float, ours: str | None, why: str, metrics: list[EndpointMetrics], *, checked: bool
) -> Line:
    if ours is None:
        return Line(name, f"{theirs:g}", "-", why=why)
    values = np.array([getattr(each, ours) for each in metrics])
    values = values[~np.isnan(values)]
    text = mean_text(values.tolist())
    if not checked or name in _UNDEFINED:
        return Line(name, f"{theirs:g}", text, why=why)
    low, high = np.percentile(values, SPREAD)
    near = abs(values.mean() / theirs - 1) <= MARGIN
    return Line(name, f"{theirs:g}", text, TOLERANCE, bool(near or low <= theirs <= high), why)


def _figure(record: "_core.FlowRecord") -> Figure:
    """A plot of the operating point over time: window, and rate of receipt."""
    figure = Figure(figsize=(8, 4), layout="constrained")
    window, rate = figure.subplots(2, sharex=True)
    window.plot(record.cwnd_ms / 1000, record.cwnd_packets, color="#0077bb")
    window.set_ylabel("window (packets)")
    received_ms = record.received_ms[~np.isnan(record.received_ms)]
    counts, edges_ms = np.histogram(received_ms, np.arange(0, SECONDS * 1000 + 1, 500))
    rate.stairs(counts * DATA_IP_BYTES * 8 / 500e3, edges_ms / 1000, color="#d55e00")
    rate.set_ylabel("Mbit/s")
    rate.set_xlabel("time (s)")
    return figure


DESCRIPTION = description_of("replay-rate-trace")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What can be chosen."""
    add_common_arguments(parser, "reproductions/replay-rate-trace")
    add_backend_argument(parser)
    parser.add_argument("--trace", type=Path, metavar="FILE", help="another trace of mahimahi's format")
    parser.add_argument("--scheme", metavar="NAME", help="another scheme of the twin (default: reno)")


run = partial(run_reproduction, reproduce)
