"""What Pantheon's own analysis reads of a data directory of ours: by its rules, not by our code.

Those of its tunnel_graph.py and plot.py at 23e738c: the metadata's keys, the names of the files, lines that
begin with `#` skipped, an event a line, figures over the events as they stand.
"""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ccgym.cli.main import main
from ccgym.evaluation.metrics.results import load_evaluation

SECONDS = 4


@pytest.fixture(scope="module")
def evaluation(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pantheon") / "evaluation"
    argv = ["eval", "--schemes", "copa,cubic", "--emulators", "field", "--runs", "2", "--flows", "2"]
    assert main([*argv, "--interval", "1", "--seconds", str(SECONDS), "--out", str(folder)]) == 0
    return folder


@pytest.fixture(scope="module")
def data(evaluation: Path) -> Path:
    return evaluation / "data" / "field" / "12mbps-30ms-90kb"


def events(log: Path) -> dict[str, dict[int, Any]]:
    """By kind and flow: columns of time in ms, bits, and of `-` the delay in ms."""
    found: dict[str, dict[int, list[list[float]]]] = {kind: defaultdict(list) for kind in "#+-"}
    for line in log.read_text().splitlines():
        if line.startswith("#"):
            continue
        ms, kind, size, *rest = line.split()
        flow = int(rest[-1]) if rest else 0
        found[kind][flow].append([float(ms), 8 * int(size), *map(float, rest[:-1])])
    return {kind: {flow: np.array(rows).T for flow, rows in of.items()} for kind, of in found.items()}


def mbps(columns: Any) -> float:
    return float(columns[1].sum() / (1000 * (columns[0].max() - columns[0][0])))


def loss(sent: Any, received: Any) -> float:
    return float(1 - received[1].sum() / sent[1].sum())


def test_the_metadata_say_what_its_analysis_asks(data: Path) -> None:
    metadata = json.loads((data / "pantheon_metadata.json").read_text())
    assert metadata["cc_schemes"] == ["copa", "cubic"]
    wanted = {"mode": "local", "flows": 2, "run_times": 2, "start_run_id": 1}
    assert wanted.items() <= metadata.items()
    assert [json.dumps(metadata[name]) for name in ("runtime", "interval")] == [str(SECONDS), "1"]
    assert all(isinstance(metadata[name], str) for name in ("uplink_trace", "downlink_trace", "git_summary"))


def test_every_run_has_the_files_its_analysis_looks_for(data: Path) -> None:
    for scheme in ("copa", "cubic"):
        for run in (1, 2):
            with (data / f"{scheme}_datalink_run{run}.log").open() as log:
                name, value = log.readline().split(": ")
            assert name == "# init timestamp"
            assert float(value) > 1e12, "ms since 1970"
            head = (data / f"{scheme}_stats_run{run}.log").read_text().splitlines()[:2]
            assert [line.split(": ")[0] for line in head] == ["Start at", "End at"]


def test_its_rules_give_the_figures_of_our_report(data: Path, evaluation: Path) -> None:
    (scenario,) = load_evaluation(evaluation).scenarios
    assert len(scenario.flows) == 8
    for flow in scenario.flows:
        found = events(data / f"{flow.scheme}_datalink_run{flow.run}.log")
        sent, received = found["+"][flow.flow], found["-"][flow.flow]
        assert flow.metrics.pantheon_throughput_mbps == pytest.approx(mbps(received), abs=1e-3)
        p95_ms = np.percentile(received[2], 95, method="nearest")
        assert flow.metrics.pantheon_p95_delay_ms == pytest.approx(p95_ms, abs=1e-3)
        assert flow.metrics.pantheon_loss == pytest.approx(loss(sent, received), abs=1e-6)


def test_its_page_of_statistics_is_ours(data: Path) -> None:
    found = events(data / "cubic_datalink_run1.log")
    lines = (data / "cubic_stats_run1.log").read_text().splitlines()
    everything = np.concatenate(list(found["-"].values()), axis=1)
    everything = everything[:, np.argsort(everything[0], kind="stable")]
    capacity = mbps(found["#"][0])
    assert f"Average capacity: {capacity:.2f} Mbit/s" in lines
    share = 100 * mbps(everything) / capacity
    assert f"Average throughput: {mbps(everything):.2f} Mbit/s ({share:.1f}% utilization)" in lines
    for flow in (1, 2):
        at = lines.index(f"-- Flow {flow}:")
        sent, received = found["+"][flow], found["-"][flow]
        p95_ms = np.percentile(received[2], 95, method="nearest")
        assert lines[at + 1 : at + 4] == [
            f"Average throughput: {mbps(received):.2f} Mbit/s",
            f"95th percentile per-packet one-way delay: {p95_ms:.3f} ms",
            f"Loss rate: {100 * loss(sent, received):.2f}%",
        ]
