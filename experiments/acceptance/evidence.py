"""Measures all checks of the shipped policy and writes them as a page of the documentation."""

import argparse
import shlex
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from ccgym.configs.arguments import add_ray_argument, count, seed
from ccgym.envs.errors import InputError
from ccgym.envs.outside_files import check_replaceable, replace_file
from ccgym.envs.specs.emulators import select_emulators
from ccgym.evaluation.schemes import select_schemes
from ccgym.evaluation.sessions.executors import open_executor
from ccgym.evaluation.sessions.provenance import provenance
from ccgym.experiments.arguments import add_policy_argument, add_starvation_argument, policy_file_of
from ccgym.experiments.check import Check
from ccgym.experiments.json_text import json_text

from .competition import RIVALRIES, competition_checks
from .completion_times import CASES, completion_checks
from .contested_links import Draw
from .policy_checks import Deficit, measure_checks
from .preference_curve import SEEDS, preference_checks, preference_rows
from .real_results import RealResults, policy_label, read_results

_RIVALS_KEEP = (
    'The share is that of the second minute of two, when all flows are there. "Rivals keep 80 %": of the '
    "throughput that they have beside one more flow of their own kind, in this scheme's place.",
    "",
)
_STATES = {True: "held", False: "**missed**", None: "unsure"}


@dataclass(frozen=True)
class Evidence:
    """All checks of one policy on links of one seed."""

    policy: str
    """The policy's label."""
    seed: int
    seed_given: bool
    """Whether the user chose the seed; otherwise it was drawn by the clock, after the policy was made."""
    alone: list[Check]
    competing: list[Check]
    short: list[Check]
    preference: list[Check]
    """The checks of the preference; empty if the policy takes none."""
    farthest_behind: list[Deficit]
    real: RealResults | None = None
    """The results in real mahimahi, if it was run there."""

    @property
    def checks(self) -> list[Check]:
        """All checks of the policy."""
        real = [] if self.real is None else self.real.checks
        return [*self.alone, *self.competing, *self.short, *self.preference, *real]


def measure_evidence(
    policy_file: Path,
    executor: Executor,
    *,
    label: str,
    links: int,
    starvation: int,
    contested: int,
    seed: int,
    seed_given: bool,
    say: Callable[[Check], None],
) -> Evidence:
    """Measures everything in the twin.

    Args:
        policy_file: the policy's file.
        executor: runs side by side.
        label: the policy's name.
        links: random links of a check; half as many if each needs many runs.
        starvation: links of the check on starvation.
        contested: links of each rivalry and of each size of short flows.
        seed: seed of the links.
        seed_given: whether the user chose the seed.
        say: is called with every check as soon as it is known.
    """
    alone, behind = measure_checks(
        policy_file, executor, emulators=links, starvation=starvation, seed=seed, say=say
    )
    scheme, draw = f"policy:{policy_file}", Draw(contested, seed, executor)
    competing = _reported(competition_checks(RIVALRIES, scheme, draw), say)
    short = _reported(completion_checks(CASES, scheme, draw), say)
    preference = _reported(_preference_checks(policy_file, max(1, links // 2), seed, executor), say)
    return Evidence(label, seed, seed_given, alone, competing, short, preference, behind)


def _preference_checks(policy_file: Path, links: int, seed: int, executor: Executor) -> list[Check]:
    """The checks of the preference; none if the policy takes no preference."""
    try:
        select_schemes(f"policy:{policy_file}:0.5")
    except InputError:
        return []
    return preference_checks(
        preference_rows(policy_file, select_emulators(f"random:{links}:{seed}"), SEEDS, executor)
    )


def _reported(checks: Iterable[Check], say: Callable[[Check], None]) -> list[Check]:
    """The checks as a list; `say` is called with each as soon as it is known."""
    kept = []
    for check in checks:
        say(check)
        kept.append(check)
    return kept


def page(evidence: Evidence, command: str) -> str:
    """The evidence in Markdown."""
    lines = [
        *_heading(evidence, command),
        *_table("Alone and among its own kind", evidence.alone),
        *_table("Beside other schemes", evidence.competing, *_RIVALS_KEEP),
        *_table("Short flows", evidence.short),
        *(_table("The preference", evidence.preference) if evidence.preference else []),
        *([] if evidence.real is None else _real_section(evidence.real)),
        *_deficits_section(evidence.farthest_behind),
    ]
    return "\n".join(lines)


def _heading(evidence: Evidence, command: str) -> list[str]:
    """What the page is, how it was made, and how many of the checks are held."""
    facts = provenance()
    held = sum(check.met is True for check in evidence.checks)
    where = "the twin" if evidence.real is None else "the twin and in real mahimahi"
    return [
        "# Evidence",
        "",
        f"The requirements that `{evidence.policy}` holds and misses in {where}. A command writes this page; "
        "none of it is typed by hand. Links are `unseen`: drawn by the seed, from a split that no training "
        "draws from; `training`: some of them are links that the policy was trained on; `fixed`: published, "
        "recorded or chosen by hand, and not trained on. A check with a 95 % interval is held or missed only "
        "if the whole interval is; otherwise it is unsure.",
        "",
        "```console",
        command,
        "```",
        "",
        f"{datetime.now(UTC):%Y-%m-%d}, ccgym {facts.get('ccgym', '')}, {facts.get('git', 'no git')}, "
        f"{facts['machine']}, links of seed {evidence.seed}, {_origin_of_seed(evidence)}. "
        f"{held} of {len(evidence.checks)} checks are held.",
        "",
    ]


def _deficits_section(deficits: Sequence[Deficit]) -> list[str]:
    return [
        "## Where it is farthest behind",
        "",
        "ln(power of the best other scheme / its own), on unseen links.",
        "",
        "| behind | link | why |",
        "|---|---|---|",
        *(f"| {deficit.score:+.2f} | {deficit.emulator} | {deficit.reason} |" for deficit in deficits),
        "",
    ]


def _origin_of_seed(evidence: Evidence) -> str:
    return "which was given" if evidence.seed_given else "drawn by the clock when this was measured"


def _table(title: str, checks: Sequence[Check], *opening: str) -> list[str]:
    rows = [
        f"| {check.name} | {check.links} | {check.wanted} | {check.measured} | {_STATES[check.met]} |"
        for check in checks
    ]
    head = ["| check | links | wanted | measured | |", "|---|---|---|---|---|"]
    return [f"## {title}", "", *opening, *head, *rows, ""]


def _real_section(real: RealResults) -> list[str]:
    session, facts = real.session, real.session["provenance"]
    where = ", ".join(str(facts[fact]) for fact in ("git", "machine", "kernel") if fact in facts)
    return _table(
        "In real mahimahi",
        real.checks,
        f"Each scheme ran alone for {session['seconds'] / 2:g} s, one run after the other; beside a Cubic, "
        f"which began first, for {session['seconds']:g} s, of which the second half counts. Intervals are "
        "over the runs; two schemes are compared run by run.",
        "",
        "```console",
        session["command"],
        "```",
        "",
        f"{session['started'][:10]}, {where}. During a run other programs used up to "
        f"{real.most_others_cores:.2f} cores.",
        "",
    )


DESCRIPTION = (
    "Measures what policy-checks, competition, completion-times and preference-curve do, on links that are "
    "drawn now unless --seed names others, and writes the page of the documentation, with what "
    "real-mahimahi has measured before. Exit code 1: a check is missed or not sure, and worse than is "
    "known; the page says which."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments: which policy, on how many links, and where the page goes."""
    add_policy_argument(parser)
    parser.add_argument(
        "--random",
        type=count,
        default=200,
        metavar="N",
        help="random links of a check, half as many for groups and the preference (default: 200)",
    )
    add_starvation_argument(parser, "links")
    parser.add_argument(
        "--contested",
        type=count,
        default=200,
        metavar="N",
        help="links of each rivalry and of each size of short flows (default: 200)",
    )
    parser.add_argument(
        "--seed", type=seed, default=None, metavar="S", help="seed of the links (default: by the clock)"
    )
    parser.add_argument(
        "--out",
        dest="page",
        type=Path,
        default=Path("docs/evidence.md"),
        metavar="FILE",
        help="the page (default: docs/evidence.md)",
    )
    parser.add_argument(
        "--real-mahimahi",
        type=Path,
        metavar="DIR",
        help="folder of real-mahimahi's runs, which get a section (default: none)",
    )
    add_ray_argument(parser)


def run(args: argparse.Namespace) -> int:
    """Measures, then writes the page."""
    check_replaceable(args.page)
    policy = policy_file_of(args.scheme)
    folder: Path | None = args.real_mahimahi
    real = None if folder is None else read_results(folder, policy_label(folder, policy))
    drawn = time.time_ns() // 1_000_000 if args.seed is None else args.seed

    def say(check: Check) -> None:
        print(check.line, file=sys.stderr, flush=True)

    with open_executor(args.ray) as executor:
        evidence = measure_evidence(
            policy,
            executor,
            label=select_schemes(args.scheme)[0].label,
            links=args.random,
            starvation=args.starvation,
            contested=args.contested,
            seed=drawn,
            seed_given=args.seed is not None,
            say=say,
        )
    if real is not None:
        evidence = replace(evidence, real=real)
        _reported(real.checks, say)
    command = shlex.join(["ccgym", "reproduce", "evidence", *_arguments_again(args, drawn)])
    replace_file(args.page, lambda path: path.write_text(page(evidence, command)))
    if args.json:
        print(json_text({"seed": drawn, "checks": [asdict(check) for check in evidence.checks]}))
    else:
        held = sum(check.met is True for check in evidence.checks)
        print(f"{args.page}: {held} of {len(evidence.checks)} held")
    return 0 if all(check.passes for check in evidence.checks) else 1


def _arguments_again(args: argparse.Namespace, drawn: int) -> list[str]:
    """The arguments that measure the same links again; of the real runs' folder the last part, as its own."""
    again = ["--seed", str(drawn)]
    for name, usual in (("scheme", "indigo2"), ("random", 200), ("starvation", 10_000), ("contested", 200)):
        if getattr(args, name) != usual:
            again += [f"--{name}", str(getattr(args, name))]
    if args.real_mahimahi is not None:
        again += ["--real-mahimahi", args.real_mahimahi.resolve().name]
    return again
