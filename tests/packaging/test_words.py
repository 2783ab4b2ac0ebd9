"""The words of the house: what the field calls it, in identifiers, docstrings, messages and pages."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = (
    "agents", "bench", "calibration", "cli", "configs", "dagger", "deploy", "envs", "evaluation", "examples",
    "experiments", "oracle", "rl", "training", "tunnel",
)  # fmt: skip
TESTS = "tests/**/*.py"
PAGES = ("README.md", "CONTRIBUTING.md", "docs/**/*.md", "configs/**/*.yaml")
CPP = [
    f"{folder}/**/*{ending}"
    for folder in ("agents", "bench", "deploy", "envs", "tests/cpp", "transport", "tunnel")
    for ending in (".cc", ".hh")
]
INSTEAD = {
    "audible": "detected",
    "befall": "go wrong",
    "circumstance": "option",
    "crew": "shared path",
    "dealt": "sampled",
    "deck": "sampling without replacement",
    "dial": "preference",
    "doorkeeper": "server handshake",
    "examiner": "validator",
    "flew": "ran",
    "flies": "runs",
    "flight": "run, rollout in training, or episode of an environment",
    "flown": "run",
    "fly": "run, or simulate",
    "flyer": "worker",
    "flying": "running",
    "freezing": "starvation",
    "hardship": "difficulty tag",
    "journey": "run",
    "judge": "reference, or cross-validation",
    "judged": "evaluated, or validated",
    "judgement": "comparison",
    "kick": "action perturbation",
    "league": "leaderboard",
    "luck": "spread over seeds",
    "manieth": "number",
    "peers": "group",
    "pilot": "inference policy",
    "precedence": "scheduling priority",
    "seat": "slot",
    "warden": "init process",
    "weather": "state of the host",
    "whim": "variation",
}
"""What was ours alone, each with its plural, and what a reader of papers looks for."""
FORMER = {
    "cli/measuring/reproduce.py": "the former names of commands",
    "training/config.py": "the former names of options",
    "experiments/arguments.py": "the former name of a flag",
}
"""Where strings may hold a word that is gone, and why."""


IN_FLIGHT = re.compile(r"(?i)in[ _]flight|out of flight|inflight")
"""Sent and not yet acknowledged: the field's own words."""
AS_STORED = {
    "tests/cli/making/test_train_and_oracle.py": {"kick"},
    "tests/cli/test_main.py": {"freezing", "judge"},
    "tests/evaluation/sessions/test_session.py": {"flies", "fly"},
    "tests/evaluation/test_dataset.py": {"flight"},
    "tests/training/test_training_config.py": {"kick"},
    "evaluation/dataset/dataset.py": {"flight"},
    "evaluation/session_file.py": {"flies"},
    "evaluation/sessions/session.py": {"flies", "fly"},
    "evaluation/score.py": {"flown"},
    "evaluation/score_runs.py": {"flown"},
    "docs/how_to/dataset.md": {"flight"},
}
"""Keys and folders of files that users have, and former names that still work, by where they stand."""


def words(text: str) -> list[str]:
    """Of an identifier or a sentence, in lower case: `judgeOf_dial` has three."""
    return re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", text)


def forbidden(text: str) -> set[str]:
    """Those of our words that a text holds, in the singular."""
    found = {word.lower() for word in words(IN_FLIGHT.sub("", text))}
    return {word for word in INSTEAD if found & {word, f"{word}s"}}


def python_texts(source: str) -> Iterator[tuple[str, bool]]:
    """Every identifier and string of a module, and whether it is a string that the program works with."""
    tree = ast.parse(source)
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    docstrings = {
        ast.get_docstring(node, clean=False) for node in ast.walk(tree) if isinstance(node, documented)
    }
    for node in ast.walk(tree):
        match node:
            case ast.Constant(value=str(text)):
                yield text, text not in docstrings
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name, False
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name):
                yield name, False
            case ast.alias(name=name):
                yield name, False
    yield from ((comment, False) for comment in re.findall(r"(?m)#.*$", source))


def offences(path: Path, name: str) -> list[str]:
    """Words that are gone, as "file: word, say instead"."""
    texts = python_texts(path.read_text()) if path.suffix == ".py" else iter([(path.read_text(), False)])
    found = {word for text, used in texts if not (used and name in FORMER) for word in forbidden(text)}
    if path.suffix in (".cc", ".hh"):
        found.discard("peers")  # of a socket: the field's own word
    found -= AS_STORED.get(name, set())
    return [f"{name}: {word}: say {INSTEAD[word]}" for word in sorted(found)]


def test_the_words_are_those_of_the_field() -> None:
    files = [file for folder in SOURCES for file in (ROOT / folder).rglob("*.py")]
    files += [
        file for pattern in (TESTS, *PAGES, *CPP) for file in ROOT.glob(pattern) if file != Path(__file__)
    ]
    assert [line for file in sorted(files) for line in offences(file, str(file.relative_to(ROOT)))] == []


@pytest.mark.parametrize(
    "text",
    [
        "def judge(): pass",
        "leagues = 1",
        "class DialCurve: pass",
        '"""Who judges."""',
        "x = 1  # a crew",
        "flights = 1",
    ],
)
def test_a_word_that_is_gone_is_found(text: str, tmp_path: Path) -> None:
    (tmp_path / "module.py").write_text(text)
    assert len(offences(tmp_path / "module.py", "module.py")) == 1


def test_packets_may_be_in_flight(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text("packets in flight, in_flight, inflight")
    assert offences(tmp_path / "page.md", "page.md") == []


def test_words_that_hold_others_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "page.md").write_text("dialect, kickoff, crewed, adjudged")
    assert offences(tmp_path / "page.md", "page.md") == []
