"""Measures the cost of a run in the twin, for docs/scale.md: `.venv/bin/python etc/measure_scale.py`.

Times are processor time of this process, on which other work on the machine has little effect.
"""

import time

import numpy as np
from ccgym.envs import _core
from ccgym.envs.specs.emulator_spec import EmulatorSpec, LinkSpec
from ccgym.envs.specs.emulators import select_emulators
from ccgym.evaluation.schemes import twin_schemes

LINKS, SECONDS = "random:40", 30.0
RATES_MBPS = (1.0, 10.0, 100.0, 1000.0)
FLOWS = (1, 4, 16, 64)


def main() -> None:
    """By scheme, by rate, by the number of flows."""
    links = [emulator.spec for emulator in select_emulators(LINKS)]
    print(f"| scheme | s per run of {SECONDS:g} s, mean of {LINKS} | ns per packet |\n|---|---|---|")
    means = []
    for scheme in twin_schemes():
        costs, packets = zip(*(cost(spec, [scheme.controller]) for spec in links), strict=True)
        means.append(np.mean(costs))
        print(f"| {scheme.label} | {means[-1]:.4f} | {1e9 * sum(costs) / sum(packets):.0f} |", flush=True)
    print(f"| mean of {len(means)} | {np.mean(means):.4f} | |")
    print("\n| Mbit/s | flows | s per run | us per packet |\n|---|---|---|---|")
    for rate in RATES_MBPS:
        show(rate, 1)
    for flows in FLOWS[1:]:
        show(100.0, flows)


def show(rate_mbps: float, flows: int) -> None:
    """Prints a row: Cubic on a link of this rate with an RTT of 40 ms and a queue of 1 BDP."""
    queue = max(10, round(rate_mbps * 1e3 * 40 / 12e3))
    link = LinkSpec(rate_mbps=rate_mbps, queue="droptail", packets=queue)
    spent, packets = cost(EmulatorSpec(name="path", delay_ms=20, uplink=link), ["cubic"] * flows)
    print(f"| {rate_mbps:g} | {flows} | {spent:.4f} | {1e6 * spent / packets:.2f} |", flush=True)


def cost(spec: EmulatorSpec, controllers: list[str]) -> tuple[float, int]:
    """Processor time of a run in s, and the number of packets sent."""
    path, flows = spec.to_path(), [_core.Flow(controller) for controller in controllers]
    begun_s = time.process_time()
    records = _core.simulate(path, flows, seconds=SECONDS, seed=1)
    spent_s = time.process_time() - begun_s
    return spent_s, max(1, sum(record.sent_packets for record in records))


if __name__ == "__main__":
    main()
