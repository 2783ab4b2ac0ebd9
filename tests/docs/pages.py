"""What stands in README.md and docs/: files, commands that the tests run, commands that are shown.

In a page ```` ```python title="aimd.py" ```` is a file, and ```` ```sh ```` are commands: tests take both in
order, in a folder of their own. Commands in other blocks (`console`, `text`) or within a sentence are shown:
`command_list.py` says of each which test runs it, or what the tests lack.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
FENCE = re.compile(
    r'^```(?P<language>\w+)(?: title="(?P<title>[^"]+)")?[^\n]*\n(?P<text>.*?)^```$', re.M | re.S
)
VARIABLES = r"(?:[A-Z_]+=\S+ )*"
PROGRAM = (
    r"(?:ccgym|make|python|tensorboard|pip|cmake|git|ray|sudo|pytest|cc|install|export)(?= )|ccgym-\S+(?= )|"
    r"(?:\.venv/bin|etc|src|build)/\S+(?= )|etc/\S+\.(?:py|sh)$"
)
COMMAND = re.compile(rf"{VARIABLES}(?:{PROGRAM})")
"""How a command begins, in a sentence or in a block of text."""


@dataclass(frozen=True)
class Block:
    """What stands between two fences."""

    language: str
    title: str | None
    text: str

    @property
    def takes_part(self) -> bool:
        """Whether it is a file or commands that are run."""
        return self.title is not None or self.language == "sh"


def blocks(page: Path) -> Iterator[Block]:
    """Those of a page, in order."""
    for match in FENCE.finditer(page.read_text()):
        yield Block(match["language"], match["title"], match["text"])


def shown_commands(page: Path) -> Iterator[str]:
    """The commands that a page shows and that `run` does not run, without their comments.

    A seed that the clock has drawn, of so many ms, is shown as 1: a page made anew has another.
    """
    for command in _commands_as_they_stand(page):
        yield re.sub(r"--seed \d{13}\b", "--seed 1", command)


def _commands_as_they_stand(page: Path) -> Iterator[str]:
    for block in blocks(page):
        if block.language in ("console", "text"):
            lines = (line.partition("  #")[0].strip() for line in block.text.splitlines())
            yield from (line for line in lines if block.language == "console" or COMMAND.match(line))
    prose = FENCE.sub("", page.read_text())
    yield from (text for text in re.findall(r"`([^`\n]+)`", prose) if COMMAND.match(text))


def run(commands: str, folder: Path) -> str:
    """As in a shell where `.venv/bin` is on the PATH; returns what is printed."""
    bin_folder = Path(sys.executable).parent
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", commands],
        cwd=folder,
        env=os.environ | {"PATH": f"{bin_folder}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=500,  # it hangs: no command of a page takes that long on a machine that does other things too
    )
    assert done.returncode == 0, f"{commands}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    return done.stdout
