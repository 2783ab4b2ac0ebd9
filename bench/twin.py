"""The cost of a packet in the twin: processor time per acknowledged packet."""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import numpy as np
from ccgym.envs import _core
from ccgym.envs.errors import InputError
from ccgym.envs.specs.emulator_spec import EmulatorSpec
from ccgym.envs.specs.link_spec import LinkSpec

from .case import Case, Yardstick, medians_in_turns
from .ns3 import Dumbbell, Ns3

RATES_MBPS = (12.0, 100.0)
SCHEMES = ("fixed:{window}", "reno", "cubic", "copa")
DELAY_MS = 20
PACKETS = 100_000  # in each measurement, about
NS3_NAME = "ns-3, TcpNewReno"
NS3_PACKETS = 20_000
GYM_STEPS = 300
GYM_PATHS = 16


def cases(rounds: int) -> Iterator[Case]:
    """Schemes and the gym's features at two rates, beside ns-3; then many packets in flight, many flows."""
    for rate_mbps in RATES_MBPS:
        yield from _single_flows(rate_mbps, rounds)
    in_flight = {f"{window:,} in flight": _window(window) for window in (1, 10_000)}
    yield from _compared(in_flight, rounds)
    yield from _compared({"1 flow": _flows(1), "100 flows": _flows(100)}, rounds)


def _single_flows(rate_mbps: float, rounds: int) -> Iterator[Case]:
    ours = {f"{scheme.split(':')[0]}": _run(scheme, rate_mbps) for scheme in SCHEMES}
    ours["policy features"] = _gym(rate_mbps)
    with ExitStack() as stack:
        try:
            simulator = stack.enter_context(Ns3())
            theirs = {NS3_NAME: lambda: _ns3_ns_per_packet(simulator, rate_mbps)}
        except InputError as error:
            theirs, missing = {}, str(error)
        medians = medians_in_turns({**ours, **theirs}, rounds)
    yardstick = Yardstick(NS3_NAME, medians.pop(NS3_NAME)) if theirs else Yardstick(missing, None)
    for name, median in medians.items():
        yield Case(f"twin, {name} at {rate_mbps:g} Mbit/s", median, "ns/packet", yardstick=yardstick)


def _ns3_ns_per_packet(simulator: Ns3, rate_mbps: float) -> float:
    dumbbell = Dumbbell(rate_mbps, DELAY_MS, max(10, _bdp_packets(rate_mbps)))
    return 1e9 / simulator.run("TcpNewReno", dumbbell, NS3_PACKETS * 0.012 / rate_mbps, 0.0).packets_per_cpu_s


def _compared(measurements: dict[str, Callable[[], float]], rounds: int) -> Iterator[Case]:
    """The case of the last measurement, with the first as its yardstick."""
    (few, one), (many, other) = medians_in_turns(measurements, rounds).items()
    yield Case(f"twin, {many}", other, "ns/packet", yardstick=Yardstick(few, one))


def _bottleneck(rate_mbps: float) -> _core.Path:
    packets = max(10, _bdp_packets(rate_mbps))
    link = LinkSpec(rate_mbps=rate_mbps, queue="droptail", packets=packets)
    return EmulatorSpec(name="bottleneck", delay_ms=DELAY_MS, uplink=link).to_path()


def _bdp_packets(rate_mbps: float) -> int:
    return round(rate_mbps * 1e3 * 2 * DELAY_MS / 12_000)


def _seconds(rate_mbps: float) -> float:
    return PACKETS * 0.012 / rate_mbps


def _run(scheme: str, rate_mbps: float) -> Callable[[], float]:
    path = _bottleneck(rate_mbps)
    scheme = scheme.format(window=round(1.5 * _bdp_packets(rate_mbps)))
    return lambda: _ns_per_packet(path, [_core.Flow(scheme)], _seconds(rate_mbps))


def _window(packets: int) -> Callable[[], float]:
    """A measurement over a link that is never full, so that only the window limits the rate."""
    path = EmulatorSpec(name="wide", delay_ms=DELAY_MS, uplink=LinkSpec(rate_mbps=5_000)).to_path()
    seconds = PACKETS / packets * 2.2 * DELAY_MS / 1e3
    return lambda: _ns_per_packet(path, [_core.Flow(f"fixed:{packets}")], seconds)


def _flows(count: int) -> Callable[[], float]:
    path = EmulatorSpec(name="shared", delay_ms=DELAY_MS, uplink=LinkSpec(rate_mbps=200.0)).to_path()
    window = 1000 // count
    return lambda: _ns_per_packet(path, [_core.Flow(f"fixed:{window}")] * count, _seconds(200.0))


def _ns_per_packet(path: _core.Path, flows: list[_core.Flow], seconds: float) -> float:
    start_ns = time.process_time_ns()
    runs = _core.simulate(path, flows, seconds=seconds, seed=1, log=False)
    return (time.process_time_ns() - start_ns) / sum(run.delivered_packets for run in runs)


def _gym(rate_mbps: float) -> Callable[[], float]:
    """A measurement of the gym's features, with Python only for the calls; full link, steps of 10 ms."""

    def measure() -> float:
        batch = _core.PathBatch(
            [_bottleneck(rate_mbps)] * GYM_PATHS,
            features="indigo",
            actions="indigo",
            initial_cwnd_packets=1.5 * _bdp_packets(rate_mbps),
        )
        observations = np.zeros((GYM_PATHS, batch.observation_size), dtype=np.float32)
        telemetry = np.zeros((GYM_STEPS, GYM_PATHS, len(_core.TELEMETRY)))
        of_steps = list(telemetry)
        flows = np.arange(GYM_PATHS, dtype=np.int32)
        batch.reset(flows, flows.astype(np.uint64), observations)
        stay = np.full((GYM_PATHS, 1), 2, dtype=np.float32)
        start_ns = time.process_time_ns()
        for of_step in of_steps:
            batch.step(stay, observations, of_step)
        spent_ns = time.process_time_ns() - start_ns
        delivered_bytes = telemetry[:, :, _core.TELEMETRY.index("delivered_bytes")].sum()
        return float(spent_ns / (delivered_bytes / 1464))

    return measure
