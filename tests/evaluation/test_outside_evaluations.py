"""Controllers from outside in an evaluation: what one of them does costs its own runs only."""

import json
from pathlib import Path

import pytest
from ccgym.cli.main import main
from ccgym.evaluation.sessions import workers

from .controller_library import build_cpp_library, build_library, on_ack
from .test_python_schemes import AIMD, write

pytestmark = pytest.mark.slow


@pytest.fixture
def emulators(tmp_path: Path) -> str:
    """A file of one emulator."""
    file = tmp_path / "path.yaml"
    file.write_text("emulators:\n- {name: quick, delay_ms: 10, uplink: {rate_mbps: 12}}\n")
    return f"file:{file}"


def evaluate(schemes: str, emulators: str, out: Path, *options: str) -> int:
    argv = ["--schemes", schemes, "--emulators", emulators, "--seconds", "2", "--out", str(out), *options]
    return main(["eval", *argv])


def test_several_flows_and_a_mix_run_the_same_again(tmp_path: Path, emulators: str) -> None:
    python, library = write(tmp_path, AIMD), f"so:{build_library(tmp_path, name='other')}"
    schemes = f"{python},{library},{python}+{library}+cubic"
    for out in ("a", "b"):
        assert evaluate(schemes, emulators, tmp_path / out, "--flows", "3") == 0
    one, again = (json.loads((tmp_path / out / "summary.json").read_text()) for out in ("a", "b"))
    assert one == again
    flows = [
        entry for entry in one["scenarios"][0]["schemes"] if entry["scheme"] == "aimd.Aimd+other.so+cubic"
    ]
    assert [flow.get("flow_scheme") for flow in flows] == ["aimd.Aimd", "other.so", "cubic", None]


@pytest.mark.parametrize("seconds_of_stall", [60.0, 1.0])
def test_an_exception_a_crash_and_a_hang_are_failed_runs(
    tmp_path: Path,
    emulators: str,
    seconds_of_stall: float,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    if seconds_of_stall < 60:
        bad, reason = AIMD.replace("if ack.lost:", "while now_ms > 100:"), "stalled: no end after 3 s"
    else:
        bad, reason = AIMD.replace("if ack.lost:", "if 1 / 0:"), "on_ack raised ZeroDivisionError"
    monkeypatch.setattr(workers, "STALL_S", seconds_of_stall)
    crash = build_library(tmp_path, on_ack("if (ack->next_seq > 50) *(volatile int*)0 = 1;"), name="crash")
    out = tmp_path / "out"
    assert evaluate(f"{write(tmp_path, bad)},so:{crash},copa", emulators, out) == 1
    failures = json.loads((out / "summary.json").read_text())["failures"]
    reasons = {failure["scheme"]: failure["reason"] for failure in failures}
    assert reasons["crash.so"] == "crashed: SIGSEGV"
    assert reason in reasons["aimd.Aimd"]
    assert set(reasons) == {"crash.so", "aimd.Aimd"}
    assert ("(aimd.py, line 6)" in reasons["aimd.Aimd"]) == ("ZeroDivision" in reason)
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.parametrize("eats", ["bytes(2 << 30)", "__import__('numpy').ones(1 << 29)"])
def test_memory_is_limited_as_for_a_score_and_only_theirs(tmp_path: Path, emulators: str, eats: str) -> None:
    scheme, out = write(tmp_path, AIMD.replace("if ack.lost:", f"if {eats} is None:")), tmp_path / "out"
    assert evaluate(f"{scheme},cubic", emulators, out) == 1
    (failure,) = json.loads((out / "summary.json").read_text())["failures"]
    assert failure["scheme"] == "aimd.Aimd"
    assert "MemoryError" in failure["reason"]
    assert "its memory limit is 1024 MB" in failure["reason"]


@pytest.mark.programs
def test_memory_is_limited_in_real_time_as_well(tmp_path: Path, emulators: str) -> None:
    library = build_cpp_library(tmp_path, "delete[] new char[1024L << 20];")
    assert evaluate(f"so:{library}", emulators, tmp_path / "out", "--backend", "mahimahi") == 1
    (failure,) = json.loads((tmp_path / "out" / "summary.json").read_text())["failures"]
    assert failure["reason"].endswith("thrower.so: threw std::bad_alloc: its memory limit is 1024 MB")


def test_a_controller_that_floods_is_told_its_limit_as_well(tmp_path: Path, emulators: str) -> None:
    scheme = write(tmp_path, AIMD.replace("+= len(ack.acked) / self.cwnd_packets", "= 1e9"))
    out = tmp_path / "out"
    assert evaluate(scheme, emulators, out) == 1
    (failure,) = json.loads((out / "summary.json").read_text())["failures"]
    assert failure["reason"].startswith("out of memory: what it sent is more than its log can hold")
    assert failure["reason"].endswith("its memory limit is 1024 MB")


def test_a_controller_may_bring_pytorch(tmp_path: Path, emulators: str) -> None:
    """Whose libraries take 3 GB of the address space."""
    scheme = write(tmp_path, f"import torch\n\nWEIGHTS = torch.ones(1 << 20)\n{AIMD}")
    assert evaluate(scheme, emulators, tmp_path / "out") == 0


def test_a_library_that_finds_no_memory_says_what_its_limit_is(
    tmp_path: Path, emulators: str, capsys: pytest.CaptureFixture[str]
) -> None:
    begin = "raise ImportError('libbig.so: failed to map segment from shared object')\n"
    assert evaluate(write(tmp_path, begin + AIMD), emulators, tmp_path / "out") == 2
    assert "failed to map segment from shared object" in (said := capsys.readouterr().err)
    assert "its memory limit is 1024 MB" in said


def test_what_a_controller_started_ends_with_its_worker(tmp_path: Path, emulators: str) -> None:
    start = f"open({str(tmp_path / 'pids')!r}, 'a').write(f'{{Popen([\"sleep\", \"300\"]).pid}}\\n')"
    source = AIMD.replace("10.0, None\n", f"10.0, None\n        {start}\n", 1)
    scheme = write(tmp_path, f"from subprocess import Popen\n{source}")
    assert evaluate(scheme, emulators, tmp_path / "out") == 0
    started = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
    assert len(started) > 1
    for pid in started:
        assert not Path(f"/proc/{pid}/stat").exists() or " Z " in Path(f"/proc/{pid}/stat").read_text()


def test_another_file_is_another_scheme(
    tmp_path: Path, emulators: str, capsys: pytest.CaptureFixture[str]
) -> None:
    scheme = write(tmp_path, AIMD)
    assert evaluate(scheme, emulators, tmp_path / "out") == 0
    write(tmp_path, AIMD.replace("/ 2", "/ 3"))
    assert evaluate(scheme, emulators, tmp_path / "out") == 2
    assert "aimd.Aimd has changed since this evaluation began" in capsys.readouterr().err


def test_a_class_is_refused_in_real_time_before_anything_is_looked_for(
    tmp_path: Path, emulators: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")  # no mahimahi
    assert evaluate(write(tmp_path, AIMD), emulators, tmp_path / "out", "--backend", "mahimahi") == 2
    assert "is in Python: it runs with --backend twin only" in capsys.readouterr().err
