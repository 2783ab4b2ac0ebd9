"""`ccgym report` in every format."""

import csv
import json
import re
from pathlib import Path

import pytest
from ccgym.calibration.load_target import load_target
from ccgym.cli.main import main
from ccgym.envs.host.folder_lock import folder_lock

EMULATOR = (
    "emulators:\n  - {name: quick, delay_ms: 10, uplink: {rate_mbps: 12, queue: droptail, packets: 40}}\n"
)
STATISTICS = """-- Total of 1 flow:
Average capacity: {capacity_mbps:.2f} Mbit/s
Average throughput: {throughput_mbps:.2f} Mbit/s ({used:.1f}% utilization)
95th percentile per-packet one-way delay: {p95_delay_ms:.3f} ms
Loss rate: {lost:.2f}%
"""


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two schemes, two runs."""
    root = tmp_path_factory.mktemp("report")
    (root / "path.yaml").write_text(EMULATOR)
    argv = ["eval", "--schemes", "reno,copa", "--emulators", f"file:{root / 'path.yaml'}", "--runs", "2"]
    assert main([*argv, "--seconds", "2", "--out", str(root / "out")]) == 0
    return root / "out"


def test_eval_leaves_page_and_pdf(evaluated: Path) -> None:
    assert (evaluated / "report.html").is_file()
    assert (
        len(re.findall(rb"/Type /Page\b", (evaluated / "report.pdf").read_bytes())) == 4 + 4
    )  # and one per run


def test_every_format(evaluated: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(evaluated), "--format", "csv,txt", "--figures", "svg,png"]) == 0
    assert f"report: {evaluated}/report.csv" in capsys.readouterr().out
    with (evaluated / "report.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    summary = json.loads((evaluated / "summary.json").read_text())
    entries = summary["scenarios"][0]["schemes"]
    assert [float(row["throughput_mbps"]) for row in rows] == [each["throughput_mbps"] for each in entries]
    pictures = sorted(path.name for path in (evaluated / "figures" / "path" / "quick").iterdir())
    assert len(pictures) == 2 * (2 + 2 * 4)
    assert {"pantheon_summary_mean.svg", "copa_datalink_delay_run2.png"} <= set(pictures)
    text = (evaluated / "data" / "path" / "quick" / "report.txt").read_text()
    first = {name.removeprefix("pantheon_"): float(rows[0][name]) for name in rows[0] if "pantheon" in name}
    page = STATISTICS.format(used=100 * first["utilisation"], lost=100 * first["loss"], **first)
    assert page in text
    assert page in (evaluated / "data" / "path" / "quick" / "reno_stats_run1.log").read_text()


def test_the_text_is_a_target_of_calibration(evaluated: Path) -> None:
    assert main(["report", str(evaluated), "--format", "txt"]) == 0
    target = load_target(evaluated / "data" / "path" / "quick" / "report.txt")
    assert "copa" in target.schemes
    assert (target.seconds, target.flows) == (2.0, 1)
    assert all(measured.runs == 2 for measured in target.measured)


def test_an_unknown_format_is_one_line(evaluated: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["report", str(evaluated), "--format", "html,doc"])
    assert ended.value.code == 2
    assert "'doc' is none of html, pdf, csv, txt, json" in capsys.readouterr().err


def test_a_folder_in_the_place_of_the_page_is_named(
    evaluated: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = evaluated / "report.html"
    page.unlink(missing_ok=True)
    page.mkdir()
    try:
        assert main(["report", str(evaluated), "--format", "html"]) == 2
    finally:
        page.rmdir()
    assert capsys.readouterr().err == (
        f"ccgym report: {page}: Is a directory: choose another file or folder\n"
    )


def test_nothing_is_written_where_another_process_writes(
    evaluated: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with folder_lock(evaluated):
        assert main(["report", str(evaluated), "--format", "json"]) == 2
    assert "another ccgym writes there" in capsys.readouterr().err
