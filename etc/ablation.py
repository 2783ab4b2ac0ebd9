"""What each mechanism of the companion is worth: `.venv/bin/python etc/ablation.py [--seed S] [NAME ...]`.

Takes one after the other out of agents/companion/, compiles, and measures the shipped indigo2 in the twin:
alone, beside others and among its own kind. Prints the table of docs/concepts/ablation.md: the means of the
whole, and of each cut the mean difference on the same links with its 95 % interval. Leaves the source as it
was, and compiled.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from ccgym.envs.host.termination import leaving_at_termination
from ccgym.evaluation.metrics.intervals import mean_interval

ROOT = Path(__file__).resolve().parent.parent
COMPANION = ROOT / "agents" / "companion"
COMPILE_S, MEASURE_S = 1800, 3600

_WHOLE = ".whole"
"""Ends the name of the copy of a source that is changed."""

Figures = dict[str, list[float]]


@dataclass(frozen=True)
class Cut:
    """The change of one place that takes a mechanism out."""

    file: str
    old: str
    new: str


CUTS: Mapping[str, Cut] = {
    "base-RTT probe": Cut(
        "base_rtt_probe.cc", "now - *empty_at_ > round_trips * rtt.smoothed", "round_trips < 0"
    ),
    "observing in place of drains": Cut(
        "base_rtt_probe.cc",
        "random_.chance(observed_share)",
        "random_.chance(0 * observed_share)",
    ),
    "fewer probes where nobody else is": Cut("companion.cc", ": Urgency::low", ": Urgency::normal"),
    "earlier probes of queues that are not its own": Cut(
        "companion.cc", "kLonelyQueue = std::chrono::milliseconds{20};", "kLonelyQueue = Time::max();"
    ),
    "no earlier probes of unsteady queues": Cut(
        "companion.cc", "lonely_queue_ && !steadiness_.is_unsteady()", "lonely_queue_"
    ),
    "pauses of its own": Cut(
        "base_rtt_probe.cc", "if (own_pause && !drained.ours)", "if (own_pause && drained.ours)"
    ),
    "fewer drains of new flows": Cut("base_rtt_probe.cc", "return {10, 0.3};", "return {10, 0.15};"),
    "a first second without drains": Cut("base_rtt_probe.cc", "chrono::seconds{1};", "chrono::seconds{0};"),
    "slow start": Cut("slow_start.hh", "on_{true};", "on_{false};"),
    "own packets in the queue": Cut("shared_queue.cc", "kOwnPackets = 1.2;", "kOwnPackets = 0;"),
    "bound of the packets in the queue": Cut(
        "shared_queue.cc", "most_own(share) * least", "1e9 * most_own(share) * least"
    ),
    "more packets of who has its part": Cut("shared_queue.cc", "OfPart = 5;", "OfPart = 3;"),
    "bound of who has its share": Cut("shared_queue.cc", "kEnoughShare = 0.4;", "kEnoughShare = 1;"),
    "fewer packets of the largest share": Cut(
        "shared_queue.cc", "kMaxOwnOfLargest = 1.3;", "kMaxOwnOfLargest = 5;"
    ),
    "parts of the way": Cut("shared_queue.cc", "std::min(1.0, part)", "std::max(1.0, part)"),
    "irregular links": Cut("link_share.cc", "kOddByChance = 1;", "kOddByChance = 1e9;"),
    "falls faster than rises": Cut("shared_queue.cc", "kFall = 1.5;", "kFall = 0.5;"),
    "parts of the way with a part only": Cut(
        "shared_queue.cc", "return has_part(share) ? moved(", "return share >= 0 ? moved("
    ),
    "wishes before the bound": Cut("shared_queue.cc", "kMinPart = 0.85;", "kMinPart = 0;"),
    "small shares of short paths": Cut("shared_queue.cc", "kMaxBeyond = 1.5;", "kMaxBeyond = 1e9;"),
    "room for a host that stalls": Cut("shared_queue.cc", "+ return_jitter)", "+ 0 * return_jitter)"),
    "room for a tick of the link's clock": Cut(
        "shared_queue.cc", "kShortRoundTrip ? kClock : Time{}", "Time{} ? kClock : Time{}"
    ),
    "the first tick of trains": Cut("link_share.cc", "kMissingTick = 0.5;", "kMissingTick = 0;"),
    "forgetting others without a queue": Cut("others.hh", "Patience = 20;", "Patience = 1'000'000'000;"),
    "forgetting others with the link for itself": Cut(
        "companion.cc", "link_share_.share() > kAloneShare", "link_share_.share() > 1e9"
    ),
    "peaks of the queue on long paths": Cut(
        "queue_peaks.cc", "kRoundTrips = 4;", "kRoundTrips = 1'000'000'000;"
    ),
    "doubts where a queue is unsteady": Cut("queue_steadiness.cc", "kUnsteady = 0.36;", "kUnsteady = 0;"),
    "doubt that others have gone": Cut(
        "others.cc", "doubted_round_trips_ = kSoon;", "doubted_round_trips_ = 0;"
    ),
    "times for the next time that others show": Cut("others.cc", "kMaxPatience = 320;", "kMaxPatience = 20;"),
    "competitive mode": Cut("competitive_mode.cc", "on_ = true;", "on_ = false;"),
    "evidence in numbers": Cut("competitive_mode.cc", "(evidence_ == 0 &&", "(evidence_ >= 0 &&"),
    "no suspicion with the link for itself": Cut(
        "competitive_mode.cc", "suspects() && share > kAloneShare", "suspects() && share > 1e9"
    ),
    "no evidence where a queue is unsteady": Cut(
        "competitive_mode.cc", "if (!unsteady) evidence_", "evidence_"
    ),
    "long queues count more": Cut(
        "competitive_mode.cc",
        "kLongQueue = std::chrono::milliseconds{30}",
        "kLongQueue = std::chrono::hours{1}",
    ),
    "huge queues tell at once": Cut(
        "competitive_mode.cc", "if (result.queueing > std::max(", "if (1 < 0 && result.queueing > std::max("
    ),
    "starving counts double": Cut("competitive_mode.cc", "kStarvedShare = 0.2;", "kStarvedShare = 0;"),
    "earlier probes after failures": Cut(
        "competitive_mode.cc", "EarlyProbeEvidence = 4;", "EarlyProbeEvidence = 1000;"
    ),
    "rivals that it observes": Cut(
        "competitive_mode.cc", "kEnoughUndrained = 3;", "kEnoughUndrained = 1 << 30;"
    ),
    "a queue of its own tells of nobody": Cut(
        "competitive_mode.cc",
        "&& has_more_than_its_own(result)",
        "&& (has_more_than_its_own(result) || result.queueing > kQueue)",
    ),
    "drains of rivals": Cut("rival_drains.hh", "kEnough = 4;", "kEnough = 1'000'000'000;"),
    "rivals that new flows presume": Cut(
        "presumed_rival.hh", "phase_{Phase::looking};", "phase_{Phase::ended};"
    ),
    "others that drain are not watched": Cut(
        "competitive_mode.cc", "presumed_.watches() && others_drained", "false && others_drained"
    ),
    "a second look at presumed rivals": Cut(
        "presumed_rival.cc", "kWatchedRoundTrips = 100;", "kWatchedRoundTrips = 0;"
    ),
    "no second look where the rate varies": Cut(
        "competitive_mode.cc", "share && !link_share.irregular()", "share.has_value()"
    ),
    "asking with two packets": Cut("companion.cc", "kWindowToAsk = 2;", "kWindowToAsk = 8;"),
    "watching for others that drain": Cut("drain_watch.cc", "return evidence_ > kEnough;", "return false;"),
    "rendezvous with its own kind": Cut(
        "rendezvous.cc", "return asked_at > Time{}", "return false && asked_at > Time{}"
    ),
    "some that meet": Cut("rendezvous.cc", "kMoreThanOwn = 1.5;", "kMoreThanOwn = 1e9;"),
    "paths that become known": Cut("rendezvous.cc", "(known || have_drained(own_ms))", "known"),
    "what its own window explains": Cut("rendezvous.cc", "kExplainingPart = 0.67;", "kExplainingPart = 1e9;"),
    "an answer to losses at once": Cut(
        "companion.hh",
        "return competitive_.on_loss(now, lost, cwnd_packets);",
        "(void)competitive_.on_loss(now, lost, cwnd_packets);\n    return cwnd_packets;",
    ),
    "a start above two packets": Cut("competitive_mode.cc", "kFirstPart = 0.25;", "kFirstPart = 0;"),
    "what an empty queue leaves": Cut(
        "spare_room.hh",
        "kStandingQueue = std::chrono::milliseconds{5}",
        "kStandingQueue = -std::chrono::hours{1}",
    ),
    "a part of it within a round trip": Cut("spare_room.hh", "kTaken = 0.25;", "kTaken = 1e9;"),
    "cap near an even share": Cut("competitive_mode.cc", "kMaxPart = 1.1;", "kMaxPart = 2;"),
    "pull towards an even share": Cut("cubic_window.cc", "kPull = 0.5;", "kPull = 0;"),
    "losses that others do not share": Cut("loss_synchronization.hh", "kStays = 0.98;", "kStays = 1e9;"),
    "fast convergence": Cut(
        "cubic_window.cc", "(1 + kBeta) / 2 * packets_ : packets_", "packets_ : packets_"
    ),
    "contesting by the clock of ACKs": Cut(
        "companion.hh", "ack_clocked() const { return competitive_.on()", "ack_clocked() const { return false"
    ),
    "fewer trains": Cut("link_share.cc", "kRoundTripsApart = 6;", "kRoundTripsApart = 1;"),
    "first trains of long paths": Cut("link_share.cc", "kMostHeldMs = 40;", "kMostHeldMs = 1e9;"),
    "as far as trains agree": Cut("link_share.cc", "kStandardErrors = 2;", "kStandardErrors = 0;"),
    "rarer trains where they are lost": Cut("link_share.cc", "kMaxDoublings = 10;", "kMaxDoublings = 0;"),
    "rate of the time with a queue": Cut(
        "link_share.cc", "by_queue ? contended_ : waited_", "by_queue && false ? contended_ : waited_"
    ),
    "all of the time where it is faster": Cut(
        "link_share.cc", "contends_ && contended_.packets_per_ms() > waited_.packets_per_ms()", "contends_"
    ),
    "half a tick": Cut("queue_steadiness.cc", "std::chrono::microseconds{500}", "kClock"),
    "others that the share shows": Cut("link_share.hh", "kOthersShare = 0.75;", "kOthersShare = 0;"),
    "trains apart from probes": Cut("companion.cc", "!probes());", "!was_draining);"),
    "few packets in a shallow queue": Cut("shallow_queue.cc", "kFewQueued = 1;", "kFewQueued = 2;"),
    "shallow queues shared": Cut("shallow_queue.cc", "kMorePackets = 0.5;", "kMorePackets = 0;"),
    "shallow queues shared by half a packet": Cut(
        "shallow_queue.cc", "kMorePackets = 0.5;", "kMorePackets = 1;"
    ),
    "rates of five round trips": Cut("shallow_queue.cc", "kPathRtts = 5;", "kPathRtts = 10;"),
    "a window that stays until the first ACK": Cut(
        "companion.cc", "return cwnd_packets;  // no ACK", "return wanted_packets;  // no ACK"
    ),
    "pacing of shallow queues": Cut("shallow_queue.cc", "kBegins = 0.08;", "kBegins = 2;"),
}


@contextmanager
def without(cut: Cut) -> Iterator[None]:
    """The source with the change, and as it was afterwards; a copy stands beside it meanwhile."""
    path = COMPANION / cut.file
    source = path.read_text()
    if source.count(cut.old) != 1:
        raise SystemExit(f"{path}: {cut.old!r} should stand there once: has the mechanism changed?")
    try:
        path.with_name(path.name + _WHOLE).write_text(source)
        path.write_text(source.replace(cut.old, cut.new))
        yield
    finally:
        restore()


def restore() -> None:
    """Puts back every source that was left changed, be it by a process that was killed."""
    for copy in COMPANION.glob(f"*{_WHOLE}"):
        copy.with_suffix("").write_text(copy.read_text())  # not renamed: the compiler goes by its time
        copy.unlink()


def compile_core() -> None:
    """The binding, in place."""
    command = [sys.executable, "setup.py", "--quiet", "build_ext", "--inplace"]
    subprocess.run(command, cwd=ROOT, check=True, timeout=COMPILE_S, stdout=subprocess.DEVNULL)


def measured(links: int, seed: int) -> Figures:
    """The figures of what is compiled, in a process of its own: the core is loaded once only."""
    command = [sys.executable, str(ROOT / "etc" / "ablation_figures.py"), str(links), str(seed)]
    answer = subprocess.run(command, check=True, timeout=MEASURE_S, stdout=subprocess.PIPE, text=True)
    figures: Figures = json.loads(answer.stdout)
    return figures


def difference(whole: list[float], cut: list[float]) -> str:
    """Mean and interval of the paired differences."""
    apart = np.subtract(cut, whole)
    interval = mean_interval(apart)
    held = f" ({interval.low:+.3g} to {interval.high:+.3g})" if interval else ""
    return f"{apart.mean():+.3g}{held}"


def row(name: str, cells: list[str]) -> str:
    """Of the table."""
    return f"| {name} | {' | '.join(cells)} |"


def main() -> int:
    """Prints the table line by line, as it comes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--links", type=int, default=24, metavar="N", help="of each column (default: 24)")
    parser.add_argument(
        "--seed", type=int, default=int(time.time()), metavar="S", help="default: by the clock"
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"some of: {', '.join(CUTS)}")
    args = parser.parse_args()
    if unknown := set(args.names) - set(CUTS):
        parser.error(f"unknown: {', '.join(unknown)}; known are {', '.join(CUTS)}")
    with leaving_at_termination():
        return ablate(args.names or list(CUTS), args.links, args.seed)


def ablate(names: list[str], links: int, seed: int) -> int:
    """Measures the whole, then each cut."""
    restore()
    compile_core()
    whole = measured(links, seed)
    print(row(f"without, seed {seed}", list(whole)))
    print(row("---", ["---"] * len(whole)))
    print(row("nothing", [f"{np.mean(figures):.3g}" for figures in whole.values()]), flush=True)
    try:
        for name in names:
            with without(CUTS[name]):
                compile_core()
                cut = measured(links, seed)
            print(row(name, [difference(whole[column], cut[column]) for column in whole]), flush=True)
    finally:
        compile_core()
    return 0


if __name__ == "__main__":
    sys.exit(main())
