"""What a packet costs in the twin: processor time per delivered packet of one flow."""

import time
from collections.abc import Iterator

from ccgym.envs import _core
from ccgym.envs.emulator_spec import EmulatorSpec, LinkSpec

from .case import Case, medians_in_turns

SCHEMES = ("fixed:60", "reno", "copa")
RATES_MBPS = (12.0, 100.0)
DELAY_MS = 20
FLIGHT_S = 20.0


def cases(rounds: int) -> Iterator[Case]:
    """Each scheme at each rate, in turns."""
    flights = {
        f"{scheme} at {rate_mbps:g} Mbit/s": (scheme, _dumbbell(rate_mbps))
        for scheme in SCHEMES
        for rate_mbps in RATES_MBPS
    }
    measurements = {
        name: lambda scheme=scheme, path=path: _ns_per_packet(scheme, path)
        for name, (scheme, path) in flights.items()
    }
    for name, median in medians_in_turns(measurements, rounds).items():
        yield Case(f"twin, {name}", median, "ns/packet")


def _dumbbell(rate_mbps: float) -> _core.Path:
    packets = max(10, round(rate_mbps * 1e3 * 2 * DELAY_MS / 12_000))
    link = LinkSpec(rate_mbps=rate_mbps, queue="droptail", packets=packets)
    return EmulatorSpec(name="dumbbell", delay_ms=DELAY_MS, uplink=link).to_path()


def _ns_per_packet(scheme: str, path: _core.Path) -> float:
    start_ns = time.process_time_ns()
    flight = _core.fly(path, scheme, seconds=FLIGHT_S, seed=1)
    return (time.process_time_ns() - start_ns) / flight.delivered_packets
