"""The example of a search, with few generations."""

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

SEARCH = Path(__file__).resolve().parents[2] / "examples" / "search" / "search.py"


def run(folder: Path) -> list[str]:
    argv = [sys.executable, str(SEARCH), "--generations", "2", "--links", "calibrated/nepal,field"]
    done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, timeout=200, check=True)
    return done.stdout.splitlines()


def test_a_search_goes_uphill(tmp_path: Path) -> None:
    first, second, found = run(tmp_path)
    assert float(first.split()[4]) <= float(second.split()[4])
    assert found.startswith("found.py: log power ")
    assert "class VegasLike" in (tmp_path / "found.py").read_text()
