"""`ccgym train --algo` beyond imitation: one command, its own configurations, mistakes in one line."""

import re
from pathlib import Path

import pytest
from ccgym.cli.main import main

TINY_CONFIG = """
algo: ppo
name: tiny
features: aurora
actions: rate
reward: aurora
hidden: [4]
iterations: 2
environments: 2
episode_steps: 16
batch_decisions: 32
epochs: 1
learning_rate: 1.0e-3
evaluation_interval: 2
evaluation_seconds: 1.0
emulators: aurora/4mbps-20ms
validation: synthetic/5mbps-10ms
"""


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    file = tmp_path / "tiny.yaml"
    file.write_text(TINY_CONFIG)
    return str(file)


def test_trains_and_goes_on_without_being_told_the_algorithm(
    config: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = str(tmp_path / "run")
    assert main(["train", "--algo", "ppo", "--config", config, "--out", run, "--minutes", "1e-9"]) == 0
    assert main(["train", "--resume", "--out", run]) == 0
    said = capsys.readouterr().out
    assert "the best policy is " in said
    assert re.search(r"^\d+ iterations in \d+\.\d min on .+, \d+ cores$", said, re.M)
    assert len((tmp_path / "run" / "metrics.jsonl").read_text().splitlines()) == 2


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--algo", "dagger"], "is a configuration of ppo"),
        (["--ray", "127.0.0.1:1"], "--ray 127.0.0.1:1: no cluster there: "),
        (["--init", "nowhere.safetensors"], "init: nowhere.safetensors: cannot be read"),
    ],
)
def test_what_does_not_go_together_is_refused(
    config: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], flags: list[str], said: str
) -> None:
    assert main(["train", "--config", config, "--out", str(tmp_path / "run"), *flags]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line
    assert not (tmp_path / "run").exists()
