"""Runs as a Minari dataset."""

import hashlib
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import gymnasium
import minari
import numpy as np
import pytest
from ccgym.cli.main import main
from ccgym.envs.specs.digest import spec_digest
from ccgym.envs.specs.emulators import select_emulators
from ccgym.evaluation.dataset import outside_code
from ccgym.evaluation.dataset.episodes import MOST_SECONDS, RAW_FEATURES
from ccgym.tests.processes import CCGYM, wait_until

from .test_python_schemes import AIMD, write

pytestmark = pytest.mark.slow
EVEN = "field/12mbps-30ms-90kb"
"""An opportunity each ms: wherever a run begins in its schedule, it meets the same."""


def make(
    folder: Path, *options: str, schemes: str = "copa,fixed:10", emulators: str = "random:train:3"
) -> int:
    argv = ["--schemes", schemes, "--emulators", emulators, "--out", str(folder), *options]
    return main(["dataset", *argv])


def sha256(folder: Path) -> list[str]:
    return [hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted((folder / "data").iterdir())]


def emulators_file(folder: Path, flow: str) -> str:
    """With one emulator that has this flow."""
    file = folder / "mine.yaml"
    file.write_text(f"emulators: [{{name: a, delay_ms: 5, uplink: {{rate_mbps: 5}}, flows: [{flow}]}}]")
    return f"file:{file}"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dataset") / "episodes"
    assert make(folder, "--workers", "2") == 0
    return folder


def test_minari_opens_the_dataset_with_metadata_of_every_episode(made: Path) -> None:
    dataset = minari.MinariDataset(made / "data")
    told = list(dataset.storage.get_episode_metadata(range(6)))
    assert [each["scheme"] for each in told] == ["copa", "fixed-10"] * 3
    specs = [each.spec for each in select_emulators("random:train:3")]
    assert [each["emulator_digest"] for each in told][::2] == [spec_digest(spec) for spec in specs]
    assert {each["split"] for each in told} == {"train"}
    for episode in dataset:
        steps = len(episode.actions)
        assert episode.observations.shape == (steps + 1, len(RAW_FEATURES))
        assert dataset.observation_space.contains(episode.observations[-1])
        assert dataset.action_space.contains(episode.actions[0])
        assert episode.truncations.tolist() == [False] * (steps - 1) + [True]
        assert not episode.terminations.any()
        assert (episode.infos["oracle_cwnd_packets"] >= 2).all()
    assert dataset.total_steps == sum(len(episode.actions) for episode in dataset)


def test_the_reference_scores_are_those_of_the_oracle_and_of_chance(made: Path) -> None:
    dataset = minari.MinariDataset(made / "data")
    told = dataset.storage.metadata
    assert told["ref_max_score"] > told["ref_min_score"]
    assert told["num_episodes_average_score"] == 3
    copa = float(np.sum(dataset[0].rewards))
    assert minari.get_normalized_score(dataset, np.array([told["ref_max_score"], copa]))[0] == 1


def test_an_observed_window_is_that_of_the_previous_action(made: Path) -> None:
    copa = minari.MinariDataset(made / "data")[0]
    seen = copa.observations[:, RAW_FEATURES.index("window_packets")]
    assert (seen[1:] == copa.actions[:, 0]).all()
    assert (copa.actions[:, 1] < 1e5).all()  # it paces


def test_a_dataset_depends_on_its_seed_and_not_on_the_number_of_workers(made: Path, tmp_path: Path) -> None:
    assert make(tmp_path / "one", "--workers", "1") == 0
    assert sha256(tmp_path / "one") == sha256(made)
    assert make(tmp_path / "other", "--seed", "2") == 0
    assert sha256(tmp_path / "other") != sha256(made)


def test_steps_of_a_dataset_are_those_of_the_environment(tmp_path: Path) -> None:
    assert make(tmp_path / "out", schemes="fixed:10", emulators=EVEN) == 0
    episode = minari.MinariDataset(tmp_path / "out" / "data")[0]
    env: Any = gymnasium.make("ccgym/Path-v0", emulator=EVEN, features="raw", reward="copa").unwrapped
    observation, _ = env.reset(seed=1)
    stay = 2
    for step in range(200):
        assert (observation == episode.observations[step]).all()
        observation, reward, *_ = env.step(stay)
        assert reward == pytest.approx(episode.rewards[step], rel=1e-6)


def test_minari_recovers_the_environment(made: Path) -> None:
    dataset = minari.MinariDataset(made / "data")
    env = dataset.recover_environment()
    assert env.observation_space == dataset.observation_space
    assert env.action_space == dataset.action_space
    env.reset(seed=1)
    _, reward, *_ = env.step(np.array([20, 1e5], np.float32))
    assert np.isfinite(reward)


def test_a_killed_command_goes_on_to_the_same_dataset(made: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    argv = ["dataset", "--schemes", "copa,fixed:10", "--emulators", "random:train:3", "--workers", "1"]
    with subprocess.Popen([*CCGYM, *argv, "--out", str(folder)], stderr=subprocess.DEVNULL) as process:
        try:
            kept = folder / "flights"
            wait_until(lambda: bool(list(kept.glob("*.npz"))) or process.poll() is not None, "an episode")
        finally:
            process.kill()
    (folder / ".data-left").mkdir()  # as one leaves that is killed at the end
    assert make(folder) == 0
    assert sha256(folder) == sha256(made)
    assert sorted(path.name for path in folder.iterdir()) == ["data", "dataset.json"]


def test_the_command_of_a_finished_dataset_prints_it_again(
    made: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert make(made, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["episodes"], told["folder"]) == (6, str(made / "data"))


def test_a_controller_that_fails_ends_the_command_with_its_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = write(tmp_path, AIMD.replace("if ack.lost:", "if 1 / 0:"))
    assert make(tmp_path / "out", schemes=f"copa,{bad}") == 1
    assert "on_ack raised ZeroDivisionError" in capsys.readouterr().err
    assert not (tmp_path / "out" / "data").exists()


def test_bad_input_is_one_line(made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").touch()
    late = emulators_file(tmp_path, "{start_s: 30}")
    for folder, schemes, said in [
        (made, "copa", "holds a dataset of another request"),
        (made, "fixed:10,copa", "holds a dataset of another request"),  # episodes are kept by their place
        (tmp_path / "full", "copa", "is not empty and holds no dataset"),
        (tmp_path / "out", "kernel-cubic", "does not run in the twin"),
        (tmp_path / "out", "copa+cubic", "does not run in the twin, alone"),
        (tmp_path / "out", "none", "unknown scheme"),
    ]:
        assert make(folder, schemes=schemes) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert said in line
    assert make(tmp_path / "out", emulators=late) == 2
    assert "the first without a scheme begins after the 30 s of a run" in capsys.readouterr().err
    assert make(tmp_path / "out", emulators="shared/three-flows") == 2
    assert (
        "three-flows: flows: 3 name no scheme, and a dataset has the episodes of one"
        in capsys.readouterr().err
    )
    assert not (tmp_path / "out").exists()


def test_a_run_that_never_decides_is_no_episode(tmp_path: Path) -> None:
    brief = emulators_file(tmp_path, "{start_s: 1, stop_s: 1.001}")
    assert make(tmp_path / "out", schemes="copa", emulators=f"{brief},calibrated/nepal") == 0
    dataset = minari.MinariDataset(tmp_path / "out" / "data")
    (told,) = dataset.storage.get_episode_metadata(range(dataset.total_episodes))
    assert told["emulator"] == "calibrated/nepal"


def test_a_disk_without_room_is_told_before_hdf5_meets_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    usage = shutil.disk_usage(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=100_000))
        assert make(tmp_path / "out", emulators="calibrated/nepal") == 1
    assert "No space left on device: make room and repeat the command" in capsys.readouterr().err
    assert make(tmp_path / "out", emulators="calibrated/nepal") == 0


@pytest.mark.parametrize("content", [b"", b"{", b"{}", b"[]", b"\xff", None])
def test_damaged_metadata_of_a_finished_dataset_are_refused_in_one_line(
    made: Path, tmp_path: Path, content: bytes | None, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    shutil.copytree(made, out)
    told = out / "data" / "metadata.json"
    told.unlink()
    if content is None:
        os.mkfifo(told)
    else:
        told.write_bytes(content)
    assert make(out) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "data/metadata.json" in line


@pytest.mark.parametrize("damage", ["cut", "pipe", "none", "another's", "other shapes"])
def test_episodes_that_are_damaged_are_named(
    tmp_path: Path, damage: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert make(out, emulators="calibrated/nepal") == 0
    shutil.rmtree(out / "data")
    chunk = out / "flights" / "00000.npz"
    chunk.parent.mkdir()
    match damage:
        case "cut":
            np.savez(chunk, o_0=np.zeros(1000))
            chunk.write_bytes(chunk.read_bytes()[:-500])
        case "pipe":
            os.mkfifo(chunk)
        case "none":
            chunk.write_text("no archive")
        case "another's":
            np.savez(chunk, o_0=np.zeros(3))
        case "other shapes":
            arrays = {f"{name}_{index}": np.zeros(3) for index in range(2) for name in "oarw"}
            np.savez(chunk, **arrays)  # type: ignore[arg-type]  # its keywords are arrays
    capsys.readouterr()
    assert make(out, emulators="calibrated/nepal") == 2
    line = capsys.readouterr().err.splitlines()[-1]
    assert "00000.npz" in line
    assert not (out / "data").exists()


@pytest.mark.parametrize(
    ("does", "said"),
    [
        ("bytearray(2 << 30)", "MemoryError"),
        ("__import__('os')._exit(0)", "crashed: exit code 0"),
        ("__import__('os').kill(__import__('os').getpid(), 11)", "crashed: SIGSEGV"),
        ("exec('raise KeyboardInterrupt')", "a controller raised KeyboardInterrupt"),
        ("exec('while True: pass')", "stalled: no end after 1 s"),
    ],
)
def test_what_code_from_outside_does_is_told_and_can_be_mended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], does: str, said: str
) -> None:
    if "stalled" in said:
        monkeypatch.setattr(outside_code, "STALL_S", 1 - MOST_SECONDS)
    late = AIMD.replace("if ack.lost:", f"if now_ms > 2000: {does}\n        if ack.lost:")
    scheme = write(tmp_path, late)
    assert make(tmp_path / "out", schemes=f"{scheme},copa", emulators=EVEN) == 1
    told = capsys.readouterr().err.splitlines()[-1]
    assert scheme in told
    assert said in told
    assert EVEN in told
    assert ("its memory limit is 1024 MB" in told) == (said == "MemoryError")
    assert not (tmp_path / "out" / "data").exists()


def test_what_a_controller_prints_is_no_output_of_the_command(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    scheme = write(tmp_path, AIMD.replace("if ack.lost:", "if print('hello') is None and ack.lost:"))
    assert make(tmp_path / "out", "--json", schemes=scheme, emulators=EVEN) == 0
    assert json.loads(capfd.readouterr().out)["episodes"] == 1
