"""What several tests of the tunnel need."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from ccgym.tunnel.session import make_secret


@pytest.fixture
def secret(tmp_path: Path) -> str:
    """A session secret's file."""
    return str(make_secret(tmp_path / "session-secret"))


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder every user may enter, which pytest's own are not."""
    folder = Path(tempfile.mkdtemp(prefix="ccgym-test-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)
