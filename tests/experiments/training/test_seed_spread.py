"""Trainings from several seeds: what their spread is measured by, and that it goes on where it stopped."""

import json
from pathlib import Path

import pytest
from ccgym.cli.main import main
from ccgym.experiments.training.seed_spread import SeedSpread

CONFIG = """
name: tiny
features: scale_free
actions: log_window
architecture: mlp
hidden: [8]
emulators: synthetic/5mbps-10ms
validation: synthetic/5mbps-10ms
monitored: synthetic/5mbps-10ms
iterations: 2
environments: 4
episode_steps: 32
sequence_steps: 16
dataset_iterations: 2
batch_sequences: 4
initial_learning_rate: 1.0e-2
final_learning_rate: 1.0e-3
evaluation_interval: 2
evaluation_seconds: 1.0
"""


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))


def test_the_spread_is_measured_by_the_gap_to_the_rival() -> None:
    spread = SeedSpread([1.0, 1.1, 1.2], rival=-1.4, validation=[0.2, 0.5, 0.3])
    assert (spread.deviation, spread.gap) == pytest.approx((0.1, 2.5))
    assert not spread.is_narrow
    assert spread.median_seed == 3, "by validation"
    assert SeedSpread([1.0, 1.1, 1.2], rival=-2.5, validation=[]).is_narrow
    assert not SeedSpread([1.0, 1.0, 1.0], rival=1.1, validation=[]).is_narrow, "all behind the rival"


def test_it_trains_each_seed_once_and_runs_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "tiny.yaml").write_text(CONFIG)
    argv = [
        "reproduce",
        "seed-spread",
        "--config",
        str(tmp_path / "tiny.yaml"),
        "--out",
        str(tmp_path / "runs"),
    ]
    argv += ["--seeds", "2", "--random", "2", "--json"]
    main(argv)
    first = json.loads(capsys.readouterr().out)
    assert len(first["policies"]) == 2
    assert first["policies"][0] != first["policies"][1]
    trained = {file: file.stat().st_mtime_ns for file in (tmp_path / "runs").rglob("*")}
    assert {file.name for file in (tmp_path / "runs").iterdir()} == {"seed-1", "seed-2"}
    main(argv)
    assert json.loads(capsys.readouterr().out) == first
    assert {file: file.stat().st_mtime_ns for file in (tmp_path / "runs").rglob("*")} == trained
    assert main([*argv, "--iterations", "3"]) == 2
    assert "other settings" in capsys.readouterr().err
