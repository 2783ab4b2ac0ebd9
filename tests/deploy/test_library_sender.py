"""The sender that loads controllers from libraries, and the static one, which cannot."""

import json
import subprocess
from pathlib import Path

from ccgym.deploy.new_controller import write_controller
from ccgym.tests.evaluation.controller_library import build_cpp_library

from .endpoint_programs import PROGRAMS, free_port, receiver, run_sender


def build(folder: Path) -> str:
    written = write_controller("aimd", "c", folder)
    subprocess.run(["make"], cwd=written, check=True, capture_output=True, timeout=60)
    return f"so:{written}/aimd.so"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    argv = [str(PROGRAMS / "ccgym-sender-so"), *arguments]
    return subprocess.run(argv, capture_output=True, text=True, timeout=30, check=False)


def test_a_controller_from_a_library_runs_a_flow(tmp_path: Path) -> None:
    scheme, port = build(tmp_path), free_port()
    with receiver(port, "--once"):
        stats = tmp_path / "s.json"
        done = run(
            "127.0.0.1", str(port), "--scheme", f"{scheme}:3", "--seconds", "0.5", "--stats", str(stats)
        )
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(stats.read_text())["acked_packets"] > 0


def test_a_library_that_does_not_fit_is_refused_in_one_line(tmp_path: Path) -> None:
    scheme = build(tmp_path)
    assert run("--check", "--scheme", scheme).returncode == 0
    for bad in (f"{scheme}:0", f"so:{tmp_path}/none.so", f"so:{tmp_path}"):
        done = run("--check", "--scheme", bad)
        assert done.returncode == 2
        assert len(done.stderr.splitlines()) == 1


def test_the_static_sender_names_the_sender_that_loads_libraries(tmp_path: Path) -> None:
    done = run_sender("--check", "--scheme", build(tmp_path))
    assert done.returncode == 2
    assert "loads no library: ccgym-sender-so beside it does" in done.stderr


def test_what_a_library_in_cpp_throws_is_one_line(tmp_path: Path) -> None:
    """Its exceptions come from the machine's shared libgcc."""
    library, port = build_cpp_library(tmp_path, 'throw std::runtime_error{"oops"};'), free_port()
    with receiver(port, "--once"):
        done = run("127.0.0.1", str(port), "--scheme", f"so:{library}", "--seconds", "5")
    assert (done.returncode, done.stderr) == (1, f"ccgym-sender-so: so:{library}: threw oops\n")
