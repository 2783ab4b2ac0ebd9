"""Prints the figures of `indigo2` with the core as it is compiled now, for ablation.py.

Usage: ablation_figures.py LINKS SEED. Prints one JSON object: for each column a list of figures, one for each
link or run, in the same order for every build of the core.
"""

import json
import math
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from ccgym.envs.logs.flow_metrics import FlowMetrics
from ccgym.envs.specs.emulators import EmulatorSpec, NamedEmulator, select_emulators
from ccgym.envs.specs.random_emulators import random_emulators
from ccgym.envs.specs.splits import Split
from ccgym.evaluation.schemes import select_native
from ccgym.experiments.acceptance.competition import (
    AHEAD_S,
    LATE_S,
    Rivalry,
    delivered_packets,
    run_contested,
)
from ccgym.experiments.acceptance.completion_times import ShortFlows, ratio_to_rival
from ccgym.experiments.acceptance.contested_links import contested_link
from ccgym.experiments.acceptance.sharing import early_group_case, joining_run, unequal_case
from ccgym.training.rollouts import run_as_drawn, run_measured

ALONE_S = 10.0
STALLING_S = 30.0
EARLY_S = 30.0
CUBIC, COPA = Rivalry("cubic", 1, 0), Rivalry("copa", 1, 0)
RIVALRIES = (
    CUBIC,
    Rivalry("cubic", 1, 0, comes_first=True),
    Rivalry("cubic", 1, 0, late_s=-AHEAD_S),
    Rivalry("bbr", 1, 0),
    Rivalry("cubic", 4, 0),
)
SHORT_FLOWS = {
    "150 kB, alone": ShortFlows(150, beside_long=False),
    "1500 kB, beside cubic": ShortFlows(1500, beside_long=True),
}


def log_power(metrics: FlowMetrics) -> float:
    """ln(throughput in Mbit/s / p95 delay in ms)."""
    return math.log(max(metrics.throughput_mbps, 1e-3) / metrics.p95_delay_ms)


def log_power_alone(scheme: str, emulator: NamedEmulator) -> float:
    """Log power on a host that never stalls."""
    return log_power(run_measured(emulator, scheme, ALONE_S))


def log_power_on_stalling_host(scheme: str, seed: int, spec: EmulatorSpec) -> float:
    """Log power on a host that stalls, like the busy hosts of real runs."""
    return log_power(run_as_drawn(spec.drawn(seed), scheme, STALLING_S, jitter=True, seed=seed))


def share_percent(scheme: str, rivalry: Rivalry, seed: int, number: int) -> float:
    """The scheme's share of all that is delivered, beside rivals, in %."""
    return last_percent(delivered_packets(scheme, rivalry, contested_link(seed, number)))


def early_share_percent(scheme: str, seed: int, number: int) -> float:
    """The same share in the first half minute beside a Cubic, in %."""
    link = contested_link(seed, number)
    return last_percent(delivered_packets(scheme, CUBIC, link, LATE_S + EARLY_S, EARLY_S))


def last_percent(packets: Sequence[int]) -> float:
    """The last flow's share of all packets, in %."""
    return 100 * packets[-1] / max(1, sum(packets))


def figures(links: int, seed: int) -> dict[str, list[float]]:
    """The figures of every column."""
    scheme = select_native("indigo2")
    alone = [NamedEmulator(spec.name, spec) for spec in random_emulators(4 * links, seed, Split.TEST)]
    with ThreadPoolExecutor() as executor:
        columns = {"log power alone": list(executor.map(partial(log_power_alone, scheme), alone))}
        stalling = partial(log_power_on_stalling_host, scheme, seed)
        synthetic = [emulator.spec for emulator in select_emulators("synthetic")]
        columns["log power, host stalls"] = list(executor.map(stalling, synthetic))
        for rivalry in RIVALRIES:
            shares = executor.map(partial(share_percent, scheme, rivalry, seed), range(links))
            columns[f"% beside {rivalry.label}"] = list(shares)
        early = executor.map(partial(early_share_percent, scheme, seed), range(links))
        columns["% beside cubic, first 30 s"] = list(early)
        specs = [contested_link(seed, number) for number in range(links)]
        beside_copa = list(executor.map(partial(run_contested, scheme, COPA), specs))
        columns["% that copa keeps"] = [100 * run.rivals_keep for run in beside_copa]
        columns["% used beside copa"] = [100 * run.used for run in beside_copa]
        for name, case in SHORT_FLOWS.items():
            ratios = executor.map(partial(ratio_to_rival, scheme, case, seed), range(links))
            columns[f"ln time of {name}"] = [math.log(ratio) for ratio in ratios]
        joins = executor.map(partial(joining_run, scheme, seed), range(links))
        columns["Jain, ten that join"] = [jain for jain, _ in joins]
        columns["2 to 16 flows, 30 s"] = list(
            executor.map(partial(early_group_case, scheme, seed), range(links))
        )
        for times in (2, 8):
            jain = executor.map(partial(unequal_case, scheme, seed, times), range(links))
            columns[f"RTT 1:{times}, 120 s"] = list(jain)
    return columns


if __name__ == "__main__":
    print(json.dumps(figures(int(sys.argv[1]), int(sys.argv[2]))))
