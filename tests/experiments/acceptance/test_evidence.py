"""The page of evidence says what was measured, and how to measure it again."""

from collections import Counter
from pathlib import Path

import pytest
from ccgym.cli.main import main

STATES = ("| held |", "| **missed** |", "| unsure |")


@pytest.mark.timeout(600)
def test_the_page_holds_every_check_and_its_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CCGYM_TRACES", raising=False)
    file = tmp_path / "evidence.md"
    size = ["--random", "2", "--starvation", "2", "--contested", "1"]
    assert main(["reproduce", "evidence", *size, "--seed", "5", "--out", str(file)]) in (0, 1)
    output = capsys.readouterr()
    text = file.read_text()
    command = "ccgym reproduce evidence --seed 5 --random 2 --starvation 2 --contested 1"
    assert f"```console\n{command}\n```" in text
    checks = [line for line in output.err.splitlines() if line.startswith(("held", "MISSED", "UNSURE"))]
    assert len(checks) > 10
    assert sum(map(text.count, STATES)) == len(checks)
    assert f"of {len(checks)} checks are held" in text
    links = Counter(line.split(" | ")[1] for line in text.splitlines() if line.endswith(tuple(STATES)))
    assert links == {"training": 2, "fixed": 4, "unseen": len(checks) - 6}
    assert "| 24 synthetic links, ideal host | training |" in text
