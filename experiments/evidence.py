"""What the shipped policy holds and misses, as a page of the documentation: measured, never typed."""

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from ccgym.evaluation.sessions.provenance import provenance

from .bar import Bar
from .competition import RIVALRIES, competition_bars
from .policy_bars import Loss, measure_bars

_STATES = {True: "held", False: "**missed**", None: "unsure"}


@dataclass(frozen=True)
class Evidence:
    """All checks of one policy on links of one seed."""

    policy: str
    seed: int
    alone: list[Bar]
    in_company: list[Bar]
    farthest_behind: list[Loss]

    @property
    def bars(self) -> list[Bar]:
        """All of them."""
        return [*self.alone, *self.in_company]


def measure_evidence(
    policy_file: Path,
    executor: Executor,
    *,
    links: int,
    freezing: int,
    contested: int,
    seed: int,
    say: Callable[[Bar], None],
) -> Evidence:
    """Measures everything.

    Args:
        policy_file: of a policy with a preference.
        executor: flies side by side.
        links: random ones that a check takes.
        freezing: how many the one on freezing takes.
        contested: links that each rivalry takes.
        seed: of the links.
        say: is told every check as soon as it is known.
    """
    alone, behind = measure_bars(
        policy_file, executor, emulators=links, freezing=freezing, seed=seed, say=say
    )
    in_company = competition_bars(f"policy:{policy_file}", RIVALRIES, contested, seed, executor, say)
    return Evidence(policy_file.stem, seed, alone, in_company, behind)


def page(evidence: Evidence, command: str) -> str:
    """The evidence in Markdown."""
    facts = provenance()
    held = sum(bar.met is True for bar in evidence.bars)
    lines = [
        "# Evidence",
        "",
        f"What `{evidence.policy}` holds and misses in the twin. This page is written by a command; none of "
        "it is typed by hand. The links were drawn after the policy was frozen, by a seed from the clock; a "
        "check is held or missed when its 95 % interval says so, and unsure otherwise.",
        "",
        "```console",
        command,
        "```",
        "",
        f"{datetime.now(UTC):%Y-%m-%d}, ccgym {facts.get('ccgym', '')}, {facts.get('git', 'no git')}, "
        f"{facts['machine']}, links of seed {evidence.seed}. {held} of {len(evidence.bars)} checks are held.",
        "",
        *_table("Alone and among its own kind", evidence.alone),
        *_table("Beside other schemes", evidence.in_company),
        "## Where it is farthest behind",
        "",
        "ln(power of the best other scheme / its own), on unseen links.",
        "",
        "| behind | link | why |",
        "|---|---|---|",
        *(f"| {loss.score:+.2f} | {loss.emulator} | {loss.reason} |" for loss in evidence.farthest_behind),
        "",
    ]
    return "\n".join(lines)


def _table(title: str, bars: Sequence[Bar]) -> list[str]:
    rows = [f"| {bar.name} | {bar.wanted} | {bar.measured} | {_STATES[bar.met]} |" for bar in bars]
    return [f"## {title}", "", "| check | wanted | measured | |", "|---|---|---|---|", *rows, ""]
