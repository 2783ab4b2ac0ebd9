"""What every test relies on."""

import contextlib
import os
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


SLOW = (
    "agents/test_parity.py", "bench/", "cli/measuring/", "cli/making/test_train", "dagger/",
    "deploy/", "docs/", "envs/gym/test_live_env.py", "envs/gym/test_sb3_vec_env.py", "envs/host/",
    "envs/mahimahi/", "evaluation/backends/", "evaluation/report/", "evaluation/sessions/", "experiments/",
    "oracle/", "packaging/test_adding", "packaging/test_setup", "packaging/test_wheel", "rl/",
    "training/runs/test_monitoring.py", "training/test_rollouts.py", "tunnel/",
)  # fmt: skip
"""Folders and files of this one whose tests train, compile, or fly in real time: not for `make quick`."""

REAL_TIME = (
    "bench/", "cli/measuring/", "dagger/test_ray.py", "deploy/", "envs/gym/test_live_env.py", "envs/host/",
    "envs/logs/", "envs/mahimahi/", "evaluation/backends/", "evaluation/sessions/",
    "experiments/cross_validation/", "experiments/publications/", "tunnel/",
)  # fmt: skip
"""What flies in real time or starts a cluster: one process takes them all, one after the other."""

NICENESS = os.getpriority(os.PRIO_PROCESS, 0)
POLITE = min(NICENESS + 10, 19)
"""Of all others while several processes share the tests: a packet on its way does not wait."""


def pytest_collection_modifyitems(items: list[pytest.Function]) -> None:
    """Marks the slow ones, and says which of several processes takes what.

    What waits for programs that `make test` builds in the background comes last: groups of few tests do.
    """
    for item in items:
        name = str(item.path.relative_to(Path(__file__).parent))
        if name.startswith(SLOW):
            item.add_marker(pytest.mark.slow)
        waits = "quic_programs" in item.fixturenames
        group = "programs" if waits else "real time" if name.startswith(REAL_TIME) else name
        item.add_marker(pytest.mark.xdist_group(group))
    items.sort(key=lambda item: "quic_programs" in item.fixturenames)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Lets what flies in real time go first, where the processes of the tests may say so."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        return
    (group,) = (marker.args[0] for marker in item.iter_markers("xdist_group"))
    with contextlib.suppress(PermissionError):
        os.setpriority(os.PRIO_PROCESS, 0, NICENESS if group == "real time" else POLITE)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder every user may enter, which pytest's own are not."""
    folder = Path(tempfile.mkdtemp(prefix="ccgym-test-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)
