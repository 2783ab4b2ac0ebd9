"""Commands that run many links, on a Ray cluster: their figures are those of this machine, to the bit."""

import json
from pathlib import Path

import numpy as np
import pytest
from ccgym.calibration.candidate import Candidate
from ccgym.calibration.replication import Replicator
from ccgym.calibration.target import Measured, Target
from ccgym.cli.main import main
from ccgym.evaluation.sessions.executors import open_executor

pytest.importorskip("ray.cluster_utils")
AIMD = """class Aimd:
    def __init__(self, packet_bytes):
        self.cwnd_packets, self.pacing_mbps = 10.0, None

    def on_ack(self, now_ms, ack):
        self.cwnd_packets += len(ack.acked) / self.cwnd_packets
        if ack.lost:
            self.cwnd_packets = max(2.0, self.cwnd_packets / 2)
"""


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def printed(argv: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    assert main([*argv, "--json"]) in (0, 1)
    answer: dict[str, object] = json.loads(capsys.readouterr().out)
    return answer


def test_a_dataset_made_on_a_cluster_is_the_same(
    cluster: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = ["dataset", "--schemes", "copa,indigo2", "--emulators", "synthetic/5mbps-10ms,calibrated/nepal"]
    here = printed([*argv, "--out", str(tmp_path / "here")], capsys)
    there = printed([*argv, "--out", str(tmp_path / "there"), "--ray", cluster], capsys)
    assert here["digest"] == there["digest"]


def test_a_scheme_file_scored_on_a_cluster_has_the_same_score(
    cluster: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "aimd.py").write_text(AIMD)
    argv = [
        "score",
        f"python:{tmp_path}/aimd.py:Aimd",
        "--emulators",
        "calibrated/nepal",
    ]
    here, there = printed(argv, capsys), printed([*argv, "--ray", cluster], capsys)
    assert {**here, "seconds": 0} == {**there, "seconds": 0}


def test_an_experiment_run_on_a_cluster_prints_the_same(
    cluster: str, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = ["reproduce", "preference-curve", "--random", "1", "--seeds", "1"]
    assert printed(argv, capsys) == printed([*argv, "--ray", cluster], capsys)


def test_a_calibration_candidate_replicated_on_a_cluster_has_the_same_figures(cluster: str) -> None:
    measured = tuple(Measured(name, name, 4.0, 60.0, None, None, None, 1) for name in ("copa", "cubic"))
    target = Target("path", measured, {}, 5.0)
    candidate = Candidate(5.0, 20, 50, 0.001, "poisson")
    figures = {}
    for address in (None, cluster):
        with open_executor(address) as workers:
            figures[address] = Replicator(target, workers).replicate(candidate, [0, 1])
    np.testing.assert_array_equal(figures[None], figures[cluster])


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["score", "python:json:JSONDecoder"], "is no file: give python:FILE.py:CLASS"),
        (["score", "copa", "--emulators", "file:mine.yaml"], "a file of emulators is of this machine"),
        (["reproduce", "oracle-table"], "--ray 127.0.0.1:1: no cluster there"),
    ],
)
def test_what_cannot_be_sent_to_a_cluster_is_refused_in_one_line(
    argv: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*argv, "--ray", "127.0.0.1:1"]) == 2
    told = capsys.readouterr().err
    assert said in told
    assert told.count("\n") == 1
