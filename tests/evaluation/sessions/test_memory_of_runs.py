"""What a run with its log takes of the memory grows with its packets, a few numbers for each."""

import subprocess
import sys
from pathlib import Path

import pytest
from ccgym.envs.specs.emulator_spec import EmulatorSpec, LinkSpec
from ccgym.evaluation.sessions.session import PACKET_LOG_BYTES, log_bytes
from ccgym.tests.processes import MOST_SECONDS

LINK = "emulators: [{name: fast, delay_ms: 5, uplink: {rate_mbps: 1000, queue: droptail, packets: 500}}]"
PACKETS_A_SECOND = 1e9 / (8 * 1500)
RUN = """
import resource, sys
from ccgym.cli.main import main
code = main(sys.argv[1:])
print(max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))
sys.exit(code)
"""


def most_bytes_of_one_process(folder: Path, seconds: int) -> int:
    """Of all that take part in a run of so many seconds over the fast link."""
    (folder / "link.yaml").write_text(LINK)
    arguments = ["--schemes", "fixed:1000", "--emulators", f"file:{folder / 'link.yaml'}", "--logs"]
    out = ["--seconds", str(seconds), "--out", str(folder / f"{seconds}-s")]
    done = subprocess.run(
        [sys.executable, "-c", RUN, "eval", *arguments, *out],
        capture_output=True,
        text=True,
        check=True,
        timeout=MOST_SECONDS,
    )
    return 1024 * int(done.stdout.split()[-1])


@pytest.mark.slow
def test_a_packet_costs_no_more_than_is_estimated(tmp_path: Path) -> None:
    short, long = (most_bytes_of_one_process(tmp_path, seconds) for seconds in (1, 5))
    assert long - short < 4 * PACKETS_A_SECOND * PACKET_LOG_BYTES


def test_a_trace_is_estimated_as_the_rate_that_it_has(tmp_path: Path) -> None:
    (tmp_path / "link.trace").write_text("1\n" * 10)  # ten packets of 1,504 bytes per ms
    trace = EmulatorSpec(name="trace", delay_ms=5, uplink=LinkSpec(trace=tmp_path / "link.trace"))
    rate = EmulatorSpec(name="rate", delay_ms=5, uplink=LinkSpec(rate_mbps=120))
    assert log_bytes(trace, 60) > 1e6
    assert log_bytes(trace, 60) == pytest.approx(log_bytes(rate, 60), rel=0.01)
