"""The comparison of the twin with real mahimahi: its medians, its bounds, and the two run for real."""

import json
from pathlib import Path

import pytest
from ccgym.cli.main import main
from ccgym.envs.specs.emulator_spec import EmulatorSpec
from ccgym.evaluation.backends.backend import PlannedFlow
from ccgym.evaluation.backends.twin_backend import TwinBackend
from ccgym.evaluation.run_files import RunFiles
from ccgym.evaluation.schemes import select_schemes
from ccgym.experiments.cross_validation.twin_parity import ParityRow, begun_s


def row(**changes: float) -> ParityRow:
    figures = {
        "twin_mbps": 10.0,
        "real_mbps": 10.0,
        "twin_p95_ms": 40.0,
        "real_p95_ms": 40.0,
        "real_late_ms": 1.0,
    } | changes
    return ParityRow("test/one", "copa", **figures)


@pytest.mark.parametrize(
    ("changes", "agrees"),
    [
        ({}, True),
        ({"twin_mbps": 10.29}, True),
        ({"twin_mbps": 10.31}, False),
        ({"twin_mbps": 9.69}, False),
        ({"twin_p95_ms": 42.0}, True),  # 5 %, 2 ms
        ({"twin_p95_ms": 42.1}, False),
        ({"twin_p95_ms": 105.0, "real_p95_ms": 100.0}, True),  # 5 %, more than 2 ms
        ({"twin_p95_ms": 105.1, "real_p95_ms": 100.0}, False),
        ({"twin_p95_ms": 18.0, "real_p95_ms": 20.0}, True),  # 2 ms, more than 5 %
        ({"twin_p95_ms": 17.9, "real_p95_ms": 20.0, "real_late_ms": 9.0}, False),  # late or not
    ],
)
def test_agreement_ends_at_the_stated_bounds(changes: dict[str, float], agrees: bool) -> None:
    assert row(**changes).agrees is agrees


def test_twin_parity_runs_both_and_compares(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "parity"
    three_seconds = [
        "--emulators",
        "field",
        "--schemes",
        "fixed:20",
        "--seconds",
        "3",
        "--runs",
        "1",
        "--out",
        str(out),
        "--json",
    ]
    code = main(["reproduce", "twin-parity", *three_seconds])
    output = capsys.readouterr()
    assert output.out, output.err
    (compared,) = json.loads(output.out)
    assert (compared["emulator"], compared["scheme"]) == ("field/12mbps-30ms-90kb", "fixed-20")
    # A third of the link: 20 * 1464 * 8 bits in 62 ms are 3.78 Mbit/s; a busy host has less.
    assert compared["twin_mbps"] == pytest.approx(3.78, rel=0.03)
    assert 0 < compared["real_mbps"] < 1.03 * 3.78
    assert min(compared["twin_p95_ms"], compared["real_p95_ms"]) > 30
    assert compared["real_late_ms"] >= 0
    assert code == (0 if ParityRow(**compared).agrees else 1)
    assert {folder.name for folder in out.iterdir()} == {"mahimahi"}


def test_the_twin_begins_when_the_real_flow_did(tmp_path: Path) -> None:
    """On a link that is dead for its first half second and then fast, the start decides what a flow meets."""
    trace = tmp_path / "late.trace"
    trace.write_text("".join(f"{at}\n" for at in range(1000, 2001)))
    uplink = {"trace": str(trace), "queue": "droptail", "packets": 9}
    fields = {"name": "late", "delay_ms": 10, "uplink": uplink}
    spec = EmulatorSpec.model_validate(fields)
    files = RunFiles(tmp_path, "fixed-20", 1)
    head = "# mahimahi mm-link (Uplink) [up] > log\n# command line: 'mm-link'\n# queue: infinite\n"
    head += "# init timestamp: 1500000000000\n# base timestamp: 30\n"
    files.link_data_log.write_text(head + "34 + 46\n35 # 1504\n530 + 1468\n530 + 1468\n")
    assert begun_s(files, spec) == 0.5
    inside = spec.model_copy(update={"nesting": ("link", "loss", "onoff", "delay")})
    assert begun_s(files, inside) == 0.49
    (log,) = TwinBackend().run(spec, [PlannedFlow(select_schemes("fixed:20")[0], 0.5, 0.4)], 1, files)
    assert log.arrival_ms[0] == 500
    assert len(log.departure_ms) == 0
    (log,) = TwinBackend().run(spec, [PlannedFlow(select_schemes("fixed:20")[0], 0.9, 0.4)], 1, files)
    assert 1000 <= log.departure_ms[0] <= log.departure_ms[-1] <= 1300


def test_oracle_table_prints_every_published_emulator(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "oracle-table", "--json"]) == 0
    table = json.loads(capsys.readouterr().out)
    assert len(table["windows"]) == 30
    assert table["mean_relative_deviation"] <= 0.06


def test_bad_input_runs_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["reproduce", "twin-parity", "--emulators", "fields", "--out", str(tmp_path / "parity")]
    assert main(arguments) == 2
    assert "fields" in capsys.readouterr().err
    assert not (tmp_path / "parity").exists()
