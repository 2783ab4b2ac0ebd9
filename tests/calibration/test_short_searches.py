"""However short its time, a search has an answer."""

from pathlib import Path

from ccgym.cli.main import main

TABLE = "scheme,throughput_mbps,p95_delay_ms,loss\ncopa,4.6,45,0\ncubic,5,139,0\nvegas,5,32,0\nreno,5,138,0\n"


def test_a_search_of_no_time_gives_what_the_measurements_say_alone(tmp_path: Path) -> None:
    (tmp_path / "path.csv").write_text(TABLE)
    command = ["calibrate", "--target", str(tmp_path / "path.csv"), "--out", str(tmp_path / "found.yaml")]
    assert main([*command, "--minutes", "0.0001"]) == 0
    assert "rate_mbps" in (tmp_path / "found.yaml").read_text()
