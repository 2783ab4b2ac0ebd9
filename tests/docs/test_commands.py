"""Every command that README.md and docs/ show is run by a test, or it is said what the tests lack."""

import argparse
import re
import shlex
from collections import Counter
from pathlib import Path

import pytest
from ccgym.cli.main import build_parser

from .command_list import ELSEWHERE, NEEDS, RUN
from .pages import PAGES, ROOT, run, shown_commands

OPTIONAL = re.compile(r" \[.*\]")
LISTED = [
    *RUN,
    *(command for group in (ELSEWHERE, NEEDS) for commands in group.values() for command in commands),
]


def parser_of(words: list[str]) -> argparse.ArgumentParser | None:
    """That of the sub-command which the words begin with; None: there is no such sub-command."""
    parser: argparse.ArgumentParser = build_parser()
    for word in words:
        children = [action.choices for action in parser._actions if isinstance(action.choices, dict)]
        if not children or word.startswith("-") or word.isupper():  # an option, or a placeholder
            break
        if word not in children[0]:
            return None
        parser = children[0][word]
    return parser


def is_a_mention(command: str) -> bool:
    """Whether it only names a sub-command of ccgym, or some of its options: `ccgym eval --seconds 10`."""
    program, *words = shlex.split(command)
    if program != "ccgym" or command in LISTED:
        return False
    parser = parser_of(words)
    options = {word for word in words if word.startswith("--")}
    return parser is not None and options <= set(parser._option_string_actions) and not completes(words)


def completes(words: list[str]) -> bool:
    """Whether the command line takes them."""
    try:
        build_parser().parse_args(words)
    except SystemExit as end:
        return end.code == 0
    return True


def unlisted(page: Path) -> list[str]:
    """The commands of a page of which nothing is said."""
    return [
        command for command in shown_commands(page) if command not in LISTED and not is_a_mention(command)
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_of_every_command_it_is_said_what_runs_it(page: Path) -> None:
    assert unlisted(page) == []


def test_a_command_of_which_nothing_is_said_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "`ccgym eval --nonsense`, `ccgym launch`, `make tea`; but `ccgym eval --seconds 10` is a mention.\n"
        "```console\nccgym trace --kind walk --out mine  # a comment\n```\n"
    )
    found = ["ccgym trace --kind walk --out mine", "ccgym eval --nonsense", "ccgym launch", "make tea"]
    assert unlisted(page) == found


def test_nothing_is_listed_that_no_page_shows_or_twice() -> None:
    shown = {command for page in PAGES for command in shown_commands(page)}
    assert [command for command in LISTED if command not in shown] == []
    assert [command for command, times in Counter(LISTED).items() if times > 1] == []


@pytest.mark.parametrize("command", [command for command in LISTED if command.startswith("ccgym ")])
def test_the_command_line_takes_it(command: str) -> None:
    assert completes(shlex.split(OPTIONAL.sub("", command))[1:])


@pytest.mark.parametrize("test", ELSEWHERE)
def test_the_test_that_runs_it_is_there(test: str) -> None:
    file, _, name = test.partition("::")
    assert f"\ndef {name}(" in (ROOT / "tests" / file).read_text()


@pytest.mark.parametrize("command", RUN)
def test_it_runs(command: str, tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    assert run(RUN[command] or command, tmp_path)
