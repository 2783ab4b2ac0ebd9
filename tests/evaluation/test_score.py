"""A candidate's figures, and what becomes of candidates that do not behave."""

import math
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from ccgym.cli.main import main
from ccgym.envs.errors import InputError
from ccgym.envs.logs.flow_metrics import STARVED_DELAY_MS, STARVED_MBPS
from ccgym.envs.specs.emulators import select_emulators
from ccgym.envs.specs.splits import Split
from ccgym.evaluation.backends.twin_backend import TwinBackend
from ccgym.evaluation.isolation import CandidateError
from ccgym.evaluation.schemes import select_schemes
from ccgym.evaluation.score import EMULATORS, SECONDS, SEED, score
from ccgym.evaluation.sessions.session import Plan, open_session, run_session

from .controller_library import build_library, on_ack
from .test_python_schemes import AIMD, write

pytestmark = pytest.mark.slow

SLOW_LINK = "calibrated/nepal"
"""A run of it costs next to nothing."""
TWO = f"{SLOW_LINK},field"


@pytest.fixture(autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of this module's own, which its tests share."""
    folder = tmp_path_factory.getbasetemp() / "score-cache"
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return folder / "ccgym" / "score"


def test_the_links_are_sixty_of_the_split_test() -> None:
    emulators = select_emulators(EMULATORS)
    assert len(emulators) == 60
    assert {emulator.split for emulator in emulators} == {Split.TEST}


def test_the_figures_are_those_of_an_evaluation(tmp_path: Path) -> None:
    emulators = select_emulators(TWO)
    plan = Plan(emulators, select_schemes("copa"), 1, SECONDS, SEED, "twin", "")
    done = {
        outcome.planned.emulator.label: outcome.metrics
        for outcome in run_session(
            plan, tmp_path / "out", open_session(plan, tmp_path / "out"), TwinBackend()
        )
    }
    scored = score("copa", TWO)
    for link in scored.links:
        metrics = done[link.emulator]
        assert metrics is not None
        assert (link.throughput_mbps, link.p95_delay_ms) == (metrics.throughput_mbps, metrics.p95_delay_ms)
        assert link.log_power == math.log(metrics.power)
    assert scored.log_power == sum(link.log_power for link in scored.links) / 2
    assert score("copa", TWO).links == scored.links


def test_a_flow_that_delivers_nothing_has_the_figures_of_a_starved_one(tmp_path: Path) -> None:
    file = tmp_path / "dead.yaml"
    file.write_text("emulators:\n- {name: dead, delay_ms: 10, uplink: {rate_mbps: 12, loss: 1}}\n")
    (starved,) = score("copa", f"file:{file}").links
    assert starved.throughput_mbps == STARVED_MBPS
    assert starved.p95_delay_ms == STARVED_DELAY_MS


def test_results_of_the_reference_schemes_are_cached(cache: Path) -> None:
    score("fixed:20", TWO)
    kept = {file: file.stat().st_mtime_ns for file in cache.iterdir()}
    score("fixed:30", TWO)
    assert {file: file.stat().st_mtime_ns for file in cache.iterdir()} == kept


def test_a_damaged_cache_entry_is_ignored(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ccgym.evaluation.score.PARTS", 1)  # of a single link
    for earlier in cache.glob("*"):  # none when this is the first test
        earlier.unlink()
    scored = score("fixed:20", SLOW_LINK)
    (kept,) = cache.iterdir()
    for damage in ("{}", "[]", "[" * 100_000, "", "pipe"):
        kept.unlink()
        if damage == "pipe":
            os.mkfifo(kept)
        else:
            kept.write_text(damage)
        assert score("fixed:20", SLOW_LINK).links == scored.links, damage[:9]
    kept.unlink()


def in_python(statement: str) -> Callable[[Path], str]:
    return lambda folder: write(folder, AIMD.replace("if ack.lost:", f"if {statement}:"))


def in_c(statement: str) -> Callable[[Path], str]:
    return lambda folder: f"so:{build_library(folder, on_ack(f'if (ack->next_seq > 100) {statement}'))}"


@pytest.mark.parametrize(
    ("candidate", "timeout_s", "said"),
    [
        (in_python("1 / 0"), 30, "on_ack raised ZeroDivisionError"),
        (in_python("bytearray(1 << 31)"), 30, "its memory limit is 1024 MB"),
        (in_c("abort();"), 30, "crashed: SIGABRT"),
        (in_c("*(volatile int*)0 = 1;"), 30, "crashed: SIGSEGV"),
        (in_c("for (;;) *(volatile char*)calloc(1, 1 << 20) = 1;"), 30, "crashed: SIGSEGV"),
        (in_c("for (;;) { }"), 4, "no end after 4 s"),
    ],
)
def test_a_candidate_that_fails_is_one_line_and_exit_code_1(
    tmp_path: Path,
    candidate: Callable[[Path], str],
    timeout_s: float,
    said: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["score", candidate(tmp_path), "--emulators", "field", "--timeout", str(timeout_s)]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line


def test_an_exception_brings_its_traceback(tmp_path: Path) -> None:
    with pytest.raises(CandidateError, match=r"\(on calibrated/nepal\)") as raised:
        score(write(tmp_path, AIMD.replace("if ack.lost:", "if 1 / 0:")), TWO)
    assert "line 6, in on_ack" in raised.value.trace


def test_bad_input_is_refused(tmp_path: Path) -> None:
    for scheme, emulators, said in [
        ("none", TWO, "unknown scheme 'none'"),
        ("kernel-cubic", TWO, "expected one that runs in the twin"),
        (f"so:{tmp_path}/none.so", TWO, "no such file"),
        ("copa", "nowhere", "unknown emulator 'nowhere'"),
    ]:
        with pytest.raises(InputError, match=said):
            score(scheme, emulators)
