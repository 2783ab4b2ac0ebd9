"""Whatever is handed in: one line, exit code 2, nothing written. More cases: CCGYM_BAD_INPUTS=2000."""

import multiprocessing
import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from .bad_inputs import (
    COMMANDS,
    ERRORS_ALREADY,
    EXPERIMENTS,
    PRELOADED,
    READERS,
    Case,
    cases,
    exit_code,
    offences,
    parsers,
)

multiprocessing.set_forkserver_preload(PRELOADED)
sys.path.append(str(Path(__file__).parents[2]))  # where the processes of the cases find `bad_inputs`

CASES = int(os.environ.get("CCGYM_BAD_INPUTS", "120"))


@pytest.mark.slow
@pytest.mark.timeout(300 + 5 * CASES)
@settings(
    max_examples=CASES,
    derandomize="CCGYM_BAD_INPUTS" not in os.environ,
    phases=[Phase.generate],  # a case is short already, and one that hangs takes minutes
    suppress_health_check=list(HealthCheck),
)
@given(cases())
def test_every_bad_input_is_answered_in_one_line(case: Case) -> None:
    assert not offences(case)


def test_the_generator_knows_every_command() -> None:
    assert COMMANDS.keys() == parsers().keys()


GOOD = sorted(COMMANDS.keys() - ERRORS_ALREADY - {f"reproduce {each}" for each in EXPERIMENTS})


@pytest.mark.slow
@pytest.mark.parametrize("command", GOOD)
def test_what_is_made_odd_is_a_command_that_works(command: str) -> None:
    code, said = exit_code(Case([*command.split(), *COMMANDS[command]]))
    assert code == (1 if command == "replay" else 0), said  # 1: the log is not the twin's


@pytest.mark.slow
def test_what_is_damaged_is_a_file_that_is_read_to_its_end() -> None:
    (training,) = READERS["config.yaml"]
    assert "ccgym train: shares: " in exit_code(Case(training))[1], "the first mistake is that of --set"
    for file in ("good.trace", "good.csv", "good.json", "report.txt"):
        code, said = exit_code(Case(READERS[file][-1]))
        assert code == 0, said
