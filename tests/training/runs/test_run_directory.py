"""A run knows what it was begun on, and its figures are those of its best policy."""

import json
import math
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from ccgym.dagger.adam import Adam
from ccgym.envs.errors import InputError
from ccgym.training.config import TrainingConfig
from ccgym.training.dataset import Dataset
from ccgym.training.runs import run_directory
from ccgym.training.runs.run_directory import Checkpoint, RunDirectory
from ccgym.training.runs.tracking import Tracked

TinyConfig = Callable[..., TrainingConfig]
REGRET = "validation/regret"
BEGUN = Checkpoint(0, {}, {}, best_criterion=1.0, decisions=0, criterion=REGRET)


def begin(run: RunDirectory[TrainingConfig], best_criterion: float) -> tuple[torch.nn.Module, Adam]:
    """Saves the first checkpoint of a network; returns it with its optimiser."""
    network = torch.nn.Linear(2, 3)
    optimiser = Adam(network.parameters(), weight_decay=0.0)
    state = network.state_dict(), optimiser.state_dict()
    run.save(replace(BEGUN, policy=state[0], optimiser=state[1], best_criterion=best_criterion), None, 1)
    return network, optimiser


def test_a_run_is_not_gone_on_with_over_other_emulators(
    tiny_config: TinyConfig, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = RunDirectory(tmp_path / "run", TrainingConfig)
    run.create(tiny_config(), {"own/link": "AAAAAAAA"})
    run.check_origin({"own/link": "AAAAAAAA"})
    assert capsys.readouterr().err == ""
    with pytest.raises(InputError, match=r"own/link has changed since the run in .* was begun"):
        run.check_origin({"own/link": "BBBBBBBB"})
    origin = tmp_path / "run" / "origin.json"
    origin.write_text(json.dumps({**json.loads(origin.read_text()), "revision": "0ld"}))
    run.check_origin({"own/link": "AAAAAAAA"})
    assert "begun with revision 0ld" in capsys.readouterr().err


def test_trackers_are_given_settings_of_plain_values(
    tiny_config: TinyConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    followed: list[Tracked] = []

    def open_trackers(_: object, run: Tracked) -> list[object]:
        followed.append(run)
        return []

    monkeypatch.setattr(run_directory, "open_trackers", open_trackers)
    run = RunDirectory(tmp_path / "run", TrainingConfig)
    run.create(tiny_config(), {})
    run.open_logs(3, REGRET)
    (tracked,) = followed
    assert json.loads(json.dumps(tracked.settings)) == tracked.settings
    assert tracked.settings["hidden"] == [16]
    assert (tracked.folder, tracked.name, tracked.iterations) == (tmp_path / "run", "tiny", 3)


def test_the_figures_of_the_best_policy_are_not_those_of_the_last_one(
    tiny_config: TinyConfig, tmp_path: Path
) -> None:
    run = RunDirectory(tmp_path / "run", TrainingConfig)
    run.create(tiny_config(), {})
    validated, trained = "relative_throughput/validation/a", "relative_throughput/synthetic/b"
    lines = [
        {"iteration": 0, REGRET: 0.1, validated: 0.99},
        {"iteration": 1, REGRET: 0.5, validated: 0.7, trained: 0.98},
    ]
    (tmp_path / "run" / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    run.save(BEGUN, None, 1)
    best = run.metrics_of_best_policy()
    assert (best["iteration"], best[validated], best[trained]) == (0, 0.99, 0.98)


def test_a_run_killed_before_its_first_checkpoint_is_begun_anew(
    tiny_config: TinyConfig, tmp_path: Path
) -> None:
    run = RunDirectory(tmp_path / "run", TrainingConfig)
    run.create(tiny_config(), {})
    with pytest.raises(InputError, match="no checkpoint to resume from; begin the run without --resume"):
        run.load()
    (tmp_path / "run" / "metrics.jsonl").write_text("{\n")
    run.create(tiny_config(), {})
    run.open_logs(0, REGRET)  # what the killed one had logged is none of its
    run.close_logs()
    run.save(BEGUN, None, 1)
    with pytest.raises(InputError, match="holds a run already"):
        run.create(tiny_config(), {})


def test_a_run_is_not_gone_on_with_by_another_criterion(tiny_config: TinyConfig, tmp_path: Path) -> None:
    run = RunDirectory(tmp_path / "run", TrainingConfig)
    run.create(tiny_config(), {})
    network, optimiser = begin(run, best_criterion=math.inf)
    assert run.resume(REGRET, network, optimiser).criterion == REGRET
    with pytest.raises(InputError, match=r"has chosen its best policy by validation/regret, this training"):
        run.resume("validation/negative_reward", network, optimiser)


def test_a_run_is_not_gone_on_with_by_another_network(tiny_config: TinyConfig, tmp_path: Path) -> None:
    run = RunDirectory(tmp_path / "run", TrainingConfig)
    run.create(tiny_config(), {})
    _, optimiser = begin(run, best_criterion=math.inf)
    for other in (torch.nn.Linear(2, 4), torch.nn.LayerNorm(2), torch.nn.ModuleList()):
        with pytest.raises(InputError, match=r"run: was begun with another network \((size|Un).*: undo what"):
            run.resume(REGRET, other, optimiser)


def test_a_run_without_its_best_policy_is_not_gone_on_with(tiny_config: TinyConfig, tmp_path: Path) -> None:
    run = RunDirectory(tmp_path / "run", TrainingConfig)
    run.create(tiny_config(), {})
    network, optimiser = begin(run, best_criterion=1.0)
    with pytest.raises(InputError, match="run/best: the best policy so far is missing: put it back"):
        run.resume(REGRET, network, optimiser)
    run.best_policy.touch()
    assert run.resume(REGRET, network, optimiser).best_criterion == 1.0


def test_a_pipe_in_place_of_a_checkpoint_or_of_sequences_keeps_nobody_waiting(
    tiny_config: TinyConfig, tmp_path: Path
) -> None:
    run = RunDirectory(tmp_path / "run", TrainingConfig)
    run.create(tiny_config(), {})
    os.mkfifo(tmp_path / "run" / "checkpoints" / "latest.pt")
    with pytest.raises(InputError, match=r"latest.pt: cannot read the checkpoint: not a regular file"):
        run.load()
    os.mkfifo(tmp_path / "run" / "checkpoints" / "dataset" / "000000.npz")
    with pytest.raises(InputError, match=r"000000.npz: .*not a regular file"):
        run.load_dataset(Dataset(1, 1), 1, 1)


def test_a_line_of_metrics_that_a_kill_has_cut_is_left_out_and_a_damaged_one_named(
    tiny_config: TinyConfig, tmp_path: Path
) -> None:
    run = RunDirectory(tmp_path / "run", TrainingConfig)
    run.create(tiny_config(), {})
    metrics = tmp_path / "run" / "metrics.jsonl"
    metrics.write_text('{"iteration": 0, "loss": 1}\n{"iteration": 1, "lo')
    assert run.final_metrics() == {"iteration": 0, "loss": 1}
    metrics.write_text('{"iteration": 0}\n\x00\x00\n{"iteration": 2}\n')
    with pytest.raises(InputError, match=r"metrics\.jsonl:2: not the metrics of an iteration: delete"):
        run.final_metrics()
    run.save(BEGUN, None, 1)
    metrics.write_text('{"iteration": 0}\n')
    with pytest.raises(InputError, match=r"metrics\.jsonl: damaged: no line has validation/regret"):
        run.best_metrics()
    metrics.unlink()
    with pytest.raises(InputError, match=r"metrics\.jsonl: damaged: no line has iteration"):
        run.final_metrics()


def test_sequences_that_were_cut_are_named(tiny_config: TinyConfig, tmp_path: Path) -> None:
    run = RunDirectory(tmp_path / "run", TrainingConfig)
    run.create(tiny_config(), {})
    cut = tmp_path / "run" / "checkpoints" / "dataset" / "000000.npz"
    cut.write_bytes(b"PK\x03\x04 and no more")
    with pytest.raises(InputError, match=r"000000\.npz: broken: .*: begin another run with --out"):
        run.load_dataset(Dataset(1, 1), 1, 1)
