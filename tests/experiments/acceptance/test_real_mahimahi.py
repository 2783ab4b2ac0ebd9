"""What a policy holds in real mahimahi: the arithmetic of its checks, and a few short runs in real shells."""

import io
import json
import re
from collections.abc import Sequence
from contextlib import redirect_stderr
from pathlib import Path

import pytest
from ccgym.agents.shipped import policy_path
from ccgym.cli.main import main
from ccgym.envs.specs.emulators import EmulatorSpec
from ccgym.evaluation.host_load import write_others_cores
from ccgym.evaluation.run_files import RunFiles
from ccgym.experiments.acceptance import evidence, real_mahimahi
from ccgym.experiments.acceptance.real_bars import (
    BARS,
    BBR,
    FIELD_EMULATOR,
    Bar,
    Contest,
    against,
    beside_cubic,
    in_field,
)
from ccgym.experiments.acceptance.real_results import (
    CONTESTED,
    RIVALS,
    contest_of,
    policy_label,
    read_results,
)

BAR = Bar("calibrated/india", BBR, 1.0, 0.9)
CELL = "calibrated/nepal"


@pytest.mark.parametrize(
    ("ours", "theirs", "met"),
    [
        ([(10.4, 40), (10.5, 40), (10.6, 41)], [(10, 50), (10, 50), (10, 50)], True),
        ([(10, 40), (11, 40), (10, 41)], [(10, 50), (10, 50), (10, 50)], None),  # a run of three
        ([(10.4, 40), (10.5, 40), (10.6, 41)], [(10, 50), (10, 50), (10, 45)], None),  # 0.91 in the last run
        ([(10, 40), (9, 40), (10, 40)], [(10, 50), (10, 50), (10, 50)], None),
        ([(9, 40), (9, 40), (9, 40)], [(10, 50), (10, 50), (10, 50)], False),
        ([(10, 48), (10, 49), (10, 47)], [(10, 50), (10, 50), (10, 50)], False),
        ([(5, 20), (20, 80), (10, 40)], [(5, 25), (20, 100), (10, 50)], True),  # run by run
        ([(10, 40)], [(10, 50)], None),  # of one run nobody knows
    ],
)
def test_a_rival_is_compared_run_by_run(
    ours: Sequence[tuple[float, float]], theirs: Sequence[tuple[float, float]], met: bool | None
) -> None:
    assert against(BAR, ours, theirs).met is met


def test_the_figures_stand_in_a_check() -> None:
    check = against(BAR, [(20, 40), (22, 44), (21, 42)], [(10, 50), (10, 50), (10, 50)])
    assert check.wanted == ">= 100% of its throughput at <= 0.9 x its p95"
    assert check.measured == (
        # Student's t of three: 4.303 x 10 % / sqrt(3) = 24.8 %.
        "210.0% (185.2% to 234.8%) of its throughput at 0.84 (0.74 to 0.94) x its p95; "
        "21.00 Mbit/s at 42 ms, 3 runs each"
    )
    alone = against(Bar("cellular/verizon-lte", BBR, 0.0, 0.22), [(1, 10)], [(9, 100)])
    assert (alone.wanted, alone.measured) == (
        "<= 0.22 x its p95",
        "0.10 x its p95; 1.00 Mbit/s at 10 ms, 1 run each",
    )


def test_plain_figures_and_shares_have_intervals_too() -> None:
    assert in_field([(11.95, 34), (11.96, 34.5), (11.97, 35)]).met is True
    assert in_field([(11.9, 35), (11.8, 35), (11.92, 35)]).met is None
    assert in_field([(11.9, 40), (11.95, 39), (11.92, 41)]).met is False
    shares = {
        (0.45, 0.5, 0.55): True,
        (0.31, 0.69): None,
        (0.2, 0.5, 0.4): None,
        (0.1, 0.12, 0.14): False,
        (0.78, 0.8, 0.82): False,
    }
    for runs, met in shares.items():
        assert beside_cubic("field", [Contest(share, 0.99) for share in runs]).met is met


def test_the_second_half_of_a_contested_run_counts(tmp_path: Path) -> None:
    log = tmp_path / "contested.log"
    lines = ["# init timestamp: 0.000"]
    for ms in range(100, 4101):
        lines.append(f"{ms}.000 # 1500")
        for flow, every_ms in ((1, 2), (2, 2 if ms < 2100 else 6)):
            if ms % every_ms == 0:
                lines += [f"{ms}.000 + 1500 {flow}", f"{ms}.000 - 1500 20.000 {flow}"]
    log.write_text("\n".join(lines) + "\n")
    contest = contest_of(log, start_ms=100.0, seconds=4.0)
    # A packet in 2 ms beside one in 6, over an opportunity a ms; as many of both before do not count.
    assert contest.share == pytest.approx(1 / 4, abs=0.001)
    assert contest.used == pytest.approx(1 / 2 + 1 / 6, abs=0.001)


def with_few_cells(patch: pytest.MonkeyPatch) -> None:
    """Four runs are all there is."""
    patch.delenv("CCGYM_TRACES", raising=False)
    patch.delitem(RIVALS, "calibrated")
    patch.setitem(RIVALS, CELL, (BBR,))
    few = real_mahimahi.contested_emulators()[:1]
    patch.setattr(real_mahimahi, "contested_emulators", lambda: few)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where `indigo2` has been run once over few cells."""
    out = tmp_path_factory.mktemp("real") / "runs"
    with pytest.MonkeyPatch.context() as patch:
        with_few_cells(patch)
        code, said = carried_out(out)
        assert code == 1, f"of one run no check is sure: {said}"
    return out


def carried_out(out: Path) -> tuple[int, str]:
    """The exit code and what was told, once no flow began too late: a link may drop its first packets."""
    told = io.StringIO()
    for _ in range(5):
        before = told.tell()
        with redirect_stderr(told):
            code = main(command(out))
        if "(the flow lasted " not in told.getvalue()[before:]:
            break
    return code, told.getvalue()


@pytest.fixture
def runs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same, for who reads it or goes on."""
    with_few_cells(monkeypatch)
    return folder


def command(out: Path, *more: str) -> list[str]:
    return ["reproduce", "real-mahimahi", "--runs", "1", "--seconds", "3", "--out", str(out), *more]


def test_the_cells_are_run_and_checked(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(command(runs, "--json")) == 1
    output = capsys.readouterr()
    lines = output.err.splitlines()
    assert lines[0].startswith("0 runs one after the other, about 0 minutes; without recorded cellular links")
    assert lines[1:] == ["4 of 4 runs stand already"]
    checks = {check["name"]: check for check in json.loads(output.out)["checks"]}
    assert list(checks) == [
        "real mahimahi, field/12mbps-30ms-90kb",
        "real mahimahi, calibrated/nepal: against kernel-bbr",
        "real mahimahi, field/12mbps-30ms-90kb: beside one kernel-cubic",
    ]
    assert all(check["met"] is None and "1 run" in check["measured"] for check in checks.values())
    shared = checks["real mahimahi, field/12mbps-30ms-90kb: beside one kernel-cubic"]["measured"]
    share, used = (float(part.split("%")[0]) for part in shared.split(", ")[:2])
    # Two flows that both send; a crowded machine has less than the whole link.
    assert 0 < share < 100
    assert 30 < used <= 101


def test_what_is_missing_is_run_again_alone(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = RunFiles(runs / CELL / "data" / CELL, BBR, 1)
    files.statistics.unlink()
    files.data_log.unlink()
    assert main(["reproduce", "evidence", "--real-mahimahi", str(runs)]) == 2
    assert capsys.readouterr().err == (
        f"ccgym reproduce: {runs}: runs of {CELL} are missing, 1 in all, as {CELL} kernel-bbr run 1: "
        f"`ccgym reproduce real-mahimahi --out {runs}` goes on\n"
    )
    code, told = carried_out(runs)
    assert code == 1
    again = re.findall(r"\] (\S+ \S+ run \d+): \d", told)
    assert again == [f"{CELL} kernel-bbr run 1"]


def test_a_busy_machine_is_told(runs: Path) -> None:
    loads = {file: file.read_text() for file in runs.rglob("*_load_run1.json")}
    assert len(loads) == 4
    for file in loads:
        write_others_cores(file, 0.0)
    write_others_cores(next(file for file in loads if file.name.startswith("kernel-bbr")), 1.5)
    results = read_results(runs, "indigo2")
    for file, text in loads.items():
        file.write_text(text)
    assert results.most_others_cores == 1.5
    told = [
        "; busy machine beside 1 of 2: others took up to 1.5 cores" in each.measured
        for each in results.checks
    ]
    assert told == [False, True, False]


def test_another_policy_is_another_series(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert policy_label(runs, policy_path("indigo2")) == "indigo2"
    argv = ["reproduce", "evidence", "--scheme", "indigo", "--real-mahimahi", str(runs)]
    assert main(argv) == 2
    assert f"ccgym reproduce: {runs}: holds runs of another policy (indigo2) than " in capsys.readouterr().err


def test_other_conditions_are_refused_in_one_line(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*command(runs), "--seconds", "4"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith("this one has seconds 3.0, not 4.0: choose another --out")


@pytest.mark.parametrize("scheme", ["copa", "indigo2,indigo", "nonsense"])
def test_what_is_no_policy_is_refused(
    scheme: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(command(tmp_path / "out", "--scheme", scheme)) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_a_folder_without_runs_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "evidence", "--real-mahimahi", str(tmp_path)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    start = f"ccgym reproduce: {tmp_path}: holds no runs of `ccgym reproduce real-mahimahi`: "
    assert line == f"{start}field/session.json is missing"


def test_the_page_of_evidence_has_a_section(runs: Path) -> None:
    results = read_results(runs, "indigo2")
    text = evidence.page(
        evidence.Evidence("indigo2", 1, True, [], [], [], [], [], results), "ccgym reproduce evidence"
    )
    section = text.partition("## In real mahimahi\n")[2].partition("\n## ")[0]
    assert "The requirements that `indigo2` holds and misses in the twin and in real mahimahi." in text
    assert "\nccgym reproduce real-mahimahi --runs 1 --seconds 3 --out runs\n" in section
    assert results.session["provenance"]["machine"] in section
    assert f"During a run other programs used up to {results.most_others_cores:.2f} cores" in section
    assert [check.links for check in results.checks] == ["fixed", "training", "fixed"]
    for check in results.checks:
        assert f"| {check.name} | {check.links} | {check.wanted} | {check.measured} |" in section


def test_the_command_of_the_page_of_evidence_names_no_folder_of_this_machine(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nothing = evidence.Evidence("indigo2", 1, True, [], [], [], [], [])
    monkeypatch.setattr(evidence, "measure_evidence", lambda *_, **__: nothing)
    page = tmp_path / "evidence.md"
    main(["reproduce", "evidence", "--seed", "1", "--real-mahimahi", str(runs), "--out", str(page)])
    assert "\nccgym reproduce evidence --seed 1 --real-mahimahi runs\n" in page.read_text()
    assert str(runs.parent) not in page.read_text()


def test_every_bar_has_its_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("Verizon-LTE-short", "TMobile-LTE-short", "ATT-LTE-driving-2016"):
        for direction in ("up", "down"):
            (tmp_path / f"{name}.{direction}").write_text("1\n2\n")
    monkeypatch.setenv("CCGYM_TRACES", str(tmp_path))
    plans = real_mahimahi.make_plans("indigo2", runs=3, seconds=30.0, command="")
    cells = {
        (emulator.label, scheme.label)
        for plan in plans.values()
        for emulator in plan.emulators
        for scheme in plan.schemes
    }
    assert {(bar.emulator, scheme) for bar in BARS for scheme in ("indigo2", bar.rival)} <= cells
    assert (FIELD_EMULATOR, "indigo2") in cells
    contested = plans[CONTESTED]
    assert [flow.start_s for flow in contested.flows_of(contested.schemes[0])] == [0, 5]
    deep = [emulator.spec for emulator in real_mahimahi.contested_emulators()[-3:]]
    assert [spec.uplink.packets for spec in deep if isinstance(spec, EmulatorSpec)] == [160, 638, 2553]
    assert real_mahimahi.announcement(plans, tmp_path / "out").startswith(
        "84 runs one after the other, about 57"
    )
