"""`ccgym train` and `ccgym oracle` from the command line: what they print, mistakes in one line."""

import json
from pathlib import Path

import pytest
import yaml
from ccgym.cli.main import main

TINY_CONFIG = """
name: tiny
features: indigo
actions: indigo
architecture: lstm
hidden: [8]
iterations: 2
environments: 2
episode_steps: 32
sequence_steps: 16
dataset_iterations: 2
batch_sequences: 4
initial_learning_rate: 1.0e-2
final_learning_rate: 1.0e-3
evaluation_interval: 2
evaluation_seconds: 1.0
validation: synthetic/5mbps-10ms
monitored: synthetic/5mbps-10ms
"""


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.getbasetemp() / "cache"))


@pytest.fixture
def config(tmp_path: Path) -> Path:
    file = tmp_path / "tiny.yaml"
    file.write_text(TINY_CONFIG)
    return file


def train(config: Path, folder: Path, *flags: str) -> int:
    return main(
        [
            "train",
            "--config",
            str(config),
            "--emulators",
            "synthetic/5mbps-10ms",
            "--out",
            str(folder),
            *flags,
        ]
    )


def mistake(capsys: pytest.CaptureFixture[str]) -> str:
    """The one line on stderr."""
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1, lines
    return lines[0]


def test_train_writes_an_exportable_policy_and_says_where(
    config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(config, tmp_path / "run", "--workers", "1") == 0
    policy = tmp_path / "run" / "best" / "policy.safetensors"
    assert policy.exists()
    shown = capsys.readouterr().out
    assert str(policy) in shown
    assert "synthetic (1): " in shown


def test_training_a_finished_run_again_does_nothing(config: Path, tmp_path: Path) -> None:
    assert train(config, tmp_path / "run") == 0
    before = {file: file.stat().st_mtime_ns for file in (tmp_path / "run").rglob("*")}
    assert train(config, tmp_path / "run") == 0
    assert {file: file.stat().st_mtime_ns for file in (tmp_path / "run").rglob("*")} == before


def test_other_settings_in_the_folder_of_a_run_are_refused(
    config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(config, tmp_path / "run") == 0
    assert train(config, tmp_path / "run", "--seed", "9") == 2
    assert "--resume" in mistake(capsys)
    assert train(config, tmp_path / "run", "--seed", "9", "--resume") == 2
    assert "--seed 9" in mistake(capsys)
    assert train(config, tmp_path / "run", "--set", "kick_probability=0.5", "--resume") == 2  # once
    assert "--set kick_probability=0.5: the run in" in mistake(capsys)


def test_a_run_is_not_gone_on_with_by_another_algorithm(
    config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(config, tmp_path / "run") == 0
    assert main(["train", "--config", "aurora", "--out", str(tmp_path / "run"), "--resume"]) == 2
    assert "--config aurora: is of ppo, the run in" in mistake(capsys)


def test_any_setting_can_be_given_by_flag(
    config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = ["--set", "hidden=[4, 4]", "--set", "architecture=mlp", "--set", "expert_iterations=2"]
    assert train(config, tmp_path / "run", *flags, "--set", "curriculum_iterations=2") == 0
    kept = yaml.safe_load((tmp_path / "run" / "config.yaml").read_text())
    assert (kept["architecture"], kept["hidden"]) == ("mlp", [4, 4])
    assert (kept["expert_iterations"], kept["curriculum_iterations"]) == (2, 2)
    assert train(config, tmp_path / "run", "--resume") == 2
    assert "other settings" in mistake(capsys)
    assert train(config, tmp_path / "run", "--set", "hidden=[8]", "--resume") == 2
    assert "--set hidden=[8]: the run in" in mistake(capsys)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("hiden=3", "hiden: unknown key; known: name, emulators"),
        ("hidden=[0]", "hidden.0:"),
        ("environments=1000000000", "environments (1000000000) x episode_steps"),
        ("features=scent", "'scent' is unknown; known are"),
    ],
)
def test_a_bad_setting_is_one_line(
    config: Path, tmp_path: Path, setting: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(config, tmp_path / "run", "--set", setting) == 2
    assert message in mistake(capsys)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("place", [".", "/", "missing.yaml"])
def test_a_calibration_that_is_none_is_one_line(
    config: Path, tmp_path: Path, place: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert train(config, tmp_path / "run", "--from-calibration", place) == 2
    assert ".posterior.yaml" in mistake(capsys)
    assert not (tmp_path / "run").exists()


def test_emulators_beside_a_calibration_may_be_a_setting(
    config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = "emulators: [{name: found, delay_ms: 10, uplink: {rate_mbps: 12}}]"
    (tmp_path / "path.posterior.yaml").write_text(found)
    flags = ["--from-calibration", str(tmp_path / "path.yaml"), "--set", "emulators=nonsense"]
    assert main(["train", "--config", str(config), "--out", str(tmp_path / "run"), *flags]) == 2
    assert "unknown emulator 'nonsense'" in mistake(capsys)


def test_unknown_emulator_is_named_with_the_known_ones(
    config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        main(["train", "--config", str(config), "--emulators", "atlantis", "--out", str(tmp_path / "run")])
        == 2
    )
    message = mistake(capsys)
    assert "'atlantis'" in message
    assert "calibrated" in message
    assert not (tmp_path / "run").exists()


def test_unknown_config_key_is_named(
    config: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config.write_text(TINY_CONFIG + "hiden: 9\n")
    assert train(config, tmp_path / "run") == 2
    assert "hiden: unknown key" in mistake(capsys)


def test_resume_of_a_folder_without_a_run_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["train", "--out", str(tmp_path), "--resume"]) == 2
    assert "no run to resume" in mistake(capsys)


@pytest.mark.parametrize(
    "flags",
    [
        ["--workers", "0"],
        ["--minutes", "-1"],
        ["--minutes", "soon"],
        ["--seed", "x"],
        ["--algo", "magic"],
        ["--set", "hidden"],
        ["--set", "=3"],
        ["--set", "a=["],
    ],
)
def test_bad_flag_is_refused(flags: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(["train", *flags])
    assert exit_.value.code == 2
    assert flags[0] in mistake(capsys)


def test_oracle_prints_the_four_figures_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["oracle", "--rate-mbps", "6", "--delay-ms", "20", "--queue-packets", "60", "--json"]) == 0
    window = json.loads(capsys.readouterr().out)
    assert list(window) == ["cwnd_packets", "bdp_packets", "throughput_mbps", "p95_delay_ms"]
    assert window["bdp_packets"] == pytest.approx(6e6 * 0.040 / (8 * 1464))
    assert window["throughput_mbps"] == pytest.approx(6, rel=0.03)


def test_oracle_takes_an_emulator_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["oracle", "--emulator", "calibrated/nepal", "--json"]) == 0
    assert 3 <= json.loads(capsys.readouterr().out)["cwnd_packets"] <= 7


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--rate-mbps", "6"], "--delay-ms"),
        (["--rate-mbps", "6", "--delay-ms", "20", "--loss", "2"], "loss"),
        (["--rate-mbps", "-6", "--delay-ms", "20"], "rate_mbps"),
        (["--emulator", "calibrated"], "names 6 emulators"),
        (["--emulator", "atlantis"], "'atlantis'"),
        (["--emulator", "calibrated/nepal", "--loss", "0"], "--loss: goes with --rate-mbps"),
        (["--emulator", "calibrated/nepal", "--loss", "0.1"], "--loss: goes with --rate-mbps"),
        (["--emulator", "calibrated/nepal", "--poisson"], "--poisson: goes with --rate-mbps"),
    ],
)
def test_oracle_refuses_bad_input(flags: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["oracle", *flags]) == 2
    assert message in mistake(capsys)
