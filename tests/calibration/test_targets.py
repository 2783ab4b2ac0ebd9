"""What was measured is read from whatever holds it, and what cannot be measured is told in one line."""

import json
from pathlib import Path

import pytest
from ccgym.calibration.load_target import load_target
from ccgym.calibration.target import check_target
from ccgym.cli.main import main
from ccgym.envs.errors import InputError

REPORTS = Path(__file__).parents[3] / "shared" / "seeds"

TABLE = """\
scheme,throughput_mbps,p95_delay_ms,loss
copa,3.95,39.9,0.0004
cubic,13.73,174.1,0.003
vegas,4.07,168.2,0.0003
bbr,12.86,232.8,0.0029
FillP,16.4,540,0.01
"""

REPORT = """Pantheon Report

Each test lasted for 20 seconds running 1 flow.

Run 1: Statistics of TCP BBR

-- Total of 1 flow:

Average throughput: 11.05 Mbit/s (85.7% utilization)

95th percentile per-packet one-way delay: 262.787 ms
Loss rate: 0.58}

-- Flow 1:
Average throughput: 99 Mbit/s
Run 2: Statistics of TCP BBR
-- Total of 1 flow:
Average throughput: 12.95 Mbit/s
95th percentile per-packet one-way delay: 237.213 ms
Loss rate: 0.20%
Run 1: Statistics of TCP Cubic
-- Total of 1 flow:
Average throughput: 13 Mbit/s
Run 1: Statistics of QUIC Cubic
-- Total of 1 flow:
Average throughput: 13 Mbit/s
95th percentile per-packet one-way delay: 237.213 ms
Loss rate: 0.20%
"""


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_a_table_gives_a_row_for_each_scheme_of_the_stable(tmp_path: Path) -> None:
    target = load_target(written(tmp_path, "path.csv", TABLE))
    assert target.schemes == ["copa", "cubic", "vegas", "bbr"]
    assert target.measured[1].throughput_mbps == 13.73
    assert target.left_out == {"FillP": "not among our schemes"}


def test_a_table_in_yaml_says_the_same_with_spreads(tmp_path: Path) -> None:
    text = "copa: {throughput_mbps: 4, p95_delay_ms: 40, throughput_spread_mbps: 0.6, runs: 9}\n"
    row = load_target(written(tmp_path, "path.yaml", text)).measured[0]
    assert row.throughput_error == pytest.approx(0.2)
    assert (row.delay_error, row.loss, row.runs) == (None, None, 9)


def test_a_report_gives_the_means_of_its_readable_runs(tmp_path: Path) -> None:
    target = load_target(written(tmp_path, "report.txt", REPORT))
    (bbr,) = target.measured
    assert (bbr.scheme, bbr.controller, bbr.runs) == ("TCP BBR", "bbr", 2)
    assert (bbr.throughput_mbps, bbr.p95_delay_ms, bbr.loss) == pytest.approx((12.0, 250.0, 0.0039))
    assert target.seconds == 20
    assert set(target.left_out) == {"QUIC Cubic", "1 runs"}


@pytest.mark.parametrize(
    ("flows", "told"),
    [
        ("999999999 flows", "999999999 flows; expected 1 to 1000"),
        (
            "3 flows with 10-second interval between two flows",
            "the last of 3 flows would begin after 20 s of a test of 20 s",
        ),
    ],
)
def test_flows_that_no_test_has_are_refused(flows: str, told: str, tmp_path: Path) -> None:
    target = load_target(written(tmp_path, "report.txt", REPORT.replace("1 flow.", f"{flows}.")))
    with pytest.raises(InputError, match=told):
        check_target(target, few=True)


def test_perf_json_of_pantheon_gives_the_means_of_its_runs(tmp_path: Path) -> None:
    runs = {str(n): {"all": {"tput": n, "delay": 10 * n, "loss": 0.01}, "1": {}} for n in (1, 2, 3)}
    content = json.dumps({"bbr": runs, "fillp": runs, "copa": {**runs, "4": None}})
    target = load_target(written(tmp_path, "pantheon_perf.json", content))
    assert [(row.controller, row.throughput_mbps, row.p95_delay_ms) for row in target.measured] == [
        ("bbr", 2, 20),
        ("copa", 2, 20),
    ]
    assert set(target.left_out) == {"fillp", "1 runs"}


def test_runs_of_an_archive_in_which_nothing_came_through_are_left_out(tmp_path: Path) -> None:
    runs = {str(n): {"all": {"tput": n, "delay": 10 * n, "loss": 0.01}, "1": {}} for n in (0, 2, 4)}
    perf = load_target(written(tmp_path, "pantheon_perf.json", json.dumps({"bbr": runs})))
    report = load_target(written(tmp_path, "report.txt", REPORT.replace("11.05", "0.00")))
    assert [(row.throughput_mbps, row.runs) for row in (*perf.measured, *report.measured)] == [
        (3.0, 2),
        (12.95, 1),
    ]
    assert perf.left_out == {"1 runs": "without figures, or nothing came through"}
    assert report.left_out["2 runs"] == "without figures, or nothing came through"


@pytest.mark.skipif(not REPORTS.is_dir(), reason="the published reports are not on this machine")
def test_published_reports_are_read_as_they_stand() -> None:
    cellular = load_target(next(REPORTS.glob("000*")))
    means = {row.scheme: (row.throughput_mbps, row.p95_delay_ms) for row in cellular.measured}
    assert means["TCP Cubic"] == pytest.approx((13.73, 174.08), abs=0.01)
    assert means["PCC-Vivace"] == pytest.approx((2.17, 23.90), abs=0.01)
    assert len(means) == 9
    verizon = load_target(next(REPORTS.glob("001*")))
    assert verizon.schemes == ["TCP BBR", "PCC-Allegro"]
    with pytest.raises(InputError, match="--few"):
        check_target(verizon, few=False)


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("empty.csv", " \n", "empty"),
        ("names.csv", TABLE.replace("cubic", "copa"), "copa is named twice"),
        ("capitals.csv", TABLE.replace("cubic", "Copa"), "Copa is named twice"),
        (
            "names.yaml",
            "copa: {throughput_mbps: 1, p95_delay_ms: 9}\ncopa: {}\n",
            "copa stands twice",
        ),
        ("delay.csv", TABLE.replace("39.9", "-3"), "offset between the clocks"),
        ("rate.csv", TABLE.replace("13.73", "13730000"), "highest rate of an emulator"),
        ("loss.csv", TABLE.replace("0.0029", "2.9"), "expected a share"),
        ("lost.csv", TABLE.replace("0.0029", "1"), "loss 1, all, with throughput"),
        ("seconds.csv", TABLE.replace("39.9", "0.0399"), "expected ms, not s"),
        ("kilobits.csv", TABLE.replace("13.73", "7000"), "are both in Mbit/s?"),
        ("microseconds.csv", TABLE.replace("168.2", "41000"), "are both in ms?"),
        ("nothing.csv", TABLE.replace("13.73", "0.0001"), "less than a packet"),
        ("zero.csv", TABLE.replace("13.73,174.1", "0,0"), "nothing came through; leave the scheme out"),
        ("wide.csv", TABLE.replace("13.73", "13.73,9,9,9,9,9"), "more than the"),
        ("truth.yaml", "copa: {throughput_mbps: true, p95_delay_ms: 9}\n", "expected a number"),
        ("runs.yaml", "copa: {throughput_mbps: 1, p95_delay_ms: 9, runs: 2.5}\n", "expected a whole number"),
        (
            "column.csv",
            TABLE.replace(",loss", ",throughput_mbps"),
            "column 'throughput_mbps' twice",
        ),
        (
            "spread.yaml",
            "copa: {throughput_mbps: 1, p95_delay_ms: 9, p95_delay_spread_ms: 1e200}\n",
            "p95_delay_spread_ms 1e+200 is above 1000 times the mean",
        ),
        ("words.csv", TABLE.replace("13.73", "fast"), "expected a number as throughput_mbps"),
        ("foreign.csv", "scheme,throughput_mbps,p95_delay_ms\nFillP,1,20\n", "nothing in common"),
        ("short.csv", "\n".join(TABLE.splitlines()[:4]), "--few"),
        ("columns.csv", "cc,tput\nbbr,1\n", "expected scheme"),
        ("cut.json", '{"bbr": {"1": {"all"', "not a readable JSON"),
        ("other.txt", "lorem ipsum", "neither a report"),
        ("report.txt", REPORT[:100], "without a readable run"),
        ("dots.txt", REPORT.replace("237.213", "237..213"), "say --few"),
        ("twice.txt", REPORT.replace("Run 2: ", "Run 1: "), "stands twice"),
    ],
)
def test_a_wrong_target_is_told_in_one_line(
    name: str, text: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = written(tmp_path, name, text)
    assert main(["calibrate", "--target", str(target), "--out", str(tmp_path / "found.yaml")]) == 2
    error = capsys.readouterr().err
    assert told in error
    assert error.count("\n") == 1
    assert not list(tmp_path.glob("found*"))


def test_schemes_of_a_data_directory_run_as_they_were_asked_for(tmp_path: Path) -> None:
    asked = ["fixed:40", "copa:0.1", "indigo2:0.7", "kernel-cubic"]
    session = evaluated(tmp_path, "fixed:40,copa:0.1,indigo2:0.7,cubic")
    of_kernel = session.read_text().replace('"cubic"', '"kernel-cubic"')
    session.write_text(of_kernel)  # as real shells would have measured it
    for file in list(tmp_path.rglob("cubic_*")):
        file.rename(file.with_name(f"kernel-{file.name}"))
    target = load_target(tmp_path / "runs")
    assert not target.left_out
    controllers = dict(zip(asked, (row.controller for row in target.measured), strict=True))
    assert controllers["fixed:40"] == "fixed:40"
    assert controllers["copa:0.1"] == "copa:0.1"
    assert controllers["indigo2:0.7"].endswith(":0.7")
    assert controllers["kernel-cubic"] == "cubic"


def evaluated(folder: Path, schemes: str) -> Path:
    """The session of an evaluation of these."""
    command = ["eval", "--schemes", schemes, "--emulators", "calibrated/nepal", "--seconds", "2"]
    assert main([*command, "--runs", "1", "--out", str(folder / "runs")]) == 0
    return folder / "runs" / "session.json"
