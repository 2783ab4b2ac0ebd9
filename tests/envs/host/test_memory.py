"""What is free is what the machine, the container and the process's own limit leave."""

import subprocess
import sys
from pathlib import Path

import pytest
from ccgym.envs.errors import InputError
from ccgym.envs.host import memory
from ccgym.envs.host.memory import check_memory
from ccgym.tests.processes import MOST_SECONDS

LIMITED = """
import resource
most = 2 << 30
resource.setrlimit(resource.RLIMIT_AS, (most, most))
from ccgym.envs.host.memory import check_memory, limit_own_memory
limit_own_memory(0.5)
soft, hard = resource.getrlimit(resource.RLIMIT_AS)
assert soft < most and hard < most
limit_own_memory(1)
try:
    check_memory(4e9, "this")
except ValueError as error:
    print(error)
"""


def test_a_limit_that_is_set_counts_and_is_kept() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LIMITED], capture_output=True, text=True, check=True, timeout=MOST_SECONDS
    )
    assert "this would take about 4.0 GB of memory" in done.stdout


FOR_A_WHILE = """
import resource
from ccgym.envs.host.memory import outside_code_limited
before = resource.getrlimit(resource.RLIMIT_DATA)
with outside_code_limited(1 << 29):
    kept = bytearray(5 << 28)
    try:
        bytes(1 << 29)
    except MemoryError:
        print("limited")
assert resource.getrlimit(resource.RLIMIT_DATA) == before
bytes(1 << 29)
"""


def test_a_temporary_limit_counts_from_the_memory_in_use_and_is_lifted() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FOR_A_WHILE], capture_output=True, text=True, check=True, timeout=MOST_SECONDS
    )
    assert done.stdout == "limited\n"


def test_a_containers_limit_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "CONTROL_GROUP", tmp_path)
    (tmp_path / "memory.max").write_text("200000000\n")
    (tmp_path / "memory.current").write_text("190000000\n")
    (tmp_path / "memory.stat").write_text("anon 150000000\ninactive_file 30000000\nactive_file 10000000\n")
    with pytest.raises(InputError, match=r"and 0\.[01] GB are free"):
        check_memory(60e6, "this")
    check_memory(30e6, "this")
    (tmp_path / "memory.max").write_text("max\n")
    check_memory(60e6, "this")
