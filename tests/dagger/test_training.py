"""Training as a whole: it learns, it repeats itself, it goes on where it stopped."""

import json
import math
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import yaml
from ccgym.dagger.evaluation import criterion_of
from ccgym.dagger.train import train
from ccgym.envs.errors import InputError
from ccgym.tests.processes import CCGYM, wait_until
from ccgym.tests.training.conftest import tiny_config_in
from ccgym.tests.weights import Weights, assert_same_weights
from ccgym.training.config import TrainingConfig, load_config, save_config
from ccgym.training.runs.run_directory import RunDirectory
from safetensors.torch import load_file
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.plugins.hparams.plugin_data_pb2 import HParamsPluginData

TinyConfig = Callable[..., TrainingConfig]


def train_in(
    folder: Path, config: TrainingConfig, *, resume: bool = False, workers: int = 1, minutes: float = math.inf
) -> None:
    train(config, RunDirectory(folder, TrainingConfig), resume=resume, workers=workers, minutes=minutes)


def weights(folder: Path) -> Weights:
    return RunDirectory(folder, TrainingConfig).load().policy


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[TrainingConfig, Path]:
    """A run that several tests look at, and change only copies of."""
    folder = tmp_path_factory.mktemp("finished")
    config = tiny_config_in(folder)()
    train_in(folder / "run", config)
    return config, folder / "run"


@pytest.fixture(scope="module")
def unhurt(tmp_path_factory: pytest.TempPathFactory) -> tuple[TrainingConfig, Weights]:
    """A longer run that nothing befell."""
    folder = tmp_path_factory.mktemp("unhurt")
    config = tiny_config_in(folder)(iterations=12, environments=16)
    train_in(folder / "run", config)
    return config, weights(folder / "run")


def metrics(folder: Path) -> list[dict[str, float]]:
    return [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]


def shown(folder: Path, name: str) -> dict[int, float]:
    """What TensorBoard shows of a scalar."""
    events = EventAccumulator(str(folder))
    events.Reload()
    return {event.step: event.value for event in events.Scalars(name)}


def test_learns_the_window_of_one_emulator(tiny_config: TinyConfig, tmp_path: Path) -> None:
    config = tiny_config(
        iterations=30,
        environments=32,
        episode_steps=128,
        hidden=[24],
        evaluation_interval=30,
        dataset_iterations=8,
        batch_sequences=32,
        evaluation_seconds=10.0,
    )
    train_in(tmp_path / "run", config, workers=2)
    first, last = metrics(tmp_path / "run")[1], metrics(tmp_path / "run")[-1]
    assert last["loss"] < first["loss"] / 2
    assert last["relative_throughput/emulators/small"] > 0.9
    assert last["relative_delay/emulators/small"] < 1.3


def test_learns_the_five_published_actions(tiny_config: TinyConfig, tmp_path: Path) -> None:
    config = tiny_config(
        features="indigo",
        actions="indigo",
        emulators="synthetic/20mbps-20ms",
        validation="synthetic/20mbps-20ms",
        iterations=12,
        environments=16,
        hidden=[32],
        episode_steps=128,
        initial_learning_rate=1e-2,
        max_epochs=8,
        dataset_iterations=12,
        batch_sequences=32,
    )
    train_in(tmp_path / "run", config, workers=2)
    first, last = metrics(tmp_path / "run")[1], metrics(tmp_path / "run")[-1]
    assert last["agreement"] > max(0.4, first["agreement"]), "twice as often right as by chance"
    assert last["relative_throughput/synthetic/20mbps-20ms"] > 0.8
    assert last["relative_delay/synthetic/20mbps-20ms"] < 1.5


LSTM, MLP = {"architecture": "lstm", "hidden": [16]}, {"architecture": "mlp", "hidden": [16, 16]}
PREFERENCES = {"random_emulators": 24, "preferences": [0, 1]}


@pytest.mark.parametrize(
    "options",
    [
        LSTM | {"actions": "log_window", "features": "scale_free"},
        LSTM | {"actions": "indigo", "features": "indigo"},
        MLP
        | PREFERENCES
        | {
            "fading_emulators": 4,
            "shares": {"named": 1, "random": 2, "shared": 2, "fading": 1},
            "iterations": 2,
        },
    ],
)
def test_same_seed_gives_the_same_weights_on_any_number_of_workers(
    tiny_config: TinyConfig, tmp_path: Path, options: dict[str, Any]
) -> None:
    config = tiny_config(**(options | {"environments": 40}))
    train_in(tmp_path / "one", config)
    train_in(tmp_path / "two", config, workers=2)
    assert_same_weights(weights(tmp_path / "one"), weights(tmp_path / "two"))


def test_another_seed_gives_other_weights(tiny_config: TinyConfig, tmp_path: Path) -> None:
    for seed in (1, 2):
        train_in(tmp_path / str(seed), tiny_config(iterations=1, seed=seed))
    assert not torch.equal(weights(tmp_path / "1")["linear.weight"], weights(tmp_path / "2")["linear.weight"])


def test_stopped_and_resumed_run_ends_with_the_weights_of_an_uninterrupted_one(
    tiny_config: TinyConfig, tmp_path: Path
) -> None:
    config = tiny_config(iterations=6)
    train_in(tmp_path / "whole", config)
    train_in(tmp_path / "parts", config, minutes=1e-9)
    assert RunDirectory(tmp_path / "parts", TrainingConfig).load().iterations == 1
    train_in(tmp_path / "parts", config, resume=True, workers=2)
    assert_same_weights(weights(tmp_path / "whole"), weights(tmp_path / "parts"))
    assert [line["iteration"] for line in metrics(tmp_path / "parts")] == [0, 1, 2, 3, 4, 5]
    assert metrics(tmp_path / "parts")[-1]["loss"] == metrics(tmp_path / "whole")[-1]["loss"]


@pytest.mark.parametrize(("sign", "exit_code"), [(signal.SIGKILL, -signal.SIGKILL), (signal.SIGINT, 130)])
def test_killed_or_interrupted_process_resumes_exactly(
    unhurt: tuple[TrainingConfig, Weights], tmp_path: Path, sign: signal.Signals, exit_code: int
) -> None:
    config, wanted = unhurt
    save_config(config, tmp_path / "config.yaml")
    command = [*CCGYM, "train", "--config", str(tmp_path / "config.yaml"), "--out", str(tmp_path / "hurt")]
    log = tmp_path / "hurt" / "metrics.jsonl"
    with subprocess.Popen(command) as process:
        try:
            wait_until(lambda: log.exists() and log.read_text().count("\n") >= 3, "three iterations", 120)
            process.send_signal(sign)
            assert process.wait(60) == exit_code
        finally:
            process.kill()
    assert RunDirectory(tmp_path / "hurt", TrainingConfig).load().iterations < 12
    train_in(tmp_path / "hurt", config, resume=True)
    assert_same_weights(wanted, weights(tmp_path / "hurt"))
    assert [line["iteration"] for line in metrics(tmp_path / "hurt")] == list(range(12))
    assert shown(tmp_path / "hurt", "loss").keys() == set(range(12)), "TensorBoard lost nothing"


def test_resuming_a_finished_run_changes_nothing(
    finished: tuple[TrainingConfig, Path], tmp_path: Path
) -> None:
    config, run = finished
    shutil.copytree(run, tmp_path / "run")
    before = (tmp_path / "run" / "checkpoints" / "latest.pt").read_bytes()
    train_in(tmp_path / "run", config, resume=True)
    assert (tmp_path / "run" / "checkpoints" / "latest.pt").read_bytes() == before


def test_run_directory_holds_what_is_documented(finished: tuple[TrainingConfig, Path]) -> None:
    config, run = finished
    assert load_config(run / "config.yaml", {}, TrainingConfig) == config
    assert yaml.safe_load((run / "config.yaml").read_text())["hidden"] == [16]
    tensors = load_file(run / "best" / "policy.safetensors")
    assert tensors["lstm.weight_hh_l0"].shape == (64, 16)
    kept = sorted(file.name for file in (run / "checkpoints" / "dataset").iterdir())
    assert kept == ["000002.npz", "000003.npz"], "the dataset is bounded"
    assert not list(run.rglob(".ccgym-*"))


def test_tensorboard_shows_the_numbers_of_metrics_jsonl(finished: tuple[TrainingConfig, Path]) -> None:
    _, run = finished
    lines = metrics(run)
    for name in (
        "loss",
        "agreement",
        "window_distance/emulators/small",
        "throughput_mbps/emulators/small",
        "relative_delay/emulators/small",
        "seconds",
    ):
        written = {line["iteration"]: line[name] for line in lines if name in line}
        assert shown(run, name) == pytest.approx(written)


def test_tensorboard_shows_pictures_of_evaluations_and_of_the_end(
    finished: tuple[TrainingConfig, Path],
) -> None:
    _, run = finished
    events = EventAccumulator(str(run))
    events.Reload()
    steps = {name: [image.step for image in events.Images(name)] for name in events.Tags()["images"]}
    assert steps == {"rollouts": [1, 3], "windows": [1, 3], "curves": [3], "quality": [3]}


def test_tensorboard_shows_the_settings_beside_the_regret(tiny_config: TinyConfig, tmp_path: Path) -> None:
    train_in(tmp_path / "run", tiny_config(iterations=2, seed=7))
    events = EventAccumulator(str(tmp_path / "run"))
    events.Reload()
    told = events.SummaryMetadata("_hparams_/session_start_info").plugin_data.content
    settings = HParamsPluginData.FromString(told).session_start_info.hparams
    assert settings["seed"].number_value == 7
    assert settings["features"].string_value == "scale_free"
    assert settings["hidden"].string_value == "[16]"
    assert set(settings) == set(TrainingConfig.model_fields)
    shown_beside = HParamsPluginData.FromString(
        events.SummaryMetadata("_hparams_/experiment").plugin_data.content
    ).experiment.metric_infos
    assert [info.name.tag for info in shown_beside] == ["validation/regret"]
    assert shown(tmp_path / "run", "validation/regret").keys() == {1}


def test_seconds_are_counted_over_all_parts_of_a_run(tiny_config: TinyConfig, tmp_path: Path) -> None:
    train_in(tmp_path / "run", tiny_config(), minutes=1e-9)
    before_s = time.monotonic()
    train_in(tmp_path / "run", tiny_config(), resume=True)
    seconds = [line["seconds"] for line in metrics(tmp_path / "run")]
    assert seconds == sorted(seconds)
    assert seconds[0] < seconds[-1] <= seconds[0] + time.monotonic() - before_s


def test_resume_of_a_folder_without_a_run_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no run to resume"):
        RunDirectory(tmp_path, TrainingConfig).config()


def test_new_run_in_the_folder_of_another_is_an_input_error(tiny_config: TinyConfig, tmp_path: Path) -> None:
    train_in(tmp_path / "run", tiny_config(iterations=1))
    with pytest.raises(InputError, match="--resume"):
        train_in(tmp_path / "run", tiny_config(iterations=1))


def test_broken_checkpoint_is_an_input_error(tiny_config: TinyConfig, tmp_path: Path) -> None:
    config = tiny_config(iterations=1)
    train_in(tmp_path / "run", config)
    checkpoint = tmp_path / "run" / "checkpoints" / "latest.pt"
    checkpoint.write_bytes(checkpoint.read_bytes()[:100])
    with pytest.raises(InputError, match="broken checkpoint"):
        train_in(tmp_path / "run", config, resume=True)


def test_unknown_emulator_is_an_input_error_and_writes_nothing(
    tmp_path: Path, tiny_config: TinyConfig
) -> None:
    config: TrainingConfig = tiny_config(emulators="synthetic,atlantis")
    with pytest.raises(InputError, match="unknown emulator 'atlantis'"):
        train_in(tmp_path / "run", config)
    assert not (tmp_path / "run").exists()


def test_a_dead_link_to_validate_on_is_refused_before_the_training(
    tiny_config: TinyConfig, tmp_path: Path
) -> None:
    (tmp_path / "dead.yaml").write_text("emulators: [{name: a, delay_ms: 5, uplink: {rate_mbps: 0.0002}}]")
    with pytest.raises(InputError, match="a: next to nothing comes through in 4 s"):
        train_in(tmp_path / "run", tiny_config(validation=f"file:{tmp_path / 'dead.yaml'}"))
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("actions", "random_emulators", "criterion"),
    [
        ("log_window", 4, "validation/regret_and_distance"),
        ("log_window", 0, "validation/regret"),
        ("indigo", 4, "validation/regret"),
    ],
)
def test_the_criterion_has_the_name_of_what_it_is(
    tiny_config: TinyConfig, actions: str, random_emulators: int, criterion: str
) -> None:
    assert criterion_of(tiny_config(actions=actions, random_emulators=random_emulators)) == criterion


def test_the_best_policy_of_random_emulators_has_the_least_sum(
    tiny_config: TinyConfig, tmp_path: Path
) -> None:
    config = tiny_config(actions="log_window", random_emulators=4, iterations=1, evaluation_interval=1)
    train_in(tmp_path / "run", config)
    (line,) = metrics(tmp_path / "run")
    parts = line["validation/regret"] + line["validation/distance"]
    assert line["validation/regret_and_distance"] == parts
    done = RunDirectory(tmp_path / "run", TrainingConfig).load()
    assert (done.criterion, done.best_criterion) == ("validation/regret_and_distance", parts)
