"""The examples that train, a little of each: they run to their end and say a figure."""

import subprocess
import sys
from pathlib import Path

import pytest
from ccgym.cli.main import main

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.mark.parametrize(
    ("name", "arguments", "left"),
    [
        ("random_agent", [], []),
        ("twelve_links", [], []),
        ("sb3_ppo", ["--iterations", "1"], ["ppo.zip"]),
        ("sb3_sac", ["--steps", "25"], ["sac.zip"]),
        ("cleanrl_ppo", ["--iterations", "1"], []),
        ("torchrl_ppo", ["--iterations", "1"], []),
        ("rllib_ppo", ["--iterations", "1"], []),
        ("dagger_in_pytorch", ["--iterations", "1"], []),
    ],
)
def test_an_example_runs_to_its_end(name: str, arguments: list[str], left: list[str], tmp_path: Path) -> None:
    script = EXAMPLES / f"{name}.py"
    argv = [sys.executable, str(script), *arguments]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, timeout=280, check=True)
    assert -12 < float(done.stdout.splitlines()[-1].removeprefix("mean log power ")) < 2
    assert len(script.read_text().splitlines()) <= 100
    assert sorted(path.name for path in tmp_path.iterdir()) == left


@pytest.mark.parametrize("name", ["behaviour_cloning", "iql"])
def test_an_offline_example_learns_from_a_dataset(name: str, tmp_path: Path) -> None:
    argv = [
        "dataset",
        "--schemes",
        "copa,cubic",
        "--emulators",
        "random:train:2",
        "--out",
        str(tmp_path / "data"),
    ]
    assert main(argv) == 0
    script = EXAMPLES / "offline" / f"{name}.py"
    argv = [sys.executable, str(script), str(tmp_path / "data"), "--steps", "20"]
    done = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, timeout=280, check=True)
    assert -12 < float(done.stdout.splitlines()[-1].removeprefix("mean log power ")) < 2
    assert len(script.read_text().splitlines()) <= 100
