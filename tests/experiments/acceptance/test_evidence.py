"""The page of evidence says what was measured, and how to measure it again."""

import re
import shutil
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from ccgym.agents.shipped import policy_path
from ccgym.cli.main import main
from ccgym.envs.specs.emulators import NamedEmulator
from ccgym.experiments.acceptance import drawn_runs, evidence, given_links, sharing
from ccgym.experiments.acceptance.preference_curve import PreferenceRow
from ccgym.experiments.known import KNOWN

STATES = ("| held |", "| **missed** |", "| unsure |")


@pytest.fixture
def few_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """For what a page says, and not how well it is known."""
    monkeypatch.setattr(drawn_runs, "DRAWS", 2)
    monkeypatch.setattr(given_links, "DRAWS", 2)
    monkeypatch.setattr(sharing, "JOINING_RUNS", 10)


@pytest.fixture
def preference_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing else is measured."""
    for measured in ("competition_checks", "completion_checks"):
        monkeypatch.setattr(evidence, measured, lambda *_: iter(()))
    monkeypatch.setattr(evidence, "measure_checks", lambda *_, **__: ([], []))


@pytest.mark.usefixtures("few_runs")
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
    assert "links of seed 5, which was given. " in text
    assert section(text, "The preference") == [
        "the preference",
        "the preference's whole curve beside Copa, delta swept",
        "the preference's whole curve beside fixed windows",
    ]
    alone = section(text, "Alone and among its own kind")
    assert {name for name in KNOWN if name.startswith(("frontier", "mean log power", "queue"))} <= {*alone}
    assert any(name.startswith("winning rate on unseen links") for name in alone)


def section(text: str, title: str) -> list[str]:
    """The names of the checks under a title of the page."""
    rows = text.partition(f"## {title}\n")[2].partition("\n## ")[0].splitlines()
    return [row.split(" | ")[0].removeprefix("| ") for row in rows if row.endswith(STATES)]


@pytest.mark.usefixtures("preference_alone")
def test_the_preference_is_measured_on_half_of_the_links_of_the_seed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def preference_rows(_: Path, emulators: Sequence[NamedEmulator], *__: object) -> list[PreferenceRow]:
        asked.extend(emulator.label for emulator in emulators)
        return []

    monkeypatch.setattr(evidence, "preference_rows", preference_rows)
    monkeypatch.setattr(evidence, "preference_checks", lambda _: [])
    argv = ["reproduce", "evidence", "--random", "5", "--seed", "9", "--out", str(tmp_path / "page.md")]
    assert main(argv) == 0
    assert asked == ["random/9-0", "random/9-1"]


@pytest.mark.usefixtures("preference_alone")
def test_a_policy_that_takes_no_preference_has_no_section_of_it(
    write_policy: Callable[..., Path], tmp_path: Path
) -> None:
    policy, page = write_policy(tmp_path / "still.safetensors"), tmp_path / "page.md"
    assert main(["reproduce", "evidence", "--scheme", f"policy:{policy}", "--out", str(page)]) == 0
    assert "## The preference" not in page.read_text()


@pytest.mark.usefixtures("preference_alone")
def test_the_page_says_whose_the_policy_and_the_seed_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my-run" / "best").mkdir(parents=True)
    shutil.copyfile(policy_path("indigo2"), tmp_path / "my-run" / "best" / "policy.safetensors")
    monkeypatch.setattr(evidence, "_preference_checks", lambda *_: [])
    page = tmp_path / "page.md"
    scheme = f"run:{tmp_path / 'my-run'}"
    assert main(["reproduce", "evidence", "--scheme", scheme, "--out", str(page)]) == 0
    text = page.read_text()
    assert "The requirements that `my-run` holds and misses" in text
    assert re.search(r"links of seed \d{13}, drawn by the clock when this was measured\. ", text)
