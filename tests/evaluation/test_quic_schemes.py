"""A real QUIC takes part: its server sends what its client, within the shells, downloads."""

import json
from pathlib import Path

import pytest
from ccgym.cli.main import main
from ccgym.deploy import quic
from ccgym.evaluation.schemes import Kind, known_schemes

# Its data take the direction of 12 Mbit/s although its server is outside; ACKs have 2.
EMULATOR = """emulators:
- name: up
  delay_ms: 10
  uplink: {rate_mbps: 12, queue: droptail, packets: 60}
  downlink: {rate_mbps: 2}
"""


def test_they_are_listed_with_their_source() -> None:
    rows = {row.name: row for row in known_schemes() if row.kind is Kind.QUIC}
    assert set(rows) == {"quic-bbr", "quic-copa", "quic-cubic"}
    assert rows["quic-copa"].source == f"COPA of {quic.CRATE} {quic.VERSION}, crates.io"


@pytest.mark.skipif(not quic.is_installed(), reason="run `ccgym schemes install quic-cubic`")
def test_quic_cubic_fills_a_link_of_real_mahimahi(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "up.yaml").write_text(EMULATOR)
    argv = ["eval", "--schemes", "quic-cubic", "--backend", "mahimahi", "--seconds", "4", "--json"]
    where = ["--emulators", f"file:{tmp_path / 'up.yaml'}", "--out", str(tmp_path / "out")]
    assert main([*argv, *where]) == 0
    (row,) = json.loads(capsys.readouterr().out)["scenarios"][0]["schemes"]
    assert 6 < row["throughput_mbps"] <= 12
