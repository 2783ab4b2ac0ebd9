"""Runs on all cores: what one of them does to the others."""

import dataclasses
import multiprocessing
import os
import signal
import subprocess
from functools import partial
from pathlib import Path

import pytest
from ccgym.envs.host.memory import _free_bytes
from ccgym.envs.specs.emulators import NamedEmulator
from ccgym.evaluation.backends.twin_backend import TwinBackend
from ccgym.evaluation.metrics.results import load_evaluation
from ccgym.evaluation.metrics.summary import summarise
from ccgym.evaluation.schemes import select_schemes
from ccgym.evaluation.sessions import processes, workers
from ccgym.evaluation.sessions.processes import Lost, Work, Worker, run_in_processes
from ccgym.evaluation.sessions.session import OUT_OF_MEMORY, Outcome, Plan, failed, open_session, run_session
from ccgym.evaluation.sessions.workers import run_in_workers, work_of
from ccgym.tests.processes import CCGYM, children_of, command_of, wait_until
from ccgym.tests.signals import blocks_interrupts


@pytest.fixture
def plan(two_emulators: list[NamedEmulator]) -> Plan:
    return Plan(two_emulators, select_schemes("copa,fixed:30"), 1, 2.0, 1, "twin", "", keep_logs=False)


def test_figures_of_parallel_workers_are_those_of_a_sequential_session(plan: Plan, tmp_path: Path) -> None:
    together = list(run_in_workers(plan, tmp_path / "a", open_session(plan, tmp_path / "a")))
    in_turn = list(run_session(plan, tmp_path / "b", open_session(plan, tmp_path / "b"), TwinBackend()))
    assert sorted(map(str, together)) == sorted(map(str, in_turn))  # as text: a NaN is not equal to itself
    assert summarise(load_evaluation(tmp_path / "a")) == summarise(load_evaluation(tmp_path / "b"))
    assert not list(tmp_path.rglob("*_datalink_*"))
    assert open_session(plan, tmp_path / "a") == []


@pytest.mark.parametrize(("patience_s", "several"), [(1000.0, False), (0.0, True)])
def test_more_workers_start_only_if_the_first_takes_long(
    plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, patience_s: float, several: bool
) -> None:
    monkeypatch.setattr(processes, "PATIENCE_S", patience_s)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1})
    outcomes = run_in_workers(plan, tmp_path, open_session(plan, tmp_path))
    next(outcomes)
    assert (len(multiprocessing.active_children()) > 1) == several
    assert len(list(outcomes)) == 3
    assert multiprocessing.active_children() == []


def test_a_crash_costs_its_own_run_only(plan: Plan, tmp_path: Path) -> None:
    long = dataclasses.replace(plan, schemes=select_schemes("fixed:5000,fixed:20"), seconds=1000.0)
    planned_runs = sorted(open_session(long, tmp_path), key=lambda planned: -len(planned.scheme.label))
    outcomes = run_in_workers(long, tmp_path, planned_runs)
    ended = [next(outcomes)]
    (victim, *_) = multiprocessing.active_children()
    assert victim.pid is not None
    os.kill(victim.pid, signal.SIGSEGV)
    ended += outcomes
    assert len(ended) == 4
    assert [outcome.failure for outcome in ended if outcome.metrics is None] == ["crashed: SIGSEGV"]
    assert multiprocessing.active_children() == []


def test_a_full_disk_costs_its_own_task_only_and_shows_no_traceback(
    capfd: pytest.CaptureFixture[str],
) -> None:
    work = Work[str, int](partial(getattr, Path("/dev/full"), "write_text"), (), 60.0)
    results = [result for _, result in run_in_processes(work, ["a", "b"], 1)]
    assert results == 2 * [Lost("[Errno 28] No space left on device")]
    assert capfd.readouterr().err == ""


def test_a_worker_leaves_interrupts_to_the_command_from_its_first_moment_on(
    plan: Plan, tmp_path: Path
) -> None:
    outcomes = run_in_workers(plan, tmp_path, open_session(plan, tmp_path))
    next(outcomes)
    running = multiprocessing.active_children()
    assert running
    assert all(blocks_interrupts(worker.pid) for worker in running)
    assert len(list(outcomes)) == 3


def test_what_does_not_end_is_stopped(plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long = dataclasses.replace(plan, schemes=select_schemes("fixed:5000,fixed:4000"), seconds=50_000.0)
    monkeypatch.setattr(workers, "STALL_S", 0.1 - long.seconds)
    outcomes = list(run_in_workers(long, tmp_path, open_session(long, tmp_path)))
    assert {outcome.failure for outcome in outcomes} == {"stalled: no end after 0 s of processor time"}
    assert len(summarise(load_evaluation(tmp_path))["failures"]) == 4


CONTROLLER = """class Odd:
    def __init__(self, packet_bytes):
        self.cwnd_packets, self.pacing_mbps = 10.0, None
    def on_ack(self, now_ms, ack):
        print("of the controller")
        if now_ms > 1000:
            import time
            {ends}
"""


@pytest.mark.parametrize(
    ("ends", "said"),
    [
        ("1 / 0", "python:{file}:Odd: on_ack raised ZeroDivisionError: division by zero (odd.py, line 8)"),
        ("raise KeyboardInterrupt", "a controller raised KeyboardInterrupt"),
        ("time.sleep(1000)", "stalled: asleep for 1 s"),
    ],
)
def test_a_controller_of_ones_own_ends_its_run_in_one_line(
    ends: str,
    said: str,
    plan: Plan,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    file = tmp_path / "odd.py"
    file.write_text(CONTROLLER.format(ends=ends))
    odd = dataclasses.replace(
        plan, schemes=select_schemes(f"python:{file}:Odd"), emulators=plan.emulators[:1]
    )
    if "sleep" in ends:
        monkeypatch.setattr(workers, "STALL_S", 1 - plan.seconds)
    (outcome,) = run_in_workers(odd, tmp_path / "out", open_session(odd, tmp_path / "out"))
    assert outcome.failure == said.format(file=file)
    told = capfd.readouterr()
    assert told.out == "", "what it prints is no answer of ours"
    assert "Traceback" not in told.err


def test_a_worker_ends_with_a_command_that_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)  # lines are shown at once without it
    (tmp_path / "odd.py").write_text(CONTROLLER.format(ends="time.sleep(1000)"))
    words = ["eval", "--schemes", "python:odd.py:Odd", "--emulators", "synthetic/5mbps-10ms", "--out", "out"]
    with subprocess.Popen([*CCGYM, *words], cwd=tmp_path, stderr=subprocess.PIPE) as command:
        try:
            assert command.stderr is not None
            assert command.stderr.readline() == b"of the controller\n"  # the worker has begun
            (worker,) = (each for each in children_of(command.pid) if "spawn_main" in command_of(each))
        finally:
            command.kill()
    wait_until(lambda: "spawn_main" not in command_of(worker), "the end of the worker")


def test_the_reason_of_a_failure_is_one_printable_line(plan: Plan, tmp_path: Path) -> None:
    planned = open_session(plan, tmp_path)[0]
    files = planned.files(tmp_path)
    said = "on_ack raised ValueError: \x1b[31m\nof a controller" + 5000 * "x"
    assert failed(planned, files, said).failure.startswith(
        r"on_ack raised ValueError: \x1b[31m of a controllerx"
    )
    written = files.failure.read_text().removesuffix("\n")
    assert written.isprintable()
    assert len(written) <= 300
    files.failure.write_text(said)  # as another program may
    run = next(each for each in load_evaluation(tmp_path).scenarios if each.failures).failures[0]
    assert run.reason == written


def test_what_fills_the_memory_is_a_failed_run(plan: Plan, tmp_path: Path) -> None:
    flooding = dataclasses.replace(plan, schemes=select_schemes("rate:5000"), seconds=10.0)
    planned = open_session(flooding, tmp_path)[0]
    worker = Worker(work_of(flooding, tmp_path), round(_free_bytes() / 100e6))  # 100 MB for each
    worker.give(planned)
    worker.connection.poll(60)
    outcome = worker.result()
    worker.end()
    assert isinstance(outcome, Outcome)
    assert outcome.failure == OUT_OF_MEMORY


@pytest.mark.slow
@pytest.mark.parametrize("keep_logs", [True, False])
def test_who_floods_the_link_does_not_fill_the_memory(plan: Plan, tmp_path: Path, keep_logs: bool) -> None:
    flooding = dataclasses.replace(
        plan, schemes=select_schemes("rate:60000"), seconds=4.0, keep_logs=keep_logs
    )
    outcome = next(run_in_workers(flooding, tmp_path, open_session(flooding, tmp_path)[:1]))
    if keep_logs:
        assert outcome.failure == OUT_OF_MEMORY
        return
    assert outcome.metrics is not None
    assert 0.99 < outcome.metrics.loss < 1
    assert outcome.metrics.utilisation > 0.9


def test_leaving_early_leaves_no_worker(plan: Plan, tmp_path: Path) -> None:
    outcomes = run_in_workers(plan, tmp_path, open_session(plan, tmp_path))
    next(outcomes)
    outcomes.close()  # type: ignore[attr-defined]
    assert multiprocessing.active_children() == []
