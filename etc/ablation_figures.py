"""Prints what `indigo2` reaches with the core that is compiled now, for ablation.py.

Usage: ablation_figures.py LINKS SEED. One JSON object: for each column a list of figures, one for each link
or run, in the same order whatever is compiled.
"""

import json
import math
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from ccgym.envs.specs.emulators import NamedEmulator
from ccgym.envs.specs.random_emulators import random_emulators
from ccgym.envs.specs.splits import Split
from ccgym.evaluation.schemes import select_native
from ccgym.experiments.acceptance.competition import Rivalry, delivered_packets
from ccgym.experiments.acceptance.contested_links import contested_link
from ccgym.experiments.acceptance.sharing import early_group_case, joining_run, unequal_case
from ccgym.training.rollouts import run_measured

ALONE_S = 10.0
RIVALRIES = (Rivalry("cubic", 1, 0), Rivalry("bbr", 1, 0), Rivalry("copa", 1, 0), Rivalry("cubic", 4, 0))


def log_power_alone(scheme: str, emulator: NamedEmulator) -> float:
    """ln(throughput in Mbit/s / p95 delay in ms)."""
    metrics = run_measured(emulator, scheme, ALONE_S)
    return math.log(max(metrics.throughput_mbps, 1e-3) / metrics.p95_delay_ms)


def share_percent(scheme: str, rivalry: Rivalry, seed: int, number: int) -> float:
    """Of all that is delivered beside rivals that were there first."""
    packets = delivered_packets(scheme, rivalry, contested_link(seed, number))
    return 100 * packets[-1] / max(1, sum(packets))


def figures(links: int, seed: int) -> dict[str, list[float]]:
    """Every column's."""
    scheme = select_native("indigo2")
    alone = [NamedEmulator(spec.name, spec) for spec in random_emulators(4 * links, seed, Split.TEST)]
    with ThreadPoolExecutor() as executor:
        columns = {"log power alone": list(executor.map(partial(log_power_alone, scheme), alone))}
        for rivalry in RIVALRIES:
            shares = executor.map(partial(share_percent, scheme, rivalry, seed), range(links))
            columns[f"% beside {rivalry.label}"] = list(shares)
        joins = executor.map(partial(joining_run, scheme, seed), range(links))
        columns["Jain, ten that join"] = [jain for jain, _ in joins]
        columns["2 to 16 flows, 30 s"] = list(
            executor.map(partial(early_group_case, scheme, seed), range(links))
        )
        columns["RTT 1:2, 120 s"] = list(executor.map(partial(unequal_case, scheme, seed, 2), range(links)))
    return columns


if __name__ == "__main__":
    print(json.dumps(figures(int(sys.argv[1]), int(sys.argv[2]))))
