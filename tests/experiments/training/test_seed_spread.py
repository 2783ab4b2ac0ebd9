"""Trainings from several seeds: what their spread is measured by, and that it goes on where it stopped."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ccgym.cli.main import main
from ccgym.experiments.training.seed_spread import OwnKind, SeedSpread

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


FAIR = OwnKind(joining=0.96, groups=0.98, unequal=(0.97, 0.91))


def test_the_spread_is_measured_by_the_gap_to_the_rival() -> None:
    spread = SeedSpread([1.0, 1.1, 1.2], rival=-1.4, validation=[], own_kind=[])
    assert (spread.deviation, spread.gap) == pytest.approx((0.1, 2.5))
    assert not spread.is_narrow
    assert SeedSpread([1.0, 1.1, 1.2], rival=-2.5, validation=[], own_kind=[]).is_narrow
    all_behind = SeedSpread([1.0, 1.0, 1.0], rival=1.1, validation=[], own_kind=[])
    assert not all_behind.is_narrow


@pytest.mark.parametrize(
    ("unfair", "held"),
    [
        ({}, 4),
        ({"joining": 0.94}, 3),
        ({"groups": 0.96}, 3),
        ({"unequal": (0.94, 0.91)}, 3),
        ({"unequal": (0.94, 0.89)}, 2),
    ],
)
def test_the_best_alone_of_those_that_share_best_ships(unfair: dict[str, Any], held: int) -> None:
    other = replace(FAIR, **unfair)
    assert other.held == held
    spread = SeedSpread([1.3, 1.1, 1.2], rival=-1.4, validation=[0.2, 0.5, 0.3], own_kind=[FAIR, other, FAIR])
    assert spread.chosen_seed == (3 if unfair else 2), "not by what is unseen"


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
    argv += ["--seeds", "2", "--random", "2", "--shared", "1", "--json"]
    main(argv)
    first = json.loads(capsys.readouterr().out)
    assert len(first["policies"]) == 2
    assert first["policies"][0] != first["policies"][1]
    assert first["own_kind"][0] != first["own_kind"][1]
    assert first["chosen_seed"] in (1, 2)
    trained = {file: file.stat().st_mtime_ns for file in (tmp_path / "runs").rglob("*")}
    assert {file.name for file in (tmp_path / "runs").iterdir()} == {"seed-1", "seed-2"}
    main(argv)
    assert json.loads(capsys.readouterr().out) == first
    assert {file: file.stat().st_mtime_ns for file in (tmp_path / "runs").rglob("*")} == trained
    assert main([*argv, "--iterations", "3"]) == 2
    assert "other settings" in capsys.readouterr().err
