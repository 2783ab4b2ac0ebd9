"""Odd arguments of the Python API work or are refused. More cases: CCGYM_ODD_ARGUMENTS=5000."""

import os
import sys
from pathlib import Path

import pytest

from .odd_arguments import KINDS, findings

sys.path.append(str(Path(__file__).parents[3]))  # where the process of the cases finds `odd_arguments`

CASES = int(os.environ.get("CCGYM_ODD_ARGUMENTS", "300"))


@pytest.mark.slow
def test_odd_arguments_work_or_are_refused(tmp_path: Path) -> None:
    first = int.from_bytes(os.urandom(4)) if "CCGYM_ODD_ARGUMENTS" in os.environ else 0
    found, kinds = findings(range(first, first + CASES), tmp_path)
    assert found == []
    assert kinds == {kind.__name__ for kind in KINDS}, "a kind that never runs is refused for something else"
