"""A run knows what it was begun on, and its figures are those of its best policy."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from ccgym.envs.errors import InputError
from ccgym.training.config import TrainingConfig
from ccgym.training.run_directory import CRITERION, RunDirectory

TinyConfig = Callable[..., TrainingConfig]


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


def test_the_figures_of_the_best_policy_are_not_those_of_the_last_one(
    tiny_config: TinyConfig, tmp_path: Path
) -> None:
    run = RunDirectory(tmp_path / "run", TrainingConfig)
    run.create(tiny_config(), {})
    validated, trained = "relative_throughput/validation/a", "relative_throughput/synthetic/b"
    lines = [
        {"iteration": 0, CRITERION: 0.1, validated: 0.99},
        {"iteration": 1, CRITERION: 0.5, validated: 0.7, trained: 0.98},
    ]
    (tmp_path / "run" / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    best = run.metrics_of_best_policy()
    assert (best["iteration"], best[validated], best[trained]) == (0, 0.99, 0.98)
