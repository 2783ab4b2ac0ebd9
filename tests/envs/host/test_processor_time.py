"""What others take of the processors is what all take without this process and its children."""

import subprocess
import sys
from pathlib import Path

import pytest
from ccgym.envs.host import processor_time as module
from ccgym.envs.host.processor_time import ProcessorTime, processor_time

BURN_S = 0.5
BURN = f"import time\nwhile time.process_time() < {BURN_S}: pass\nprint(flush=True)\ninput()"
TICK_S = 0.05
"""What is lost to whole ticks, of all cores."""


def test_the_time_of_others_is_the_total_less_our_own() -> None:
    before, after = ProcessorTime(100.0, 10.0, 1000.0), ProcessorTime(130.0, 25.0, 1010.0)
    assert after.others_cores_since(before) == pytest.approx(1.5)
    assert ProcessorTime(114.99, 25.0, 1010.0).others_cores_since(before) == 0, "ticks are coarse"


def test_a_child_counts_as_ours_once_it_has_ended() -> None:
    before = processor_time()
    with subprocess.Popen(
        [sys.executable, "-c", BURN], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as child:
        assert child.stdout is not None
        child.stdout.readline()
        running = processor_time()
        child.communicate(b"\n", timeout=60)
    ended = processor_time()
    assert running.all_s - before.all_s >= BURN_S - TICK_S
    assert ended.own_s - running.own_s >= BURN_S - TICK_S


def test_idle_and_iowait_time_is_not_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "STATISTICS", tmp_path / "stat")
    monkeypatch.setattr(module, "_TICKS_PER_S", 100)
    # user nice system idle iowait irq softirq steal guest guest_nice (proc(5)); a guest's are user's already.
    (tmp_path / "stat").write_text("cpu  100 20 30 5000 400 6 7 50 9 9\ncpu0 1 1 1 1 1 1 1 1 1 1\n")
    assert processor_time().all_s == pytest.approx(2.0)
