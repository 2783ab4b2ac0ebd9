"""The experiments of published documents: lines of theirs beside ours, and the page of all."""

import json
from pathlib import Path

import numpy as np
import pytest
from ccgym.bench import ns3
from ccgym.cli.main import main
from ccgym.envs.errors import OutsideError
from ccgym.evaluation.metrics.results import load_evaluation
from ccgym.experiments.calibration.ablation import STEPS, Ablation
from ccgym.experiments.catalogue import PUBLICATIONS, Entry
from ccgym.experiments.joining_flows import jain_over_time
from ccgym.experiments.publications import (
    calibration_benefit,
    copa_fairness,
    copa_pantheon,
    everything,
    pantheon_paper,
    verizon_lte,
)
from ccgym.experiments.publications.page import page
from ccgym.experiments.publications.reproduction import (
    Line,
    Reproduction,
    ReproductionOptions,
    reproduction_lines,
)


def options(folder: Path) -> ReproductionOptions:
    return ReproductionOptions("twin", True, folder)


def test_every_metric_of_the_page_of_ccperf_has_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ns3, "_HEADER", tmp_path / "none.h")  # to compile it takes its time
    main(["reproduce", "replay-rate-trace", "--quick", "--json", "--out", str(tmp_path)])
    printed = json.loads(capsys.readouterr().out)
    lines = {line["what"].split(" ")[0]: line for line in printed["lines"]}
    assert len(lines) == 22
    assert "in ns-3 here: not run: ns-3 is not installed" in printed["notes"][1]
    held = ("mean_throughput_l4", "mean_srtt_l4", "mean_cwnd_l4", "mean_in_flight_l4", "mean_idt_ewma_l4")
    assert all(lines[name]["met"] for name in held)
    assert (tmp_path / "replay-rate-trace.svg").is_file()


def test_another_trace_is_run_without_a_verdict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trace = tmp_path / "even.trace"
    trace.write_text("".join(f"{ms}\n" for ms in range(10, 1001, 10)))  # 1.2 Mbit/s
    argv = ["reproduce", "replay-rate-trace", "--quick", "--json", "--out", str(tmp_path / "out")]
    assert main([*argv, "--trace", str(trace), "--scheme", "copa"]) == 0
    lines = {line["what"].split(" ")[0]: line for line in json.loads(capsys.readouterr().out)["lines"]}
    assert all(line["met"] is None for line in lines.values())
    assert float(lines["mean_throughput_l4"]["ours"].split()[0]) == pytest.approx(1.1, abs=0.15)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--trace", "slow.trace"], "--trace slow.trace: no flow to measure"),
        (["--scheme", "cubic,copa"], "--scheme cubic,copa: the experiment runs one scheme"),
    ],
)
def test_a_trace_without_a_flow_and_two_schemes_are_refused_in_a_line(
    arguments: list[str],
    complaint: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("slow.trace").write_text("60000\n")
    assert main(["reproduce", "replay-rate-trace", "--quick", *arguments, "--out", "out"]) == 2
    assert complaint in capsys.readouterr().err


@pytest.mark.parametrize("experiment", ["replay-rate-trace", "copa-fairness", "verizon-lte"])
def test_a_cluster_is_refused_where_no_cluster_runs(
    experiment: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["reproduce", experiment, "--ray", "auto"])
    assert "unrecognized arguments: --ray" in capsys.readouterr().err


def test_copa_shares_a_link_as_its_paper_says() -> None:
    runner = copa_fairness._runner(options(Path()))
    delivered = runner(copa_fairness.BASE, "copa", 1)
    assert 0.90 <= np.median(jain_over_time(copa_fairness.BASE, delivered)) <= 0.99
    lines, _ = copa_fairness._alone(runner, in_twin=True)
    shares = {line.what: float(line.ours.rstrip("%")) for line in lines}
    assert shares["Copa's flows together: of the link"] >= 90
    # A clock of 1 ms costs a single flow what exact times give back.
    assert 70 <= shares["one Copa flow, clock of 1 ms: of the link"] <= 95
    assert shares["one Copa flow, exact times: of the link"] >= 97


def test_copas_table_of_any_archive(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["eval", "--schemes", "copa,cubic", "--emulators", "field", "--seconds", "3"]
    assert main([*argv, "--out", str(tmp_path / "evaluation")]) == 0
    capsys.readouterr()
    table = ["reproduce", "copa-pantheon", "--archive", str(tmp_path / "evaluation"), "--json"]
    assert main([*table, "--out", str(tmp_path / "table")]) == 0
    lines = {
        line["what"].split(":")[0]: line["ours"] for line in json.loads(capsys.readouterr().out)["lines"]
    }
    assert set(lines) == {"copa", "cubic"}
    shares = {scheme: float(text.split()[0]) for scheme, text in lines.items()}
    assert max(shares.values()) == 1
    queues = {scheme: float(text.split()[-1]) for scheme, text in lines.items()}
    assert 0 < queues["copa"] < queues["cubic"] < 62


STARVED = """emulators:
- name: dead
  delay_ms: 20
  uplink: {rate_mbps: 12, loss: 1.0}
"""


def test_an_archive_in_which_everybody_starves_has_neither_shares_nor_delays(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "dead.yaml").write_text(STARVED)
    argv = ["eval", "--schemes", "copa,bbr", "--emulators", f"file:{tmp_path}/dead.yaml", "--seconds", "2"]
    assert main([*argv, "--out", str(tmp_path / "dead")]) == 0
    argv[4:] = ["field", "--seconds", "2"]
    assert main([*argv, "--out", str(tmp_path / "alive")]) == 0
    both = copa_pantheon.averages(load_evaluation(tmp_path / name) for name in ("dead", "alive"))
    assert both == copa_pantheon.averages([load_evaluation(tmp_path / "alive")])
    capsys.readouterr()
    table = ["reproduce", "copa-pantheon", "--archive", str(tmp_path / "dead"), "--json"]
    assert main([*table, "--out", str(tmp_path / "table")]) == 0
    assert {line["ours"] for line in json.loads(capsys.readouterr().out)["lines"]} == {"- / -"}


def test_the_emulators_error_stands_beside_that_of_chance(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["reproduce", "california-stanford", "--quick", "--json", "--out", str(tmp_path)])
    lines = {line["what"]: line for line in json.loads(capsys.readouterr().out)["lines"]}
    errors = {what.split(":")[0]: line["ours"] for what, line in lines.items() if "by chance" in what}
    assert len(errors) == 9
    assert errors["TCP Vegas"].endswith("/ 36%"), "its three runs differ by a factor of 10"
    mean = lines["mean error of the emulator over 9 schemes"]
    assert "by chance, whatever the emulator: 12%" in mean["why"]
    shares = [float(text.partition("%")[0]) for text in errors.values()]
    assert float(mean["ours"].rstrip("%")) == pytest.approx(np.mean(shares), abs=1)


def test_traces_that_are_missing_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CCGYM_TRACES", raising=False)
    assert main(["reproduce", "verizon-lte", "--out", str(tmp_path)]) == 2
    with pytest.raises(ValueError, match="set CCGYM_TRACES"):
        verizon_lte.reproduce(options(tmp_path))


def test_neighbours_of_a_path_differ_in_one_parameter_by_a_fifth() -> None:
    wired, cellular = (
        [each.spec for each in calibration_benefit.neighbours(truth, name)]
        for name, truth in calibration_benefit.PATHS.items()
    )
    assert [spec.uplink.rate_mbps for spec in wired] == pytest.approx(
        [62.176, *[77.72] * 3, 93.264, *[77.72] * 3]
    )
    assert [spec.delay_ms for spec in wired] == [51, 41, 51, 51, 51, 61, 51, 51]
    assert [spec.uplink.packets for spec in wired] == [94, 94, 75, 94, 94, 94, 113, 94]
    assert len(cellular) == 6, "no loss has no neighbours"


def test_what_each_parameter_of_an_emulator_is_worth_stands_beside_the_papers_figures() -> None:
    errors = {"china": (2.0, 1.9, 0.3, 0.05, 0.05), "colombia": (0.8, 0.6, 0.1, 0.1, 0.12)}
    found = [
        Ablation(path, step, error)
        for path, of_steps in errors.items()
        for step, error in zip(STEPS, of_steps, strict=True)
    ]
    lines = {line.what: line for line in pantheon_paper._parameter_lines(found, checked=True)}
    queue = lines["China, wired: error with + queue, %"]
    assert (queue.theirs, queue.ours) == ("32.3", "30.0")
    assert lines["China, wired: no parameter more makes the error larger (figure 5)"].met
    assert not lines["Colombia, cellular: no parameter more makes the error larger (figure 5)"].met


def test_an_experiment_that_fails_is_named_on_the_page_of_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def reproduced(entry: Entry, how: ReproductionOptions) -> Reproduction:
        if entry is PUBLICATIONS["copa-fairness"]:
            raise OutsideError("a worker was killed")
        if entry is PUBLICATIONS["verizon-lte"]:
            raise ZeroDivisionError("float division by zero")
        return Reproduction("Title", "document 9", [Line("a", "1", "1", "<= 0.2", True)])

    monkeypatch.setattr(everything, "reproduced", reproduced)
    file = tmp_path / "page.md"
    assert main(["reproduce", "all", "--quick", "--out", str(tmp_path / "runs"), "--page", str(file)]) == 1
    text = file.read_text()
    assert "| `copa-fairness` | | not done: a worker was killed | |" in text
    assert "| `verizon-lte` | | not done: ZeroDivisionError: float division by zero | |" in text
    assert "Traceback" in capsys.readouterr().err
    assert text.count("| 1 of 1 |") == len(PUBLICATIONS) - 2


def test_the_page_has_every_line_and_says_what_was_not_done() -> None:
    lines = [Line("a | b", "1", "1.1", "<= 0.2", True), Line("c", "2", "3", "<= 0.2", False, "because")]
    done = Reproduction("Title", "document 9", [*lines, Line("d", "-", "4")])
    assert not done.met
    assert reproduction_lines(done)[-1] == "1 of 2 tolerances met"
    text = page({"one": done, "two": "no traces"}, {"one": ["p/x.svg"]}, {"one": 61.0}, "ccgym reproduce all")
    assert "| [`one`](#one) | a \\| b | 1 | 1.1 | <= 0.2 | met |" in text
    assert "| [`one`](#one) | c | 2 | 3 | <= 0.2 | MISSED: because |" in text
    assert "| d | 4 |  |" in text, "ours alone"
    assert "1 of 2 stated tolerances are met" in text
    assert "| `two` | | not done: no traces | |" in text
    assert "![x](p/x.svg)" in text
