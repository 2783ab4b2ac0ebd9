"""`ccgym new controller` and `ccgym schemes check`, as a user runs them in an empty folder."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from ccgym.cli.main import main

pytestmark = pytest.mark.slow


@pytest.fixture
def ccgym_on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder to be in, and the command on the PATH."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")


def run(*argv: str, folder: str) -> str:
    done = subprocess.run(argv, cwd=folder, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.usefixtures("ccgym_on_path")
def test_in_c_it_builds_and_keeps_its_promises() -> None:
    assert main(["new", "controller", "my_aimd"]) == 0
    said = run("make", "--silent", "test", folder="my_aimd")
    assert "test_my_aimd: passed" in said
    assert said.count("\nkept ") == 8


@pytest.mark.usefixtures("ccgym_on_path")
def test_in_python_its_test_passes() -> None:
    assert main(["new", "controller", "my_aimd", "--language", "python", "--out", "."]) == 0
    run(sys.executable, "test_my_aimd.py", folder="my_aimd")


@pytest.mark.usefixtures("ccgym_on_path")
@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["taken"], "taken: exists already"),
        (["../up"], "a lower-case name as in C"),
        (["class"], "a lower-case name as in C"),
        (["int"], "'int': a lower-case name as in C would be right, no keyword, as my_aimd"),
        (["linux"], "no keyword"),
        (["none", "--language", "python"], "no keyword"),
        (["fine", "--out", "nowhere"], "nowhere: no such folder"),
    ],
)
def test_bad_input_is_one_line(argv: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("taken").mkdir()
    assert main(["new", "controller", *argv]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line
    assert [path.name for path in Path().iterdir()] == ["taken"]


@pytest.mark.usefixtures("ccgym_on_path")
def test_a_broken_promise_is_exit_code_1(capsys: pytest.CaptureFixture[str]) -> None:
    Path("still.py").write_text(
        "class Still:\n    cwnd_packets, pacing_mbps = 1e6, None\n"
        "    def __init__(self, packet_bytes): pass\n    def on_ack(self, now_ms, ack): pass\n"
    )
    assert main(["schemes", "check", "python:still.py:Still"]) == 1
    assert "BROKEN   windows and rates stay sane: network 1, at 0 s: a window of" in capsys.readouterr().out
    assert main(["schemes", "check", "cubic", "--json"]) == 0
    assert all(not each["breach"] for each in json.loads(capsys.readouterr().out)["promises"])
