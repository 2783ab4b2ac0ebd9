"""A sweep: what it proposes and finds does not depend on interruptions, and bad input begins nothing."""

import errno
import json
from pathlib import Path

import pytest
from ccgym.cli.main import main
from ccgym.envs.errors import InputError
from ccgym.experiments.training.sweep import load_sweep, sweep
from ccgym.rl.config import RlConfig
from ccgym.training.runs.run_directory import Checkpoint, RunDirectory
from optuna.storages.journal import JournalFileBackend

CONFIG = """
algo: ppo
name: tiny
features: aurora
actions: rate
reward: power
emulators: synthetic/5mbps-10ms
validation: validation/7mbps-15ms
hidden: [8]
value_hidden: [8]
iterations: 2
environments: 4
episode_steps: 32
batch_decisions: 64
epochs: 1
learning_rate: 1.0e-3
evaluation_interval: 2
evaluation_seconds: 1
"""
SWEEP = """
config: tiny.yaml
settings: {discount: 0.9}
search:
  learning_rate: {low: 1.0e-4, high: 1.0e-2, log: true}
  hidden: {choices: [[4], [8]]}
  epochs: {low: 1, high: 2}
trials: 3
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "tiny.yaml").write_text(CONFIG)
    (tmp_path / "sweep.yaml").write_text(SWEEP)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path


def swept(out: str, capsys: pytest.CaptureFixture[str], *words: str) -> list[object]:
    assert main(["sweep", "sweep.yaml", "--out", out, "--json", *words]) == 0
    trials: list[object] = json.loads(capsys.readouterr().out)["trials"]
    return trials


def test_an_interruption_changes_neither_proposals_nor_results(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = swept("whole", capsys)
    assert len(whole) == 3
    saved = RunDirectory.save
    calls = []

    def save_or_stop(self: RunDirectory[RlConfig], *arguments: object) -> None:
        saved(self, *arguments)  # type: ignore[arg-type]
        calls.append(1)
        if len(calls) == 5:  # in the middle of the second training
            raise KeyboardInterrupt

    monkeypatch.setattr(RunDirectory, "save", save_or_stop)
    assert main(["sweep", "sweep.yaml", "--out", "cut"]) == 130
    monkeypatch.setattr(RunDirectory, "save", saved)
    capsys.readouterr()
    assert swept("cut", capsys) == whole
    assert len(swept("cut", capsys, "--trials", "4")) == 4
    assert main(["train", "--config", "cut/best.yaml", "--out", "again"]) == 0


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("  learning_rat: {low: 1, high: 2}", "ccgym sweep: learning_rat: unknown key"),
        ("  epochs: {low: 2, high: 1}", "expected low below high"),
        ("  epochs: {low: 2}", "expected choices, or both of low and high"),
        ("  epochs: {choices: [-1]}", "ccgym sweep: epochs"),
        ("  epochs: {choices: [1, -1]}", "ccgym sweep: epochs"),
        ("  discount: {low: 0.9, high: 1.5}", "ccgym sweep: discount"),
        ("  learning_rate: {low: 0.1, high: .inf}", "search.learning_rate.high"),
        ("  epochs: 3", "sweep.yaml: search.epochs: 3 is not a mapping of keys to values"),
        ("  epochs: {choise: [1]}", "sweep.yaml: search.epochs.choise: unknown key; known: choices, low"),
        ("  epochs: {low: 1, high: 2}\ntrials: many", "sweep.yaml: trials: 'many': "),
    ],
)
def test_bad_input_is_one_line_and_begins_nothing(
    line: str, complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("sweep.yaml").write_text(f"config: tiny.yaml\nsearch:\n{line}\n")
    assert main(["sweep", "sweep.yaml", "--out", "none"]) == 2
    told = capsys.readouterr().err
    assert complaint in told
    assert told.count("\n") == 1
    assert not Path("none/sweep.yaml").exists()


def test_another_sweep_is_not_mixed_in(capsys: pytest.CaptureFixture[str]) -> None:
    swept("one", capsys, "--trials", "1")
    Path("sweep.yaml").write_text(SWEEP.replace("0.9", "0.95"))
    assert main(["sweep", "sweep.yaml", "--out", "one"]) == 2
    assert "holds another sweep" in capsys.readouterr().err


@pytest.mark.parametrize("line", ['{"op_code": 0}', '{"op_code": "x"}', "mine"])
def test_a_damaged_journal_is_one_line(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("one").mkdir()
    journal = Path("one/sweep.journal")
    journal.write_text(f"{line}\n")
    assert main(["sweep", "sweep.yaml", "--out", "one"]) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert "not the journal of a sweep, or damaged: delete it" in told


def test_a_disk_that_is_full_for_the_journal_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def append_logs(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(JournalFileBackend, "append_logs", append_logs)
    assert main(["sweep", "sweep.yaml", "--out", "full"]) == 1
    assert capsys.readouterr().err == (
        "ccgym sweep: full: No space left on device: make room and repeat the command\n"
    )


def test_trials_of_a_configuration_that_has_changed_are_not_mixed_in(
    capsys: pytest.CaptureFixture[str],
) -> None:
    swept("one", capsys, "--trials", "1")
    Path("tiny.yaml").write_text(CONFIG.replace("episode_steps: 32", "episode_steps: 16"))
    assert main(["sweep", "sweep.yaml", "--out", "one", "--trials", "2"]) == 2
    assert "tiny.yaml has changed since it was trained" in capsys.readouterr().err
    assert not Path("one/trial-001").exists()


def test_trainings_of_different_criteria_are_not_compared(folder: Path) -> None:
    criteria = iter(("validation/regret", "validation/regret", "validation/regret_and_distance"))

    def train(config: RlConfig, run: RunDirectory[RlConfig], *, resume: bool) -> None:
        assert not resume
        criterion = next(criteria)
        run.create(config, {})
        run.open_logs(0, criterion)
        run.log(0, {criterion: 0.1}, {})
        run.save(Checkpoint(1, {}, {}, best_criterion=0.1, decisions=1, criterion=criterion), None, 0)
        run.close_logs()

    told: list[object] = []
    with pytest.raises(
        InputError, match=r"by validation/regret_and_distance, others .* by validation/regret,"
    ):
        sweep(load_sweep(folder / "sweep.yaml"), folder / "out", RlConfig, train, told.append)
    assert len(told) == 2
