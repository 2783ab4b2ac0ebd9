"""What the shipped policy holds and misses, as a page of the documentation: measured, never typed."""

import argparse
import json
import os
import shlex
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

from ccgym.configs.arguments import count, seed
from ccgym.envs.outside_files import replace_file
from ccgym.evaluation.sessions.provenance import provenance
from ccgym.experiments.arguments import add_policy_argument, policy_file_of
from ccgym.experiments.check import Bar

from .competition import RIVALRIES, competition_bars
from .policy_checks import Loss, measure_bars

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


DESCRIPTION = (
    "Measures what policy-bars and competition do, on links that are drawn now, and writes the page of the "
    "documentation. Exit code 1: a check is missed or not sure; the page says which."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which policy, on how many links, and where the page goes."""
    add_policy_argument(parser)
    parser.add_argument(
        "--random", type=count, default=200, metavar="N", help="random links of a check (default: 200)"
    )
    parser.add_argument(
        "--freezing", type=count, default=10_000, metavar="N", help="links to freeze on (default: 10000)"
    )
    parser.add_argument(
        "--contested", type=count, default=60, metavar="N", help="links of each rivalry (default: 60)"
    )
    parser.add_argument(
        "--seed", type=seed, default=None, metavar="S", help="of the links (default: by the clock)"
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("docs/evidence.md"),
        metavar="FILE",
        help="the page (default: docs/evidence.md)",
    )


def run(args: argparse.Namespace) -> int:
    """Measures, then writes the page."""
    policy = policy_file_of(args.scheme)
    drawn = time.time_ns() // 1_000_000 if args.seed is None else args.seed

    def say(bar: Bar) -> None:
        print(bar.line, file=sys.stderr, flush=True)

    with ThreadPoolExecutor(os.cpu_count()) as executor:
        evidence = measure_evidence(
            policy,
            executor,
            links=args.random,
            freezing=args.freezing,
            contested=args.contested,
            seed=drawn,
            say=say,
        )
    command = shlex.join(["ccgym", "reproduce", "evidence", *_arguments_again(args, drawn)])
    replace_file(args.out, lambda path: path.write_text(page(evidence, command)))
    if args.json:
        print(json.dumps({"seed": drawn, "bars": [asdict(bar) for bar in evidence.bars]}))
    else:
        print(f"{args.out}: {sum(bar.met is True for bar in evidence.bars)} of {len(evidence.bars)} held")
    return 0 if all(bar.met for bar in evidence.bars) else 1


def _arguments_again(args: argparse.Namespace, drawn: int) -> list[str]:
    """What measures the same links again."""
    again = ["--seed", str(drawn)]
    for name, usual in (("scheme", "indigo2"), ("random", 200), ("freezing", 10_000), ("contested", 60)):
        if getattr(args, name) != usual:
            again += [f"--{name}", str(getattr(args, name))]
    return again
