"""The examples that train, a little of each: they run to their end and say a figure."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from ccgym.cli.main import main
from ccgym.envs.host.process_group import running_in_group

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

FORKS = """
import json, os, runpy, sys
import gymnasium, numpy, torch, torch._dynamo
for line in sys.stdin:
    folder, sys.argv = json.loads(line)
    if process := os.fork():
        print(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]), flush=True)
        continue
    os.chdir(folder)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(os.open(stream.name.strip("<>"), os.O_WRONLY | os.O_CREAT), stream.fileno())
    sys.path[0] = os.path.dirname(sys.argv[0])
    runpy.run_path(sys.argv[0], run_name="__main__")
    break
"""
"""Runs each script as Python would, in a process of its own that has imported nothing of ours. To import what
all of them take of others, PyTorch above all, would keep most of them busy for longer than what they do."""

Run = Callable[[Path, list[str]], str]


@pytest.fixture(scope="module")
def run_script() -> Iterator[Run]:
    """In a folder, with the script's path and arguments; returns what it printed."""
    pipe = subprocess.PIPE
    with running_in_group([sys.executable, "-c", FORKS], stdin=pipe, stdout=pipe) as forks:

        def run(folder: Path, argv: list[str]) -> str:
            assert forks.stdin
            assert forks.stdout
            print(json.dumps([str(folder), argv]), file=forks.stdin, flush=True)
            code = forks.stdout.readline()
            printed, complaints = ((folder / name).read_text() for name in ("stdout", "stderr"))
            for name in ("stdout", "stderr"):
                (folder / name).unlink()
            assert code == "0\n", complaints
            return printed

        yield run


@pytest.mark.parametrize(
    ("name", "arguments", "left"),
    [
        ("random_agent", [], []),
        ("twelve_links", [], []),
        ("sb3_ppo", ["--iterations", "1"], ["ppo.zip"]),
        ("sb3_sac", ["--steps", "25"], ["sac.zip"]),
        ("cleanrl_ppo", ["--iterations", "1"], []),
        ("torchrl_ppo", ["--iterations", "1"], []),
        ("rllib_ppo", ["--iterations", "1"], []),
        ("dagger_in_pytorch", ["--iterations", "1"], []),
    ],
)
def test_an_example_runs_to_its_end(
    run_script: Run, name: str, arguments: list[str], left: list[str], tmp_path: Path
) -> None:
    script = EXAMPLES / f"{name}.py"
    printed = run_script(tmp_path, [str(script), *arguments])
    assert -12 < float(printed.splitlines()[-1].removeprefix("mean log power ")) < 2
    assert len(script.read_text().splitlines()) <= 100
    assert sorted(path.name for path in tmp_path.iterdir()) == left


@pytest.mark.parametrize("name", ["behaviour_cloning", "iql"])
def test_an_offline_example_learns_from_a_dataset(run_script: Run, name: str, tmp_path: Path) -> None:
    argv = [
        "dataset",
        "--schemes",
        "copa,cubic",
        "--emulators",
        "random:train:2",
        "--out",
        str(tmp_path / "data"),
    ]
    assert main(argv) == 0
    script = EXAMPLES / "offline" / f"{name}.py"
    printed = run_script(tmp_path, [str(script), str(tmp_path / "data"), "--steps", "20"])
    assert -12 < float(printed.splitlines()[-1].removeprefix("mean log power ")) < 2
    assert len(script.read_text().splitlines()) <= 100
