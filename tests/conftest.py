"""What every test relies on."""

import gc
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

hypothesis.settings.register_profile("any-machine", deadline=None)  # a busy one is no defect
hypothesis.settings.load_profile("any-machine")

# The tests are the parallelism: threads that wait for one another take ten times the processor time.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# A cache of a test's own would have matplotlib look for the fonts of the machine anew, in each process.
USERS_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
os.environ.setdefault("MPLCONFIGDIR", str(USERS_CACHE / "matplotlib"))


def pytest_configure() -> None:
    """Programs started by the tests can be interrupted, however the tests themselves were started.

    A shell without job control starts what it puts into the background with SIGINT ignored, and children
    would inherit that.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)


SLOW = (
    "agents/test_parity.py", "bench/", "calibration/test_verification.py", "cli/measuring/",
    "cli/making/test_train", "dagger/", "deploy/", "docs/", "envs/gym/test_live_env.py",
    "envs/gym/test_sb3_vec_env.py", "envs/host/", "envs/mahimahi/", "evaluation/backends/",
    "evaluation/report/", "evaluation/sessions/", "experiments/", "oracle/", "packaging/test_adding",
    "packaging/test_setup", "packaging/test_wheel", "rl/", "training/runs/test_monitoring.py",
    "training/test_rollouts.py", "tunnel/",
)  # fmt: skip
"""Folders and files of this one whose tests train, compile, or run in real time: not for `make quick`."""

PROGRAMS = (
    "bench/", "calibration/test_verification.py", "cli/measuring/", "dagger/test_ray.py", "deploy/",
    "envs/gym/test_live_env.py", "envs/host/", "envs/logs/", "envs/mahimahi/", "evaluation/backends/",
    "evaluation/sessions/", "experiments/acceptance/test_real_mahimahi.py", "experiments/cross_validation/",
    "tunnel/",
)  # fmt: skip
"""What runs in real time or starts a cluster, and waits for most of its time: beside what computes."""


HERE = Path(__file__).parent


def pytest_itemcollected(item: pytest.Item) -> None:
    """Marks what is slow, and what starts programs."""
    name = str(item.path.relative_to(HERE))
    if name.startswith(SLOW):
        item.add_marker(pytest.mark.slow)
    if name.startswith(PROGRAMS):
        item.add_marker(pytest.mark.programs)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """A file none of whose tests is asked for is not imported: every process of pytest-xdist would."""
    if collection_path.suffix != ".py":
        return None
    name = str(collection_path.relative_to(HERE))
    slow, programs = name.startswith(SLOW), name.startswith(PROGRAMS)
    unasked = {"programs": not programs, "not programs": programs, "not slow": slow}
    return unasked.get(config.option.markexpr) or None


def pytest_collection_modifyitems(items: list[pytest.Function]) -> None:
    """What is slow comes first, so that no process is left alone with it.

    What waits for programs that `make test` builds in the background comes last.
    """

    def when(item: pytest.Function) -> tuple[bool, bool]:
        return "quic_programs" in item.fixturenames, item.get_closest_marker("slow") is None

    items.sort(key=when)


def pytest_collection_finish() -> None:
    """What has been imported stays: to look it through for garbage takes a tenth of the processor's time."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder every user may enter, which pytest's own are not."""
    folder = Path(tempfile.mkdtemp(prefix="ccgym-test-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


PATIENT = {
    "health_check_timeout_ms": 60_000,
    "health_check_failure_threshold": 20,
    "worker_niceness": 0,
    "memory_monitor_refresh_ms": 0,
    "local_fs_capacity_threshold": 1.0,
}
"""A machine that other tests keep busy is not a dead one; at Ray's niceness of 15 nothing gets done on it.

Nor does a memory or a disk that somebody else has filled by 95 % concern these tests, where Ray would end
what runs, again and again.
"""


STARTS_OF_RAY = 3
"""Ray gives a machine 30 s to start, and no setting changes that: at the lowest priority it may take longer.
The next start finds in memory what the first has read from disk."""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a Ray cluster: two machines with one processor each.

    A worker that a test kills leaves its temporary files: in a folder that pytest removes.
    """
    ray = pytest.importorskip("ray")
    cluster_utils = pytest.importorskip("ray.cluster_utils")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_TMPDIR", tempfile.gettempdir())  # its own: no long path fits into a socket's name
        patch.setenv("TMPDIR", str(tmp_path_factory.mktemp("workers")))
        for start in range(1, STARTS_OF_RAY + 1):
            machines = cluster_utils.Cluster()
            try:
                machines.add_node(num_cpus=1, include_dashboard=False, _system_config=PATIENT)
                machines.add_node(num_cpus=1)
                break
            except Exception:  # of no class of its own
                machines.shutdown()
                ray.shutdown()
                if start == STARTS_OF_RAY:
                    raise
    yield machines.address
    machines.shutdown()
