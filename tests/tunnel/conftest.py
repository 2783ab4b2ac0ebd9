"""What several tests of the tunnel need."""

from pathlib import Path

import pytest
from ccgym.tunnel.session import make_secret


@pytest.fixture
def secret(tmp_path: Path) -> str:
    """A session secret's file."""
    return str(make_secret(tmp_path / "session-secret"))
