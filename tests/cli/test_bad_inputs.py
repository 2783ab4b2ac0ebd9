"""Whatever is handed in: one line, exit code 2, nothing written. More cases: CCGYM_BAD_INPUTS=2000."""

import multiprocessing
import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from .bad_inputs import COMMANDS, PRELOADED, Case, cases, offences, parsers

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
