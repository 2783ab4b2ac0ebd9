"""`ccgym eval` and `ccgym report` as a user runs them, in the twin and in real mahimahi."""

import json
import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ccgym.cli.main import main
from ccgym.envs.logs.link_log import read_link_log
from ccgym.evaluation.run_files import read_merged_log
from ccgym.tests.processes import CCGYM, programs_in, wait_until

FIGURES = {
    "scheme",
    "run",
    "flow",
    "throughput_mbps",
    "p95_delay_ms",
    "mean_delay_ms",
    "p99_delay_ms",
    "loss",
    "pantheon_loss",
    "utilisation",
    "queueing_delay_ms",
}
ENDING_S = 120.0


@pytest.fixture
def emulators(tmp_path: Path) -> str:
    """A file of one emulator: 12 Mbit/s, 10 ms one way, 60 packets of queue."""
    path = tmp_path / "path.yaml"
    path.write_text(
        "emulators:\n- name: quick\n  delay_ms: 10\n  uplink: {rate_mbps: 12, queue: droptail, packets: 60}\n"
    )
    return f"file:{path}"


def test_eval_in_the_twin_writes_summary_and_report(
    tmp_path: Path, emulators: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    argv = ["eval", "--schemes", "copa,fixed:20", "--emulators", emulators, "--seconds", "2", "--runs", "2"]
    assert main([*argv, "--out", str(out), "--json"]) == 0
    captured = capsys.readouterr()
    summary = json.loads(captured.out)
    assert summary == json.loads((out / "summary.json").read_text())
    assert [line.split("]")[0] for line in captured.err.splitlines()] == [f"[{n}/4" for n in (1, 2, 3, 4)]
    assert summary["schema"] == 1
    (scenario,) = summary["scenarios"]
    assert (scenario["emulator"], scenario["backend"]) == ("path/quick", "twin")
    assert len(scenario["schemes"]) == 4
    assert all(set(entry) == FIGURES for entry in scenario["schemes"])
    assert {row["scheme"] for row in summary["table"]} == {"copa", "fixed-20"}
    assert (out / "report.html").stat().st_size > 1e6


def test_the_leaderboard_of_all_schemes_marks_those_that_cannot_run(
    tmp_path: Path, emulators: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    argv = ["eval", "--schemes", "all", "--emulators", emulators, "--seconds", "2", "--out", str(out)]
    assert main([*argv, "--no-logs", "--json"]) == 0
    captured = capsys.readouterr()
    table = {row["scheme"]: row for row in json.loads(captured.out)["table"]}
    assert {"copa", "cubic", "reno", "indigo", "indigo2", "kernel-bbr"} <= set(table)
    assert table["copa"]["mean_log_power"] is not None
    # Kernel TCP is not in the twin: a row that says so, and no failure of the evaluation.
    assert (table["kernel-bbr"]["mean_log_power"], table["kernel-bbr"]["failed_runs"]) == (None, 1)
    assert table["kernel-bbr"]["failure"].startswith(
        "cannot run here: scheme 'kernel-bbr' is not in the twin"
    )
    assert "1 run skipped: scheme &#39;kernel-bbr&#39;" in (out / "report.html").read_text()
    # ... nor a line for every run: one for each reason.
    refused = [line for line in captured.err.splitlines() if "kernel-bbr" in line]
    assert refused == ["not run: scheme 'kernel-bbr' is not in the twin, but with --backend mahimahi"]
    assert not list(out.rglob("*_datalink_*"))


def test_going_on_runs_nothing_twice(
    tmp_path: Path, emulators: str, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = ["eval", "--schemes", "fixed:20", "--emulators", emulators, "--seconds", "1"]
    assert main([*argv, "--out", str(tmp_path / "out")]) == 0
    capsys.readouterr()
    assert main([*argv, "--runs", "2", "--out", str(tmp_path / "out")]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "1 of 2 runs stand already"
    assert lines[1].startswith("[2/2] path/quick fixed-20 run 2: ")
    assert main(["report", str(tmp_path / "out"), "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["scenarios"][0]["schemes"]) == 2


@pytest.mark.parametrize(
    ("options", "wrong"),
    [
        (["--schemes", "nonsense"], "unknown scheme 'nonsense'; known: "),
        (["--emulators", "nowhere"], "unknown emulator 'nowhere'; known: "),
        (["--schemes", "kernel-bbr"], "scheme 'kernel-bbr' is not in the twin"),
        (["--seconds", "0"], "'0' is not a time from 1 to 3600 s"),
        (["--runs", "0"], "'0' is not a whole number from 1"),
        (["--flows", "0"], "'0' is not a whole number from 1"),
        (["--interval", "-1"], "'-1' is not a time from 0 to 3600 s"),
        (["--flows", "4", "--interval", "10"], "the last flow of fixed-20 would begin after 30 s"),
        (["--seed", "-1"], "'-1' is not a whole number from 0"),
        (["--backend", "moon"], "invalid choice: 'moon'"),
    ],
)
def test_mistakes_write_nothing(tmp_path: Path, emulators: str, options: list[str], wrong: str) -> None:
    argv = [
        "eval",
        "--schemes",
        "fixed:20",
        "--emulators",
        emulators,
        "--out",
        str(tmp_path / "out"),
        *options,
    ]
    done = subprocess.run([*CCGYM, *argv], capture_output=True, text=True, timeout=ENDING_S, check=False)
    assert done.returncode == 2
    assert wrong in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_missing_mahimahi_is_told(
    tmp_path: Path, emulators: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    argv = ["eval", "--schemes", "fixed:20", "--emulators", emulators, "--backend", "mahimahi"]
    assert main([*argv, "--out", str(tmp_path / "out")]) == 2
    complaint = capsys.readouterr().err
    assert "mm-delay not found; mend it: sudo " in complaint
    assert "`ccgym doctor`" in complaint
    assert not (tmp_path / "out").exists()


def test_report_of_no_data_directory(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(tmp_path)]) == 2
    assert "neither session.json (of `ccgym eval`) nor pantheon_metadata.json" in capsys.readouterr().err


def test_report_names_a_broken_log(
    tmp_path: Path, emulators: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    argv = ["eval", "--schemes", "fixed:20", "--emulators", emulators, "--seconds", "1", "--out", str(out)]
    assert main(argv) == 0
    log = out / "data" / "path" / "quick" / "fixed-20_datalink_run1.log"
    lines = log.read_text().splitlines()
    lines[41] = "oops"
    log.write_text("\n".join(lines) + "\n")
    assert main(["report", str(out)]) == 2
    assert f"{log}:42: 'oops'" in capsys.readouterr().err


def evaluated(command: list[str], capsys: pytest.CaptureFixture[str]) -> Any:
    """What it prints; it goes on where a flow was broken off, which happens on a crowded machine."""
    for _ in range(3):
        code, told = main(command), capsys.readouterr()
        if "nothing was answered" not in told.err:
            break
    assert code == 0, told.err
    return json.loads(told.out)


def test_eval_in_real_mahimahi_writes_data_and_report(
    tmp_path: Path, emulators: str, write_policy: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    policy = write_policy(tmp_path / "learner.safetensors")
    out = tmp_path / "out"
    argv = ["eval", "--schemes", f"fixed:40,policy:{policy},kernel-reno", "--emulators", emulators]
    report = evaluated(
        [*argv, "--backend", "mahimahi", "--seconds", "2", "--out", str(out), "--json"], capsys
    )
    entries = {entry["scheme"]: entry for entry in report["scenarios"][0]["schemes"]}
    assert set(entries) == {"fixed-40", "learner", "kernel-reno"}
    # 40 packets on a round trip of 20 ms keep 12 Mbit/s busy; the band is wide for a crowded machine.
    assert 0.3 < entries["fixed-40"]["utilisation"] <= 1
    assert 0.3 < entries["kernel-reno"]["utilisation"] <= 1
    folder = out / "data" / "path" / "quick"
    for scheme in entries:
        for kind in ("datalink", "acklink", "mm_datalink", "mm_acklink", "stats"):
            assert (folder / f"{scheme}_{kind}_run1.log").is_file()
    acks = read_merged_log(folder / "fixed-40_acklink_run1.log").flows[1]
    assert acks.departure_bytes.max() < 100
    assert acks.departure_delay_ms.min() >= 10


def test_flows_that_share_a_link_in_real_mahimahi(
    tmp_path: Path, emulators: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    argv = ["eval", "--schemes", "fixed:20+kernel-reno", "--flows", "3", "--interval", "1", "--seconds", "4"]
    real = ["--emulators", emulators, "--backend", "mahimahi", "--out", str(out), "--json"]
    assert main([*argv, *real]) == 0
    *flows, together = json.loads(capsys.readouterr().out)["scenarios"][0]["schemes"]
    assert [flow["flow_scheme"] for flow in flows] == ["fixed-20", "kernel-reno", "fixed-20"]
    assert [flow["begins_s"] for flow in flows] == pytest.approx([0, 1, 2], abs=0.5)
    assert {flow["scheme"] for flow in [*flows, together]} == {"fixed-20+kernel-reno"}
    assert together["flow"] == "all"
    # 40 packets of two fixed windows alone keep 12 Mbit/s busy over 20 ms; a crowded machine has less.
    assert 0.3 < together["utilisation"] <= 1
    # No packet is quicker than light: 10 ms.
    assert min(flow["mean_delay_ms"] for flow in flows) >= 10
    bits = sum(flow["throughput_mbps"] * (4 - flow["begins_s"]) for flow in flows)
    assert bits == pytest.approx(4 * together["throughput_mbps"], rel=0.25)
    assert all(1 / 3 <= index <= 1 for index in together["jain_over_time"]["index"])
    merged = (out / "data" / "path" / "quick" / "fixed-20+kernel-reno_datalink_run1.log").read_text()
    assert {line.split()[-1] for line in merged.splitlines() if " + " in line} == {"1", "2", "3"}
    # Both ends' captures tell every packet apart that the link saw, those of one burst as well.
    link = read_link_log(out / "data" / "path" / "quick" / "fixed-20+kernel-reno_mm_datalink_run1.log")
    delivered = len(link.without_background().departure_ms)
    assert 0.97 * delivered <= merged.count(" - ") <= 1.01 * delivered
    assert main(["report", str(out), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["scenarios"][0]["schemes"] == [*flows, together]


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT])
def test_cut_off_in_mahimahi_leaves_nothing_and_goes_on(
    tmp_path: Path, open_folder: Path, emulators: str, ending: signal.Signals
) -> None:
    out = tmp_path / "out"
    argv = ["eval", "--schemes", "kernel-reno,fixed:40", "--emulators", emulators, "--backend", "mahimahi"]
    command = [*CCGYM, *argv, "--seconds", "3", "--out", str(out)]
    staging = open_folder  # its own folder for temporary files tells this run's shells from those of others
    environment = {**os.environ, "TMPDIR": str(staging)}
    evaluation = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    assert evaluation.stderr is not None
    try:
        first_line = evaluation.stderr.readline()
        wait_until(lambda: bool(list(staging.glob("*/ready"))), "the second run's shells", ENDING_S)
        evaluation.send_signal(ending)
        assert evaluation.wait(ENDING_S) == 128 + ending
    finally:
        evaluation.kill()
    assert first_line.startswith("[1/2] ")
    assert "Mbit/s" in first_line, first_line
    assert list(staging.iterdir()) == []
    assert programs_in(staging) == []
    assert not (out / "summary.json").exists()
    again = subprocess.run(command, capture_output=True, text=True, timeout=2 * ENDING_S, check=True)
    assert again.stderr.startswith("1 of 2 runs stand already\n[2/2] ")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--seconds", "3600"], "fast/small for 3600 s would take about 450.0 GB"),
        (
            ["--runs", "999999", "--seconds", "1", "--schemes", "copa,cubic"],
            "1999998 runs of 1 flows: at most",
        ),
        (["--flows", "5000", "--seconds", "1"], "1 runs of 5000 flows: at most"),
        (["--runs", "1000000000"], "is not a whole number from 1 to 999999"),
    ],
)
def test_what_fits_into_no_machine_is_refused_with_the_estimate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    file = tmp_path / "fast.yaml"
    file.write_text("emulators: [{name: small, delay_ms: 1, uplink: {rate_mbps: 10000}}]")
    command = ["eval", "--schemes", "cubic", "--emulators", f"file:{file}", "--out", str(tmp_path / "out")]
    try:
        code = main([*command, *arguments])
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    assert code == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("option", [["--ntp", "pool.ntp.org"], ["--direction", "up"]])
def test_what_only_a_real_path_has_is_refused_for_emulators(
    option: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    argv = ["eval", "--schemes", "copa", "--emulators", "calibrated/india", "--seconds", "1", *option]
    assert main([*argv, "--out", str(out)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"{option[0]}: only a real path has it" in line
    assert not out.exists()


@pytest.mark.parametrize("backend", ["twin", "mahimahi"])
def test_a_real_path_takes_no_backend(
    backend: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    argv = ["eval", "--schemes", "copa", "--remote", "host:dir", "--backend", backend, "--out", str(out)]
    assert main(argv) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "--backend: a real path has none" in line
    assert not out.exists()
