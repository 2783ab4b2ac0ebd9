"""The parts of the documentation that are made from code: the page of commands, and the API's docstrings."""

import argparse
import configparser
import io
import shutil
from collections.abc import Iterator
from contextlib import redirect_stdout
from pathlib import Path

from ccgym.cli.main import build_parser
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "build" / "docstrings" / "ccgym"
"""Links to the packages only: `.pkg/ccgym` is the whole checkout, and a scan of its `.venv` takes minutes."""


def on_startup(**_: object) -> None:
    """Called by mkdocs first: makes the links, which its plugins need when they start."""
    setup = configparser.RawConfigParser()
    setup.read(ROOT / "setup.cfg")
    shutil.rmtree(PACKAGE, ignore_errors=True)
    PACKAGE.mkdir(parents=True)
    for package in setup["options"]["packages"].split():
        if package.count(".") == 1:
            folder = package.removeprefix("ccgym.")
            (PACKAGE / folder).symlink_to(ROOT / folder)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Called by mkdocs with the pages it has found."""
    files.append(File.generated(config, "commands.md", content=commands_page()))
    return files


def commands_page() -> str:
    """A page with the `--help` text of every command."""
    sections = [f"## {name}\n\n```text\n{help_of(parser)}```\n" for name, parser in parsers(build_parser())]
    return "# Commands\n\nMade from the command's own `--help`.\n\n" + "\n".join(sections)


def parsers(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """The parser and all below it, by the words that call them."""
    yield parser.prog, parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for child in dict.fromkeys(action.choices.values()):
                yield from parsers(child)


def help_of(parser: argparse.ArgumentParser) -> str:
    """What `--help` prints."""
    printed = io.StringIO()
    with redirect_stdout(printed):
        parser.print_help()
    return printed.getvalue()
