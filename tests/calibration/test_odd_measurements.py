"""Whatever stands in the files of an evaluation or a calibration: it is read, or refused in one line.

`CCGYM_ODD_FILES` is how many broken files of each kind are tried.
"""

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from ccgym.calibration.load_target import load_target
from ccgym.cli.main import main
from ccgym.envs.errors import InputError
from ccgym.evaluation.metrics.results import load_evaluation
from ccgym.evaluation.metrics.summary import summarise

from .test_targets import REPORT, TABLE

CASES = int(os.environ.get("CCGYM_ODD_FILES", "40"))
MOST_CHARACTERS = 300
PERF = json.dumps({"copa": {"1": {"all": {"tput": 3.9, "delay": 39.9, "loss": 0.01}, "1": {"tput": 3.9}}}})
PIECES = [b"-", b"-1", b"\n\n", b"\r", b"\x00", b"\xff\xfe", b"9" * 30, b"9" * 400, b"1e999", b"nan",
          b"NaN", b"null", b"[" * 2000, b"{}", b"[]", b'"', b"'", b":", b",", b"#", b"true",
          b"\x1b[31m"]  # fmt: skip


def mutant(text: bytes, rng: np.random.Generator) -> bytes:
    """The text with one to three places changed, cut, doubled, or something put in."""
    for _ in range(int(rng.integers(1, 4))):
        first, last = sorted(rng.integers(0, len(text) + 1, 2).tolist())
        last = min(last, first + 30)
        piece = PIECES[int(rng.integers(len(PIECES)))]
        changes = [
            text[:first] + piece + text[first:],
            text[:first] + piece + text[last:],
            text[:first] + text[last:],
            text[:last] + text[first:last] + text[last:],
            text[:first],
            text[:first] + rng.bytes(1) + text[first + 1 :],
        ]
        text = changes[int(rng.integers(len(changes)))]
    return text


def check_refusal(line: str, text: bytes, folder: Path) -> None:
    refusal = line.replace(str(folder), "")
    assert refusal.isprintable(), text
    assert len(refusal) <= MOST_CHARACTERS, text


@pytest.mark.parametrize(
    ("name", "text"),
    [("t.csv", TABLE), ("r.txt", REPORT), ("perf.json", PERF)],
    ids=["table", "report", "perf"],
)
def test_measurements_of_a_path(name: str, text: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(CASES)
    file, taken = tmp_path / name, 0
    for _ in range(10 * CASES):
        odd = mutant(text.encode(), rng)
        file.write_bytes(odd)
        try:
            load_target(file)
            taken += 1
        except InputError as error:
            check_refusal(str(error), odd, tmp_path)
    assert 0 < taken < 10 * CASES


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("measured") / "out"
    words = ["eval", "--schemes", "fixed:3,copa+fixed:3", "--emulators", "calibrated/nepal", "--seconds", "2"]
    assert main([*words, "--out", str(folder)]) == 0
    return folder


@pytest.mark.parametrize(
    ("kind", "place"),
    [
        ("session.json", "."),
        ("*_datalink_*", "."),
        ("*_datalink_*", "data/calibrated/nepal"),
        ("pantheon_metadata.json", "data/calibrated/nepal"),
    ],
)
def test_what_an_evaluation_leaves(kind: str, place: str, measured: Path, tmp_path: Path) -> None:
    """Read as the evaluation, or as a data directory of Pantheon's: a broken file costs its run."""
    rng = np.random.default_rng(CASES)
    folder = tmp_path / "out"
    shutil.copytree(measured, folder)
    whole = summarise(load_evaluation(folder / place))
    file = sorted(folder.rglob(kind))[0]
    text, noticed = file.read_bytes(), 0
    for _ in range(CASES):
        odd = mutant(text[:4000], rng) + text[4000:]
        file.write_bytes(odd)
        try:
            summary = summarise(load_evaluation(folder / place))
        except InputError as error:
            check_refusal(str(error), odd, tmp_path)
            noticed += 1
            continue
        noticed += json.dumps(summary) != json.dumps(whole)
        for failure in summary["failures"]:
            check_refusal(failure["reason"], odd, tmp_path)
    assert noticed > CASES / 2
