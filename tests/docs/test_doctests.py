"""What docstrings show works as printed."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MODULES = sorted(
    ".".join(("ccgym", *path.relative_to(ROOT).with_suffix("").parts))
    for folder in ROOT.glob("*/__init__.py")
    for path in folder.parent.rglob("*.py")
    if ">>> " in path.read_text()
)


@pytest.mark.parametrize("module", MODULES)
def test_the_examples_in_docstrings_hold(module: str) -> None:
    outcome = doctest.testmod(import_module(module), optionflags=doctest.ELLIPSIS)
    assert outcome.attempted > 0
    assert outcome.failed == 0
