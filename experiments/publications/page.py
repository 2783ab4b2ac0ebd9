"""The page of all reproductions, in Markdown."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from ccgym.evaluation.sessions.provenance import provenance

from .reproduction import Line, Reproduction


def page(
    found: Mapping[str, Reproduction | str],
    figures: Mapping[str, Sequence[str]],
    seconds: Mapping[str, float],
    command: str,
) -> str:
    """The text.

    Args:
        found: each experiment, or why it could not be done.
        figures: of each, relative to the page.
        seconds: that each took.
        command: as typed.
    """
    done = [each for each in found.values() if isinstance(each, Reproduction)]
    checked = [line for each in done for line in each.lines if line.met is not None]
    facts = provenance()
    lines = [
        "# Reproductions",
        "",
        "Every published figure of the documents that ccgym is built on, beside ours. This page is "
        "written by a command; nothing in it is typed by hand.",
        "",
        "```console",
        command,
        "```",
        "",
        f"{datetime.now(UTC):%Y-%m-%d}, ccgym {facts.get('ccgym', '')}, {facts.get('git', 'no git')}, "
        f"{facts['machine']}, {sum(seconds.values()) / 60:.1f} minutes. "
        f"{sum(bool(line.met) for line in checked)} of {len(checked)} stated tolerances are met. "
        "Behind a mean stands its 95 % interval, by bootstrap. "
        "A line without a tolerance is there to be read.",
        "",
        "| experiment | document | tolerances met | s |",
        "|---|---|---|---|",
        *(_overview(name, each, seconds) for name, each in found.items()),
        "",
    ]
    for name, each in found.items():
        lines += _section(name, each, figures.get(name, ()))
    return "\n".join(lines)


def _overview(name: str, found: Reproduction | str, seconds: Mapping[str, float]) -> str:
    if isinstance(found, str):
        return f"| `{name}` | | not done: {_cell(found)} | |"
    checked = [line for line in found.lines if line.met is not None]
    met = f"{sum(bool(line.met) for line in checked)} of {len(checked)}"
    return f"| [`{name}`](#{name}) | {found.document} | {met} | {seconds[name]:.0f} |"


def _section(name: str, found: Reproduction | str, figures: Sequence[str]) -> list[str]:
    if isinstance(found, str):
        return []
    return [
        f"## {name}",
        "",
        f"{found.title} ({found.document}). `ccgym reproduce {name}`",
        "",
        "| figure | theirs | ours | tolerance | |",
        "|---|---|---|---|---|",
        *map(_row, found.lines),
        "",
        *(f"{note[0].upper()}{note[1:]}.\n" for note in found.notes),
        *(f"![{figure.rpartition('/')[2].removesuffix('.svg')}]({figure})\n" for figure in figures),
    ]


def _row(line: Line) -> str:
    cells = (line.what, line.theirs, line.ours, line.tolerance, line.verdict)
    return f"| {' | '.join(map(_cell, cells))} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
