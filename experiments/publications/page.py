"""The page of all reproductions, in Markdown."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from ccgym.evaluation.sessions.provenance import provenance

from .reproduction import NOT_PUBLISHED, Line, Reproduction


def page(
    found: Mapping[str, Reproduction | str],
    figures: Mapping[str, Sequence[str]],
    seconds: Mapping[str, float],
    command: str,
) -> str:
    """The text of the page.

    Args:
        found: each experiment's result, or why it could not be done.
        figures: paths of each experiment's figures, relative to the page.
        seconds: how long each experiment took.
        command: the command as typed.
    """
    lines = [
        *_heading(found, command, sum(seconds.values()) / 60),
        *_table_of_experiments(found, seconds),
        *_every_published_figure(found),
    ]
    for name, each in found.items():
        lines += _section(name, each, figures.get(name, ()))
    return "\n".join(lines)


def _heading(found: Mapping[str, Reproduction | str], command: str, minutes: float) -> list[str]:
    """What the page is, how it was made, and how many of the stated tolerances are met."""
    done = [each for each in found.values() if isinstance(each, Reproduction)]
    checked = [line for each in done for line in each.lines if line.met is not None]
    facts = provenance()
    return [
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
        f"{facts['machine']}, {minutes:.1f} minutes. "
        f"{sum(bool(line.met) for line in checked)} of {len(checked)} stated tolerances are met. "
        "Behind a mean stands its 95 % interval, by Student's t. "
        "Of a figure without a tolerance nothing is claimed. Behind a miss: how far it is known to be off.",
        "",
    ]


def _table_of_experiments(found: Mapping[str, Reproduction | str], seconds: Mapping[str, float]) -> list[str]:
    return [
        "| experiment | document | tolerances met | s |",
        "|---|---|---|---|",
        *(_overview(name, each, seconds) for name, each in found.items()),
        "",
    ]


def _every_published_figure(found: Mapping[str, Reproduction | str]) -> list[str]:
    return [
        "## Every published figure",
        "",
        "| experiment | figure | theirs | ours | tolerance | |",
        "|---|---|---|---|---|---|",
        *(
            _row(line, f"[`{name}`](#{name})")
            for name, each in found.items()
            if isinstance(each, Reproduction)
            for line in each.lines
            if line.theirs != NOT_PUBLISHED
        ),
        "",
    ]


def _overview(name: str, found: Reproduction | str, seconds: Mapping[str, float]) -> str:
    if isinstance(found, str):
        return f"| `{name}` | | not done: {_cell(found)} | |"
    checked = [line for line in found.lines if line.met is not None]
    met = f"{sum(bool(line.met) for line in checked)} of {len(checked)}"
    return f"| [`{name}`](#{name}) | {found.document} | {met} | {seconds[name]:.0f} |"


def _section(name: str, found: Reproduction | str, figures: Sequence[str]) -> list[str]:
    if isinstance(found, str):
        return []
    own = [line for line in found.lines if line.theirs == NOT_PUBLISHED]
    table = ["What is ours alone:", "", "| figure | ours | |", "|---|---|---|", *map(_own_row, own), ""]
    return [
        f"## {name}",
        "",
        f"{found.title} ({found.document}). `ccgym reproduce {name}`",
        "",
        *(table if own else []),
        *(f"{note[0].upper()}{note[1:]}.\n" for note in found.notes),
        *(f"![{figure.rpartition('/')[2].removesuffix('.svg')}]({figure})\n" for figure in figures),
    ]


def _row(line: Line, experiment: str) -> str:
    return _cells(experiment, line.what, line.theirs, line.ours, line.tolerance, line.verdict)


def _own_row(line: Line) -> str:
    return _cells(line.what, line.ours, line.verdict)


def _cells(*texts: str) -> str:
    return f"| {' | '.join(map(_cell, texts))} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
