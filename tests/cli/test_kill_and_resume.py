"""Work that is killed at any moment goes on to the same answer. More kills: CCGYM_KILLS=100."""

import hashlib
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ccgym.tests.processes import CCGYM
from safetensors.numpy import load_file

KILLS = int(os.environ.get("CCGYM_KILLS", "4"))
"""Of all kinds of work together."""
MOST_SECONDS = 600
MOST_KILLS_OF_ONE = 3
SHARE_OF_IMPORTS = 0.9
"""Is spared: half of such short work are imports, which keep nothing, and a kill is to meet the rest."""
SETTINGS = {
    "iterations": 3, "environments": 4, "variations": 0, "random_emulators": 2, "fading_emulators": 0,
    "evaluation_seconds": 1, "evaluation_interval": 2, "hidden": [4], "validation": "validation/7mbps-15ms",
    "monitored": "validation/7mbps-15ms", "seed": 2,
}  # fmt: skip
"""With the seed 1 so small a network lets its windows grow without end: twice the processor's time."""
TABLE = """scheme,throughput_mbps,p95_delay_ms,loss
fixed:2,0.2,115,0
fixed:6,0.25,290,0
fixed:9,0.25,400,0
fixed:20,0.25,800,0.01
"""


@dataclass(frozen=True)
class Work:
    """A command whose answer is the same each time, and where the answer stands."""

    argv: list[str]
    answer: Callable[[Path], Any]
    resumed_by: tuple[str, ...] = ()
    """What is added to the command when there is something to go on with."""
    first: str = "out"
    """What the work makes before all else, after its imports."""

    def run(self, folder: Path, killed_after_s: float | None = None) -> float:
        """Until its end or the kill; the seconds that it took."""
        begun_s = time.monotonic()
        for more in (self.resumed_by, ()):
            process = subprocess.Popen(
                [*CCGYM, *self.argv, *more],
                cwd=folder,
                stderr=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )
            try:
                _, said = process.communicate(timeout=killed_after_s or MOST_SECONDS)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
                assert killed_after_s is not None, "hangs"
                break
            if process.returncode == 0:
                break
            assert more, said  # nothing stood there to go on with: it begins anew
        return time.monotonic() - begun_s

    def run_whole(self, folder: Path) -> tuple[float, float]:
        """The seconds until `first` was there, and until the end."""
        begun_s = time.monotonic()
        with ThreadPoolExecutor(1) as beside:
            running = beside.submit(self.run, folder)
            while not running.done() and not (folder / self.first).exists():
                time.sleep(0.02)
            return time.monotonic() - begun_s, running.result()


def trained(folder: Path) -> Any:
    """The weights, to the bit: of the best iteration, and after the last, which need not be the best."""
    import torch  # late: of all kinds of work only this one needs it

    best = load_file(folder / "out" / "best" / "policy.safetensors")
    last = torch.load(folder / "out" / "checkpoints" / "latest.pt")["policy"]
    tensors = [*sorted(best.items()), *((name, values.numpy()) for name, values in sorted(last.items()))]
    return [(name, values.tobytes()) for name, values in tensors]


def measured(folder: Path) -> Any:
    """Figures and logs, but for the time of day."""
    logs = sorted((folder / "out" / "data").rglob("*_datalink_run*.log"))
    bodies = [log.read_bytes().partition(b"\n")[2] for log in logs]
    return json.loads((folder / "out" / "summary.json").read_text()), bodies


def collected(folder: Path) -> Any:
    """The digest of all episodes."""
    return json.loads((folder / "out" / "data" / "metadata.json").read_text())["sha256"]


def calibrated(folder: Path) -> Any:
    """The emulator and the whole answer."""
    return hashlib.sha256((folder / "out.json").read_bytes()).hexdigest(), (folder / "out.yaml").read_text()


WORK = {
    "train": Work(
        ["train", "--emulators", "calibrated/nepal", "--out", "out",
         *(word for name, value in SETTINGS.items() for word in ("--set", f"{name}={value}"))],
        trained, ("--resume",), "out/checkpoints",
    ),
    "eval": Work(
        ["eval", "--schemes", "copa,cubic,fixed:9", "--emulators", "calibrated/nepal,calibrated/mexico",
         "--runs", "2", "--seconds", "5", "--logs", "--out", "out"],
        measured,
    ),
    "dataset": Work(
        ["dataset", "--schemes", "copa,fixed:10", "--emulators", "random:train:3", "--out", "out"], collected
    ),
    "calibrate": Work(
        ["calibrate", "--target", "table.csv", "--minutes", "30", "--out", "out.yaml"], calibrated,
        first="out.search",
    ),
}  # fmt: skip


def prepared(folder: Path) -> Path:
    folder.mkdir()
    (folder / "table.csv").write_text(TABLE)
    return folder


@pytest.mark.slow
@pytest.mark.timeout(300 + 200 * KILLS)
@pytest.mark.parametrize("kind", WORK)
def test_killed_work_goes_on_to_the_same_answer(tmp_path: Path, kind: str) -> None:
    work, generator = WORK[kind], np.random.default_rng(int.from_bytes(os.urandom(8)))
    first_s, whole_s = work.run_whole(prepared(tmp_path / "whole"))
    wanted = work.answer(tmp_path / "whole")
    kills = -(-KILLS // len(WORK))
    while kills > 0:
        folder = prepared(tmp_path / f"killed-{kills}")
        times = min(kills, int(generator.integers(1, MOST_KILLS_OF_ONE + 1)))
        moments_s = generator.uniform(SHARE_OF_IMPORTS * first_s, whole_s, times)
        for moment_s in moments_s:
            work.run(folder, float(moment_s))
        work.run(folder)
        assert work.answer(folder) == wanted, f"killed after {moments_s} s of {whole_s:.1f} s"
        kills -= len(moments_s)
