"""What several of these tests build on."""

from pathlib import Path

import pytest

RELEASE = Path(__file__).resolve().parents[2] / "build" / "release"


@pytest.fixture
def core_libraries() -> list[Path]:
    """The three libraries of the core as `make build` left them, each before what it stands on."""
    libraries = [RELEASE / f"libccgym_{name}.a" for name in ("twin", "controllers", "transport")]
    missing = [library for library in libraries if not library.is_file()]
    assert not missing, f"{missing[0]} is missing: run `make build`"
    return libraries
