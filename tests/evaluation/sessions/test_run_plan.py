"""Several plans in one go: whose run comes when."""

from pathlib import Path

import pytest
from ccgym.envs.specs.emulators import NamedEmulator
from ccgym.evaluation.schemes import select_schemes
from ccgym.evaluation.sessions.run_plan import run_in_turns
from ccgym.evaluation.sessions.session import Plan


def test_plans_take_turns_until_each_has_ended(
    two_emulators: list[NamedEmulator], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = two_emulators
    longer = Plan([first], select_schemes("fixed:20"), 3, 2.0, 1, "twin", "", keep_logs=False)
    shorter = Plan([second], select_schemes("fixed:20"), 1, 2.0, 1, "twin", "", keep_logs=False)
    run_in_turns([(longer, tmp_path / "longer"), (shorter, tmp_path / "shorter")], "four runs")
    announced, *lines = capsys.readouterr().err.splitlines()
    assert announced == "four runs"
    expected = [first.label, second.label, first.label, first.label]
    assert [line.split()[:2] for line in lines] == [
        [f"[{number}/4]", label] for number, label in enumerate(expected, start=1)
    ]
