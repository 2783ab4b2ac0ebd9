"""Queues that mark, and flows that speak ECN or do not."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ccgym.envs import _core
from ccgym.envs.errors import InputError
from ccgym.envs.logs.controller_metrics import metrics_table, write_metrics
from ccgym.envs.mahimahi.shells import shell_command
from ccgym.envs.specs.emulator_spec import EmulatorSpec
from ccgym.envs.specs.link_spec import LinkSpec
from ccgym.envs.specs.traffic_spec import CrossTraffic

CODEL = {"queue": "codel", "target_ms": 5, "interval_ms": 100}
PIE = {"queue": "pie", "qdelay_ref_ms": 15, "max_burst_ms": 100}
RED = {"queue": "red", "min_threshold_packets": 10, "max_threshold_packets": 30}
STEP: dict[str, Any] = {"queue": "step", "threshold_packets": 20}


def emulator(**queue: Any) -> EmulatorSpec:
    uplink = {"rate_mbps": 20.0, "packets": 200, "queue": "droptail", **queue}
    return EmulatorSpec.model_validate({"name": "marks", "delay_ms": 10, "uplink": uplink})


def run(scheme: str, seconds: float = 20, **queue: Any) -> _core.FlowRecord:
    return _core.simulate(emulator(**queue).to_path(), scheme, seconds=seconds, seed=1)


@pytest.mark.parametrize("queue", [CODEL, PIE, RED], ids=lambda queue: str(queue["queue"]))
@pytest.mark.parametrize("scheme", ["cubic", "reno", "dctcp", "bbr3"])
def test_marks_take_the_place_of_drops_and_are_answered(scheme: str, queue: dict[str, Any]) -> None:
    plain, marking = run(scheme, **queue), run(scheme, **queue, ecn=True)
    assert plain.marked_packets == 0
    assert marking.marked_packets > 0 or plain.lost_packets == 0
    assert marking.lost_packets <= plain.lost_packets
    assert marking.delivered_packets > 0.75 * marking.opportunities
    warm = marking.departure_ms > 5000
    assert np.mean(marking.departure_delay_ms[warm]) < 25


@pytest.mark.parametrize("queue", [CODEL, PIE, RED], ids=lambda queue: str(queue["queue"]))
@pytest.mark.parametrize("scheme", ["copa", "vegas", "fixed:120", "bbr"])
def test_a_scheme_without_ecn_runs_the_same_on_a_marking_queue(scheme: str, queue: dict[str, Any]) -> None:
    plain, marking = run(scheme, 5, **queue), run(scheme, 5, **queue, ecn=True)
    assert np.array_equal(plain.departure_ms, marking.departure_ms)
    assert (plain.lost_packets, marking.marked_packets) == (marking.lost_packets, 0)


def test_a_step_drops_what_it_may_not_mark() -> None:
    assert run("fixed:120", 5, **STEP).lost_packets > 100
    dctcp = run("dctcp", **STEP)
    assert dctcp.marked_packets > 100
    assert dctcp.lost_packets == 0


def test_a_mark_is_told_though_its_own_ack_is_lost() -> None:
    """A receiver counts what came marked (RFC 9000's ECN counts): the next ACK that arrives tells it."""
    crowd = CrossTraffic(kind="constant", rate_mbps=25.0)
    changes = {"downlink": LinkSpec(rate_mbps=20.0, loss=0.3), "cross_traffic": (crowd,)}
    spec = emulator(**STEP).model_copy(update=changes)
    record = _core.simulate(spec.to_path(), "dctcp", seconds=20, seed=1)
    received = record.departure_ms.size
    assert record.delivered_packets < 0.75 * received
    assert record.marked_packets > 0.8 * received


def test_dctcp_keeps_the_queue_at_the_threshold() -> None:
    """RFC 8257's aim: a queue about the threshold, of 12 ms here, and a link that is always busy."""
    record = run("dctcp", **STEP)
    warm = record.departure_ms > 10_000
    delays_ms = record.departure_delay_ms[warm]
    assert 8 < np.mean(delays_ms) < 14
    assert np.percentile(delays_ms, 95) - np.percentile(delays_ms, 5) < 8
    assert np.sum(warm) > 0.99 * 20e6 * 10 / (1464 * 8)


def test_on_one_queue_only_flows_with_ecn_are_marked() -> None:
    flows = [_core.Flow("cubic"), _core.Flow("vegas"), _core.Flow("fixed:60")]
    cubic, vegas, fixed = _core.simulate(emulator(**RED, ecn=True).to_path(), flows, seconds=20, seed=1)
    assert cubic.marked_packets > 0
    assert fixed.lost_packets > 0
    assert vegas.marked_packets == fixed.marked_packets == 0


def test_a_python_controller_speaks_ecn_when_it_says_so(tmp_path: Path) -> None:
    source = """class Counts:
    wants_ecn = True
    def __init__(self, packet_bytes):
        self.cwnd_packets, self.pacing_mbps, self.marks = 120.0, None, 0
    def on_ack(self, now_ms, ack):
        self.marks += ack.ce_packets
    def metrics(self):
        return {("marks", "packets"): self.marks, "window": self.cwnd_packets}
"""
    (tmp_path / "counts.py").write_text(source)
    record = run(f"python:{tmp_path}/counts.py:Counts", 5, **STEP)
    unit, marks = record.metrics["marks"]
    assert unit == "packets"
    assert record.marked_packets - 200 < marks[-1] <= record.marked_packets
    (tmp_path / "counts.py").write_text(source.replace("True", "False"))
    assert run(f"python:{tmp_path}/counts.py:Counts", 5, **STEP).marked_packets == 0


@pytest.mark.parametrize(
    ("source", "wrong"),
    [
        ("wants_ecn = 1", "wants_ecn is no bool"),
        ("holds_back = 1", "holds_back is no bool"),
        ("metrics = lambda self: 3", "metrics returns no dict"),
        ("metrics = lambda self: {3: 4}", "metrics"),
        ("metrics = lambda self: {'a': 'b'}", "metrics raised TypeError"),
        ("metrics = lambda self: {str(i): 1 for i in range(int(self.cwnd_packets))}", "other metrics before"),
    ],
)
def test_what_a_python_controller_says_wrong_is_told(tmp_path: Path, source: str, wrong: str) -> None:
    text = f"""class Wrong:
    {source}
    def __init__(self, packet_bytes):
        self.cwnd_packets, self.pacing_mbps = 10.0, None
    def on_ack(self, now_ms, ack):
        self.cwnd_packets += 1
"""
    (tmp_path / "wrong.py").write_text(text)
    with pytest.raises(RuntimeError, match=wrong):
        run(f"python:{tmp_path}/wrong.py:Wrong", 1)


def test_what_controllers_publish_is_written_as_a_table(tmp_path: Path) -> None:
    record = run("dctcp", 2, **STEP)
    heads, rows = metrics_table(record)
    assert heads == ["time_ms", "cwnd_packets", "ssthresh [packets]", "recovery", "alpha"]
    assert rows.shape == (len(record.cwnd_ms), 5)
    write_metrics(record, tmp_path / "metrics.tsv")
    lines = (tmp_path / "metrics.tsv").read_text().splitlines()
    assert lines[0].split("\t") == heads
    assert float(lines[-1].split("\t")[4]) == pytest.approx(rows[-1, 4])
    assert not _core.simulate(emulator().to_path(), "bbr3", seconds=1, seed=1, log=False).metrics


@pytest.mark.parametrize("queue", [{**CODEL, "ecn": True}, RED, STEP], ids=lambda queue: str(queue["queue"]))
def test_mahimahi_has_no_such_queue(queue: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"mahimahi's shells have no .*run it in the twin"):
        shell_command(emulator(**queue))
