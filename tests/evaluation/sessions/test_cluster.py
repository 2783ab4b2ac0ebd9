"""An evaluation on a Ray cluster of two machines: the figures are those of this process."""

import os
import signal
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from ccgym.envs.errors import InputError
from ccgym.envs.specs.emulators import NamedEmulator
from ccgym.evaluation.backends.twin_backend import TwinBackend
from ccgym.evaluation.metrics.results import load_evaluation
from ccgym.evaluation.metrics.summary import summarise
from ccgym.evaluation.schemes import Kind, Scheme, select_schemes
from ccgym.evaluation.sessions.cluster import open_cluster, run_on_cluster
from ccgym.evaluation.sessions.executors import with_policies
from ccgym.evaluation.sessions.session import Plan, open_session, run_session
from ccgym.training.executors import RayExecutor

pytest.importorskip("ray.cluster_utils")


@pytest.mark.parametrize("keep_logs", [False, True])
def test_the_figures_are_those_of_this_machine(
    cluster: str,
    two_emulators: list[NamedEmulator],
    tmp_path: Path,
    write_policy: Callable[..., Path],
    keep_logs: bool,
) -> None:
    schemes = select_schemes(f"copa,policy:{write_policy(tmp_path / 'mine.safetensors')}+cubic")
    plan = Plan(two_emulators, schemes, 2, 2.0, 1, "twin", "", keep_logs=keep_logs)
    there, here = tmp_path / "there", tmp_path / "here"
    far = list(run_on_cluster(plan, there, open_session(plan, there), open_cluster(plan, cluster)))
    near = list(run_session(plan, here, open_session(plan, here), TwinBackend()))
    assert sorted(map(str, far)) == sorted(map(str, near))  # as text: a NaN is not equal to itself
    assert summarise(load_evaluation(there)) == summarise(load_evaluation(here))
    assert open_session(plan, there) == []
    names = [sorted(path.relative_to(root) for path in root.rglob("*")) for root in (there, here)]
    assert names[0] == names[1]


def test_a_killed_worker_costs_time_only(
    cluster: str, two_emulators: list[NamedEmulator], tmp_path: Path
) -> None:
    # Not above: Ray's workers import this module, and do not find those beside it.
    from ccgym.tests.ray_workers import workers_killed

    # Long enough that a busy machine finds a worker before all is done.
    plan = Plan(two_emulators, select_schemes("copa,indigo2"), 6, 600.0, 1, "twin", "", keep_logs=False)
    there, here = tmp_path / "there", tmp_path / "here"
    with workers_killed(cluster, 2) as killed:
        far = list(run_on_cluster(plan, there, open_session(plan, there), open_cluster(plan, cluster)))
    assert killed
    assert sorted(map(str, far)) == sorted(
        map(str, run_session(plan, here, open_session(plan, here), TwinBackend()))
    )
    assert summarise(load_evaluation(there)) == summarise(load_evaluation(here))


def die_once_with_policies(policies: dict[Path, bytes], mark: Path) -> None:
    """The first call ends its worker as the kernel would when memory is short."""
    with with_policies([], policies):
        if not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)


def test_what_a_killed_worker_leaves_lies_where_pytest_cleans_up(
    cluster: str, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    policies = {tmp_path / "mine.safetensors": str(tmp_path).encode()}
    with RayExecutor(cluster) as executor:
        executor.submit(die_once_with_policies, policies, tmp_path / "killed").result()
        there = Path(executor.submit(tempfile.gettempdir).result())
    left = [file.read_bytes() for file in there.glob("ccgym-*/0.safetensors")]
    assert left.count(str(tmp_path).encode()) == 1
    assert there.is_relative_to(tmp_path_factory.getbasetemp())


def test_what_runs_on_this_machine_only_is_refused(two_emulators: list[NamedEmulator]) -> None:
    library = Scheme("mine.so", Kind.LIBRARY, "so:mine.so", outside_file=Path("mine.so"))
    for schemes, backend, said in [
        (select_schemes("copa"), "twin", "--ray 127.0.0.1:1: no cluster there"),
        ([library], "twin", "scheme 'mine.so' is of this machine"),
        (select_schemes("copa"), "mahimahi", "the backend mahimahi runs on this machine"),
    ]:
        with pytest.raises(InputError, match=said):
            open_cluster(Plan(two_emulators, schemes, 1, 2.0, 1, backend, ""), "127.0.0.1:1")
