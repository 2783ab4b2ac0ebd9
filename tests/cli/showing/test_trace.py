"""`ccgym trace`: files that mm-link takes, the same for the same arguments."""

from pathlib import Path

import numpy as np
import pytest
from ccgym.cli.main import main
from ccgym.envs.specs.traces import read_trace

KINDS = {
    "constant": ["--rate-mbps", "12"],
    "poisson": ["--rate-mbps", "12", "--seconds", "10", "--seed", "3"],
    "markov": ["--rates-mbps", "2,22", "--mean-stay-ms", "200", "--seconds", "10"],
    "cellular": ["--rate-mbps", "12", "--seconds", "10"],
}


def written(folder: Path, kind: str, *more: str) -> np.ndarray:
    path = folder / f"{kind}.trace"
    assert main(["trace", kind, *KINDS[kind], *more, "--out", str(path)]) == 0
    return read_trace(path)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_writes_a_trace_of_its_rate(kind: str, tmp_path: Path) -> None:
    times_ms = written(tmp_path, kind)
    spread = {"constant": 0, "poisson": 0.05, "markov": 0.4, "cellular": 0.05}[kind]
    assert 12 * len(times_ms) / times_ms[-1] == pytest.approx(12, rel=spread + 1e-3)
    assert np.array_equal(times_ms, written(tmp_path, kind))
    assert [path.name for path in tmp_path.iterdir()] == [f"{kind}.trace"]


@pytest.mark.parametrize("kind", ["poisson", "markov", "cellular"])
def test_another_seed_writes_another_trace(kind: str, tmp_path: Path) -> None:
    assert not np.array_equal(written(tmp_path, kind), written(tmp_path, kind, "--seed", "9"))


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        (["constant", "--rate-mbps", "-1"], "rate_mbps: -1.0 is not within [0.0002, 10000]"),
        (["poisson", "--rate-mbps", "nan"], "rate_mbps: nan is not within [0.0002, 10000]"),
        (["markov", "--rates-mbps", "1", "--mean-stay-ms", "9"], "rates_mbps needs at least two rates"),
        (["cellular", "--rate-mbps", "0"], "rate_mbps: 0.0 is not within [0.0002, 10000]"),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(
    arguments: list[str], wrong: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["trace", *arguments, "--out", str(tmp_path / "a.trace")]) == 2
    told = capsys.readouterr().err
    assert wrong in told
    assert told.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["trace", "constant", "--rate-mbps", "5", "--out", str(tmp_path / "no" / "a.trace")]) == 2
    assert "cannot be written: there is no folder" in capsys.readouterr().err
