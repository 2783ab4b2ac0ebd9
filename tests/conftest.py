"""What every test relies on."""

import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


def pytest_configure() -> None:
    """Programs started by the tests can be interrupted, however the tests themselves were started.

    A shell without job control starts what it puts into the background with SIGINT ignored, and children
    would inherit that.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Function]) -> None:
    """What waits for programs that `make test` builds in the background comes last."""
    items.sort(key=lambda item: "quic_programs" in item.fixturenames)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder every user may enter, which pytest's own are not."""
    folder = Path(tempfile.mkdtemp(prefix="ccgym-test-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)
